"""The tables of a human study, whatever study it is."""

from __future__ import annotations

from shadowprobe.errors import UsageError
from shadowprobe.human_study.amber_score import UserStudy
from shadowprobe.human_study.scoring import AnyScore
from shadowprobe.human_study.shadowlink_score import Agreement
from shadowprobe.reporting.tables.agreement_table import agreement_table
from shadowprobe.reporting.tables.categories_tables import categories_tables
from shadowprobe.reporting.tables.published_rows import add_published
from shadowprobe.reporting.tables.table import Table
from shadowprobe.reporting.tables.user_study_tables import user_study_tables


def describe_study(found: AnyScore) -> str:
    """What the annotators were asked about."""
    if isinstance(found, Agreement):
        return f"{found.name}: {found.items} snippets of {found.dataset}"
    if isinstance(found, UserStudy):
        return f"{found.name}: {found.items} questions of AmbER sets, documents of {found.collection}"
    return f"{found.name}: {found.items} outputs of {found.system}, questions of {found.queries}"


def make_study_tables(found: AnyScore, *, published: bool = False) -> list[Table]:
    """The tables of a study, with the figures of the papers if they are asked for."""
    if isinstance(found, Agreement):
        if published:
            raise UsageError("--published: goes with a sample of --study amber or ambigdocs")
        return [agreement_table(found)]
    if isinstance(found, UserStudy):
        tables = user_study_tables(found)
        return add_published(tables) if published else tables
    return categories_tables(found, published=published)
