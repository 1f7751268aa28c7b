"""Lists what a dataset has and its export in a foreign format does not keep, so that nothing is lost silently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from shadowprobe.base.model import Subset
from shadowprobe.dataset.dataset import Dataset
from shadowprobe.formats.documents import group_snippets

# Documents name an entity by its title, its page id and its QID, as far as the format has them.
_ENTITY_KEYS = {"page_id": "page ids", "qid": "QIDs"}
_ENTITY_FIELDS = {"kind": "kinds", "description": "descriptions", "commonness": "commonness", "redirects": "redirects"}


def find_losses(dataset: Dataset, subsets: Sequence[Subset], lost: Set[str]) -> Iterator[str]:
    """Yields each thing that an import of the export would not bring back; `lost` are fields without a place in it."""
    golds: set[str] = set()
    names = templates = ids = sources = 0
    for subset in subsets:
        for (document, _), snippets in group_snippets(dataset, subset).items():
            for number, snippet in enumerate(snippets):
                golds |= {snippet.gold} if snippet.gold is not None else set()
                names += snippet.space not in {None, snippet.mention}
                templates += snippet.template is not None
                ids += snippet.id != (f"{document}#{number}" if len(snippets) > 1 else document)
                sources += snippet.source is not None
    if names and "space" in lost:
        yield f"the names of {names} mentions, which differ from the marked words"
    if templates and "template" in lost:
        yield f"the template numbers of {templates} neutral contexts"
    if ids:
        yield f"the ids of {ids} mentions: they become those of their documents"
    if sources:
        yield f"the sources of {sources} texts"
    if "top" not in subsets and (orphans := [subset for subset in subsets if subset in {"shadow", "neutral"}]):
        yield f"the subset of {' and '.join(orphans)}: without `top` an import puts them into `all`"
    named = {title for space in dataset.spaces.values() for title in space.entities}
    if "top" in subsets and (others := len(named - golds)):
        yield f"{others} entities of the names, which are the gold of no mention"
    keys = {key: word for key, word in _ENTITY_KEYS.items() if key in lost} | _ENTITY_FIELDS
    if fields := [word for field, word in keys.items() if _has_field(dataset, golds, field)]:
        yield f"of the entities: {', '.join(fields)}"


def _has_field(dataset: Dataset, titles: set[str], field: str) -> bool:
    return any(getattr(dataset.entities[title], field) not in {None, ()} for title in titles)
