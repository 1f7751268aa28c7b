"""The ShadowLink release: Top.json, Shadow.json, Tail.json and Neutral.json in one directory.

Provatorova et al., 2021, https://doi.org/10.18653/v1/2021.emnlp-main.820. Each file is a JSON list; `span` is
[start, length]; Neutral has no offsets. The reader repairs what can be repaired and lists all that it did.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from shadowprobe.dataset import Card
from shadowprobe.errors import InputError, UsageError
from shadowprobe.formats.imported import Entities, Imported, Name, PageId, Remark
from shadowprobe.formats.spans import Span, Template, infer_template, mend, whole_words
from shadowprobe.jsonl import read_json
from shadowprobe.model import EntitySpace, Snippet, Subset


class Example(Struct):
    """A row of Top, Shadow or Tail."""

    wiki_id: PageId
    entity_name: Name
    example: str
    span: tuple[int, int]
    entity_space_name: Name | None = None


class NeutralExamples(Struct):
    """A row of Neutral."""

    entity_space: Name
    neutral_examples: list[str]


def read(paths: Sequence[Path]) -> Imported:
    """Reads the directory of the release."""
    if len(paths) != 1:
        raise UsageError("import shadowlink takes one directory, the one that holds Top.json")
    directory = paths[0]
    if not directory.is_dir():
        raise UsageError(f"{directory} is no directory: import shadowlink takes the one that holds Top.json")
    imported = Imported(_card())
    entities = Entities(imported.remarks)
    gold: dict[Subset, dict[str, str]] = {"top": {}, "shadow": {}, "tail": {}}
    for subset in ("top", "shadow", "tail"):
        path = directory / f"{subset.capitalize()}.json"
        rows = read_json(path, list[Example])
        imported.snippets[subset] = _snippets(path, subset, rows, entities, gold[subset], imported.remarks)
    imported.spaces = _spaces(gold["top"], gold["shadow"], imported)
    imported.remark_contradictions()
    imported.snippets["neutral"] = _neutral(directory / "Neutral.json", imported)
    imported.entities = list(entities)
    return imported


def _card() -> Card:
    return Card(
        name="shadowlink",
        title="ShadowLink, the released benchmark",
        source="https://github.com/vera-pro/ICE_experiments",
        about="Provatorova, Bhargav, Vakulenko and Kanoulas: Robustness Evaluation of Entity Disambiguation Using"
        " Prior Probes: the Case of Entity Overshadowing. EMNLP 2021.",
        made="shadowprobe import shadowlink; `repairs` lists what was not taken as it stood",
    )


def _snippets(
    path: Path,
    subset: Subset,
    rows: list[Example],
    entities: Entities,
    gold: dict[str, str],
    remarks: list[Remark],
) -> list[Snippet]:
    snippets = []
    for number, row in enumerate(rows):
        name = row.entity_space_name
        if subset != "tail":
            if name is None:
                raise InputError(path, f"is missing in row {number}", field="entity_space_name")
            if name in gold:
                raise InputError(path, f"{name!r} stands twice, in row {number}", field="entity_space_name")
        snippet_id = f"shadowlink-{subset}-{number:04d}"
        start, length = row.span
        mended = mend(row.example, name or row.entity_name, Span(start, start + length))
        if mended.problem:
            detail = f"{name or row.entity_name!r} {row.span}"
            remarks.append(Remark(mended.action, mended.problem, snippet_id, detail))
        title = entities.add(row.entity_name, row.wiki_id, snippet_id)
        gold[name or snippet_id] = title
        if mended.span is not None:
            snippets.append(
                Snippet(
                    id=snippet_id,
                    subset=subset,
                    text=row.example,
                    start=mended.span.start,
                    end=mended.span.end,
                    space=name if subset != "tail" else None,
                    gold=title,
                )
            )
    return snippets


def _spaces(top: dict[str, str], shadow: dict[str, str], imported: Imported) -> list[EntitySpace]:
    """A space for every name in Top, in its order; a Shadow row without one is dropped."""
    spaces = []
    for name, title in top.items():
        other = shadow.get(name)
        spaces.append(EntitySpace(name, (title, other) if other is not None and other != title else (title,)))
    shadows = {space.name: space.shadows for space in spaces}
    kept = []
    for snippet in imported.snippets["shadow"]:
        if snippet.gold in shadows.get(snippet.space or "", ()):
            kept.append(snippet)
        else:
            why = "Shadow row without a Top row of its name, or with the same entity"
            imported.remarks.append(Remark("dropped", why, snippet.id, f"{snippet.space!r}"))
    imported.snippets["shadow"] = kept
    return spaces


def _neutral(path: Path, imported: Imported) -> list[Snippet]:
    rows = read_json(path, list[NeutralExamples])
    templates = _templates(rows)
    known = {space.name for space in imported.spaces}
    seen: set[str] = set()
    snippets = []
    for number, row in enumerate(rows):
        name = row.entity_space
        if name in seen:
            raise InputError(path, f"{name!r} stands twice, in row {number}", field="entity_space")
        seen.add(name)
        for column, text in enumerate(row.neutral_examples):
            snippet_id = f"shadowlink-neutral-{number:04d}-{column}"
            if name in known:
                span, why = _located(text, name, templates[column])
            else:
                span, why = None, "neutral context of an unknown name"
            if why:
                imported.remarks.append(Remark("repaired" if span else "dropped", why, snippet_id, f"{name!r}"))
            if span is not None:
                snippets.append(Snippet(snippet_id, "neutral", text, *span, space=name, template=column))
    imported.remarks.append(
        Remark("repaired", "neutral mentions located (the release has no offsets)", path.name, f"{len(snippets)}")
    )
    return snippets


def _templates(rows: list[NeutralExamples]) -> list[Template | None]:
    """The template of each column; a row may be shorter than another."""
    templates = []
    for column in range(max((len(row.neutral_examples) for row in rows), default=0)):
        filled = [row for row in rows if len(row.neutral_examples) > column]
        texts = [row.neutral_examples[column] for row in filled]
        templates.append(infer_template(texts, [row.entity_space for row in filled]))
    return templates


def _located(text: str, name: str, template: Template | None) -> tuple[Span | None, str]:
    """Where the name stands in a neutral context, and what is odd about that."""
    span = template.locate(text, name) if template else None
    if span is not None:
        return span, ""
    places = whole_words(text, name)
    if len(places) == 1:
        return places[0], "neutral context of no template, its name located in its one place"
    return None, "neutral context in which the name cannot be located"
