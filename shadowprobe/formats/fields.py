"""The fields of a mention, from what the lines of foreign files say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta

from shadowprobe.base.identity import is_nil, parse
from shadowprobe.base.model import Candidate
from shadowprobe.formats.imported import LANGUAGE, MAX_PAGE_ID

# Foreign files write page ids and scores as numbers or as text. An id of 0 or less means that there is none.
PageKey = Annotated[int, Meta(le=MAX_PAGE_ID)] | Annotated[str, Meta(pattern=r"^-?[0-9]{0,18}$")] | None
Score = float | Annotated[str, Meta(pattern=r"^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?$")] | None


def name_line(line_id: str | int | None, number: int) -> str:
    """Returns the id of a document on a line, or else the number of the line."""
    return f"line-{number}" if line_id is None else str(line_id)


def drop_missing(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields without those that are None."""
    return {key: value for key, value in fields.items() if value is not None}


def parse_page_id(key: PageKey) -> int | None:
    """Returns the page id, or None for a value that means no page."""
    return int(key) if key and int(key) > 0 else None


def parse_score(score: Score) -> float | None:
    """Returns a score that is written as a number or as text."""
    return None if score is None else float(score)


def make_reference(title: str | None, page_id: int | None = None, qid: str | None = None) -> str:
    """Makes one reference that `parse_reference` reads: the title, else the QID, else the page id, else empty."""
    if title is not None:
        return title
    if qid is not None:
        return f"wd:{qid}"
    return f"curid:{page_id}" if page_id is not None else ""


def make_candidate_fields(candidates: Sequence[Candidate], is_ranking: bool | None) -> dict[str, Any]:
    """Returns the fields of a mention for its candidates.

    Our own files tell whether the candidates are a ranking. In other files, a linker that ranks and one that does not
    may both list the answer alone.
    """
    if len(candidates) > 1 or (candidates and is_ranking):
        return {"candidates": tuple(candidates)}
    return {"candidates": tuple(candidates), "perhaps_ranked": True} if candidates and is_ranking is None else {}


def parse_reference(reference: str) -> dict[str, Any]:
    """Returns the fields of a mention from one reference: a title, a URI, a QID or a word for NIL."""
    if is_nil(reference):
        return {"nil": True}
    parsed = parse(reference)
    keys = drop_missing({"title": parsed.title, "page_id": parsed.page_id, "qid": parsed.qid})
    return {**(keys or {"title": reference}), **parse_edition(reference)}


def parse_edition(uri: str) -> dict[str, str]:
    """Returns the language edition in a URI as a field of a mention; nothing if there is none."""
    language = parse(uri).language
    return {"language": language} if language is not None and LANGUAGE.fullmatch(language) else {}


def read_own_fields(line: Any) -> dict[str, Any]:
    """Returns the fields of a mention that `Mention.own_fields` has written."""
    return drop_missing({"space": line.space or None, "template": line.template})
