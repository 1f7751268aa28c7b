"""Documents with several mentions: foreign formats hold these, a dataset holds snippets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from shadowprobe.base.identity import Resolver, is_nil, normalise_title, parse
from shadowprobe.base.model import Candidate, Entity, Prediction, Snippet, Subset, TemplateNumber
from shadowprobe.base.spans import Span, check_span
from shadowprobe.dataset.dataset import Dataset
from shadowprobe.errors import InputError
from shadowprobe.formats.fields import drop_missing, make_reference, parse_reference
from shadowprobe.formats.imported import Entities, Imported, Remark
from shadowprobe.formats.placing import place_snippets

NOT_GOLD = "a mention without an entity, which is not counted as gold"
MAPPED = "a gold URI of an unknown knowledge base, mapped by owl:sameAs"
NOT_MAPPED = "a gold URI of an unknown knowledge base that nothing maps: no gold entity"


class Mention(Struct, frozen=True):
    """A span of a text with its gold or predicted entity; without an entity there is no gold, or no answer."""

    start: int
    end: int
    # A title, or a URI that contains one.
    title: str | None = None
    page_id: int | None = None
    qid: str | None = None
    score: float | None = None
    suspicion: float | None = None
    candidates: tuple[Candidate, ...] = ()
    # The linker answered that the knowledge base does not have the entity.
    nil: bool = False
    # The answer is the only candidate, and the file does not tell whether this is a ranking of one or no ranking.
    perhaps_ranked: bool = False
    # The language edition in the entity's URI.
    language: str | None = None
    # Other references of the same entity: any of them is right.
    others: tuple[str, ...] = ()
    # The gold URI, if it belongs to a knowledge base that is not known here.
    unknown_uri: str | None = None
    # The space of the snippet and the number of its template, in files that we wrote.
    space: str | None = None
    template: TemplateNumber | None = None

    @property
    def has_entity(self) -> bool:
        """True if an entity is named by any key."""
        return not self.nil and (self.title is not None or self.page_id is not None or self.qid is not None)

    @property
    def is_answered(self) -> bool:
        """True if there is an entity or NIL."""
        return self.has_entity or self.nil

    @property
    def reference(self) -> str:
        """One reference for the entity, as `make_reference` writes it."""
        return make_reference(self.title, self.page_id, self.qid)

    @property
    def qid_or_reference(self) -> str:
        """The bare QID, or else another reference."""
        return self.qid or make_reference(self.title, self.page_id)

    @property
    def own_fields(self) -> dict[str, Any]:
        """What our files say of a mention and no format has: its space and its template."""
        return drop_missing({"space": self.space, "template": self.template})

    def rank_entities(self) -> list[tuple[str, float | None]]:
        """Lists the answer and then the other candidates, each with its score; nothing without an answer."""
        if not self.has_entity:
            return []
        scores = {self.reference: self.score}
        for candidate in self.candidates:
            name = make_reference(candidate.entity or candidate.answer, candidate.page_id, candidate.qid)
            scores.setdefault(name, candidate.score)
        return [(entity, score) for entity, score in scores.items() if entity]


class AnnotatedDocument(Struct, frozen=True):
    """A text with its mentions; a document that is exported also has its subset, and beside predictions the gold."""

    id: str
    text: str
    mentions: tuple[Mention, ...] = ()
    subset: Subset = "all"
    language: str = "en"
    gold: tuple[Mention, ...] = ()
    # For each mention that the reader left out, the reason.
    left_out: tuple[str, ...] = ()

    def name_mention(self, number: int) -> str:
        """Returns an id for one mention: the document's id, with a number if it has several mentions."""
        return f"{self.id}#{number}" if len(self.mentions) > 1 else self.id


def import_documents(
    imported: Imported,
    documents: Iterable[tuple[Path, AnnotatedDocument]],
    *,
    several_files: bool,
    subsets: Mapping[Path, Subset] | None = None,
) -> Imported:
    """Imports documents, one snippet for each mention: into the subset of an exported file, else into `all`."""
    entities = Entities(imported.remarks)
    snippets: list[Snippet] = []
    seen: dict[str, int] = {}
    for path, document in documents:
        # The ids of an export are those of its dataset, and differ between its files.
        name = f"{path.stem}/{document.id}" if several_files and not subsets else document.id
        if not name:
            raise InputError(path, "a document has no id")
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            imported.remarks.append(Remark("repaired", "a second document of one name", name, f"called ~{seen[name]}"))
            name = f"{name}~{seen[name]}"
        imported.remarks += [Remark("dropped", why, name) for why in document.left_out]
        imported.languages.update(mention.language for mention in document.mentions if mention.language is not None)
        placed = replace(document, subset=subsets[path] if subsets else "all")
        snippets += _import_mentions(name, placed, entities, imported.remarks)
    entities.remark_second_golds()
    imported.entities = list(entities)
    place_snippets(imported, snippets)
    return imported


