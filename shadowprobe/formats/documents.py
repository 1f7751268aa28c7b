"""Documents with several mentions: what foreign formats hold, where a dataset has snippets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from shadowprobe.dataset import Dataset
from shadowprobe.errors import InputError
from shadowprobe.formats.imported import LANGUAGE, MAX_PAGE_ID, Entities, Imported, Remark
from shadowprobe.formats.spans import Mended, Span, tidy
from shadowprobe.identity import Resolver, is_nil, normalise_title, parse
from shadowprobe.model import Candidate, Entity, Prediction, Snippet, Subset

NOT_GOLD = "a mention without an entity, which is not counted as gold"
# How page ids and scores are written elsewhere: as numbers or as text; an id of 0 or less is none.
PageKey = Annotated[int, Meta(le=MAX_PAGE_ID)] | Annotated[str, Meta(pattern=r"^-?[0-9]{0,18}$")] | None
Score = float | Annotated[str, Meta(pattern=r"^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?$")] | None


class Mention(Struct, frozen=True, omit_defaults=True):
    """A place in a text and the entity that stands there, gold or answered; without one, nothing was said of it."""

    start: int
    end: int
    # A title, or a URI that names one.
    title: str | None = None
    page_id: int | None = None
    qid: str | None = None
    score: float | None = None
    candidates: tuple[Candidate, ...] = ()
    # Said to be no entity of the knowledge base.
    nil: bool = False
    # The one candidate is the answer again, and the file does not say whether that is a ranking of one or none.
    perhaps_ranked: bool = False
    # The language edition that the entity's URI names.
    language: str | None = None

    @property
    def has_entity(self) -> bool:
        """True where an entity is named, by whatever key."""
        return not self.nil and (self.title is not None or self.page_id is not None or self.qid is not None)


class Document(Struct, frozen=True, omit_defaults=True):
    """A text with its mentions; the subset and space are those of a dataset that is on its way out."""

    id: str
    text: str
    mentions: tuple[Mention, ...] = ()
    subset: Subset = "all"
    space: str | None = None
    language: str = "en"
    # Why the reader left out a mention, once for each.
    left_out: tuple[str, ...] = ()


def page_id_of(key: PageKey) -> int | None:
    """A page id, if what was written is one."""
    return int(key) if key and int(key) > 0 else None


def score_of(score: Score) -> float | None:
    """A score, however it was written."""
    return None if score is None else float(score)


def reference(title: str | None, page_id: int | None = None, qid: str | None = None) -> str:
    """One reference for an entity, which `named` reads: its title, or else its QID or page id; empty for none."""
    if title is not None:
        return title
    if qid is not None:
        return f"wd:{qid}"
    return f"curid:{page_id}" if page_id is not None else ""


def ranking(mention: Mention) -> list[tuple[str, float | None]]:
    """The answer and after it the other candidates, each with its score."""
    best = reference(mention.title, mention.page_id, mention.qid)
    ranked = {best: mention.score}
    for candidate in mention.candidates:
        ranked.setdefault(
            reference(candidate.entity or candidate.answer, candidate.page_id, candidate.qid), candidate.score
        )
    return [(entity, score) for entity, score in ranked.items() if entity]


def ranked(candidates: Sequence[Candidate], said: bool | None) -> dict[str, Any]:
    """The fields of a mention for its candidates, of which a file of ours says whether they are a ranking.

    Elsewhere the answer may be listed alone by linkers that rank and by those that do not.
    """
    if len(candidates) > 1 or (candidates and said):
        return {"candidates": tuple(candidates)}
    return {"candidates": tuple(candidates), "perhaps_ranked": True} if candidates and said is None else {}


def named(reference: str) -> dict[str, Any]:
    """The fields of a mention from one reference of any kind: a title, a URI, a QID, a word for NIL."""
    if is_nil(reference):
        return {"nil": True}
    parsed = parse(reference)
    fields = {"title": parsed.title, "page_id": parsed.page_id, "qid": parsed.qid}
    known = {key: value for key, value in fields.items() if value is not None}
    return {**(known or {"title": reference}), **edition(reference)}


def edition(uri: str) -> dict[str, str]:
    """The language edition that a URI names, as the field of a mention; none for what is no such URI."""
    language = parse(uri).language
    return {"language": language} if language is not None and LANGUAGE.fullmatch(language) else {}


def read_into(imported: Imported, found: Iterable[tuple[Path, Document]], *, several_files: bool) -> Imported:
    """Takes documents into the subset `all`, one snippet for each mention."""
    entities = Entities(imported.remarks)
    snippets: list[Snippet] = []
    seen: dict[str, int] = {}
    for path, document in found:
        name = f"{path.stem}/{document.id}" if several_files else document.id
        if not name:
            raise InputError(path, "a document without an id")
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            imported.remarks.append(Remark("repaired", "a second document of one name", name, f"called ~{seen[name]}"))
            name = f"{name}~{seen[name]}"
        imported.remarks += [Remark("dropped", why, name) for why in document.left_out]
        imported.languages.update(mention.language for mention in document.mentions if mention.language is not None)
        snippets += _snippets(name, document, entities, imported.remarks)
    imported.entities = list(entities)
    imported.snippets = {"all": snippets}
    return imported


def _snippets(name: str, document: Document, entities: Entities, remarks: list[Remark]) -> Iterator[Snippet]:
    for number, mention in enumerate(document.mentions):
        snippet_id = f"{name}#{number}" if len(document.mentions) > 1 else name
        mended: Mended = tidy(document.text, Span(mention.start, mention.end))
        if mended.problem:
            detail = f"[{mention.start}, {mention.end}]"
            remarks.append(Remark(mended.action, mended.problem, snippet_id, detail))
        gold, key = None, _key(mention)
        if key:
            gold = entities.add(key, mention.page_id, snippet_id, mention.qid)
        else:
            remarks.append(Remark("kept", NOT_GOLD, snippet_id))
        if mended.span is not None:
            yield Snippet(snippet_id, "all", document.text, *mended.span, gold=gold, document=name)


def _key(mention: Mention) -> str:
    """What an entity is called in a dataset; empty where a mention has none."""
    if not mention.has_entity:
        return ""
    # A label of Wikidata may well begin with the sign that ends a title.
    has_title = mention.title is not None and normalise_title(mention.title)
    return mention.title or "" if has_title else mention.qid or reference(None, mention.page_id)


def documents_of(
    dataset: Dataset, subset: Subset, predictions: Mapping[str, Prediction] | None = None
) -> Iterator[Document]:
    """The documents of a subset, with their gold entities, or with what a linker answered."""
    resolver = Resolver(dataset.entities.values(), language=dataset.card.language)
    grouped: dict[tuple[str, str], list[Snippet]] = {}
    for snippet in dataset.snippets(subset):
        grouped.setdefault((snippet.document or snippet.id, snippet.text), []).append(snippet)
    for (name, text), snippets in grouped.items():
        mentions = tuple(
            _gold(snippet, dataset.entities)
            if predictions is None
            else _answer(snippet, predictions.get(snippet.id), resolver, dataset.entities)
            for snippet in snippets
        )
        yield Document(name, text, mentions, subset, snippets[0].space, dataset.card.language)


def _gold(snippet: Snippet, entities: Mapping[str, Entity]) -> Mention:
    if snippet.gold is None:
        return Mention(snippet.start, snippet.end)
    entity = entities[snippet.gold]
    return Mention(snippet.start, snippet.end, entity.title, entity.page_id, entity.qid)


def _answer(
    snippet: Snippet, prediction: Prediction | None, resolver: Resolver, entities: Mapping[str, Entity]
) -> Mention:
    if prediction is None or prediction.status == "skipped":
        return Mention(snippet.start, snippet.end)
    if prediction.status == "nil" or (prediction.answer is not None and is_nil(prediction.answer)):
        return Mention(snippet.start, snippet.end, score=prediction.score, nil=True)
    # The answer itself may be in any notation; what it was resolved to has all the keys that the dataset knows.
    title = prediction.entity or resolver.resolve(prediction.answer, prediction.page_id, prediction.qid).entity
    entity = entities.get(title)
    fields = named(title) if entity is None else {"title": title, "page_id": entity.page_id, "qid": entity.qid}
    for key, value in (("page_id", prediction.page_id), ("qid", prediction.qid)):
        fields[key] = value if fields.get(key) is None else fields[key]
    return Mention(snippet.start, snippet.end, score=prediction.score, candidates=prediction.candidates, **fields)