def _import_mentions(
    name: str, document: AnnotatedDocument, entities: Entities, remarks: list[Remark]
) -> Iterator[Snippet]:
    for number, mention in enumerate(document.mentions):
        snippet_id = f"{name}#{number}" if len(document.mentions) > 1 else name
        checked = check_span(document.text, Span(mention.start, mention.end))
        if checked.problem:
            detail = f"[{mention.start}, {mention.end}]"
            remarks.append(Remark(checked.action, checked.problem, snippet_id, detail))
        gold, key = None, _choose_key(mention)
        if key:
            gold = entities.add(key, mention.page_id, snippet_id, mention.qid)
            for other in map(parse, mention.others):
                if other.title is not None and other.language in {None, mention.language}:
                    entities.add_title(gold, other.title, snippet_id)
        if mention.unknown_uri is not None:
            is_mapped = gold is not None
            outcome = Remark("repaired" if is_mapped else "kept", MAPPED if is_mapped else NOT_MAPPED, snippet_id)
            remarks.append(replace(outcome, detail=mention.unknown_uri))
        elif gold is None and document.subset != "neutral":
            remarks.append(Remark("kept", NOT_GOLD, snippet_id))
        if checked.span is not None:
            has_space = document.subset in {"top", "shadow", "neutral"}
            # A file without the name has the mention itself, which is the name almost always.
            space = mention.space or (document.text[slice(*checked.span)] if has_space else None)
            yield Snippet(
                snippet_id,
                document.subset,
                document.text,
                *checked.span,
                space=space,
                gold=gold,
                template=mention.template,
                document=name,
            )


def _choose_key(mention: Mention) -> str:
    """Returns the name of a mention's entity in a dataset; empty if the mention has none."""
    if not mention.has_entity:
        return ""
    # A Wikidata label may begin with `#`, which ends a title: such a title would be empty.
    if mention.title is not None and normalise_title(mention.title):
        return mention.title
    return mention.qid or make_reference(None, mention.page_id)


def export_documents(
    dataset: Dataset, subset: Subset, predictions: Mapping[str, Prediction] | None = None
) -> Iterator[AnnotatedDocument]:
    """Makes the documents of a subset, with their gold entities or with a linker's predictions."""
    resolver = Resolver(dataset.entities.values(), language=dataset.card.language)
    for (name, text), snippets in group_snippets(dataset, subset).items():
        gold = tuple(_make_gold_mention(snippet, dataset.entities) for snippet in snippets)
        document = AnnotatedDocument(name, text, gold, subset, dataset.card.language)
        if predictions is not None:
            mentions = tuple(
                _make_predicted_mention(snippet, predictions.get(snippet.id), resolver, dataset.entities)
                for snippet in snippets
            )
            document = replace(document, mentions=mentions, gold=gold)
        yield document


def group_snippets(dataset: Dataset, subset: Subset) -> dict[tuple[str, str], list[Snippet]]:
    """Groups the snippets of a subset by the id and the text of their document."""
    grouped: dict[tuple[str, str], list[Snippet]] = {}
    for snippet in dataset.snippets(subset):
        grouped.setdefault((snippet.document or snippet.id, snippet.text), []).append(snippet)
    return grouped


def _make_gold_mention(snippet: Snippet, entities: Mapping[str, Entity]) -> Mention:
    mention = Mention(snippet.start, snippet.end, space=snippet.space, template=snippet.template)
    if snippet.gold is None:
        return mention
    entity = entities[snippet.gold]
    return replace(mention, title=entity.title, page_id=entity.page_id, qid=entity.qid)


def _make_predicted_mention(
    snippet: Snippet, prediction: Prediction | None, resolver: Resolver, entities: Mapping[str, Entity]
) -> Mention:
    if prediction is None or prediction.status == "skipped":
        return Mention(snippet.start, snippet.end)
    if prediction.status == "nil" or (prediction.answer is not None and is_nil(prediction.answer)):
        return Mention(snippet.start, snippet.end, score=prediction.score, suspicion=prediction.suspicion, nil=True)
    # The answer may be in any notation. The entity that it is resolved to has all keys that the dataset knows.
    title = prediction.entity or resolver.resolve(prediction.answer, prediction.page_id, prediction.qid).entity
    entity = entities.get(title)
    fields = (
        parse_reference(title) if entity is None else {"title": title, "page_id": entity.page_id, "qid": entity.qid}
    )
    for key, value in (("page_id", prediction.page_id), ("qid", prediction.qid)):
        fields[key] = value if fields.get(key) is None else fields[key]
    fields |= {"score": prediction.score, "suspicion": prediction.suspicion, "candidates": prediction.candidates}
    return Mention(snippet.start, snippet.end, **fields)
