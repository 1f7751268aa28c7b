"""The ShadowLink release: Top.json, Shadow.json, Tail.json and Neutral.json in one directory.

Provatorova et al., 2021, https://doi.org/10.18653/v1/2021.emnlp-main.820. Each file is a JSON list. `span` is
[start, length], and Neutral has no offsets. The reader repairs what can be repaired and lists every change.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from shadowprobe.base.jsonl import read_json
from shadowprobe.base.model import EntitySpace, Snippet, Subset
from shadowprobe.base.spans import Span, Template, find_name, infer_template, repair_span
from shadowprobe.dataset.dataset import Card
from shadowprobe.errors import InputError, UsageError
from shadowprobe.formats.imported import Entities, Imported, Name, PageId, Remark


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


def read_dataset(paths: Sequence[Path]) -> Imported:
    """Reads the directory of the release."""
    if len(paths) != 1:
        raise UsageError("import shadowlink takes one directory: the one that contains Top.json")
    directory = paths[0]
    if not directory.is_dir():
        raise UsageError(f"{directory} is not a directory: import shadowlink takes the one that contains Top.json")
    imported = Imported(_make_card())
    entities = Entities(imported.remarks)
    gold: dict[Subset, dict[str, str]] = {"top": {}, "shadow": {}, "tail": {}}
    for subset in ("top", "shadow", "tail"):
        path = directory / f"{subset.capitalize()}.json"
        rows = read_json(path, list[Example])
        imported.snippets[subset] = _import_rows(path, subset, rows, entities, gold[subset], imported.remarks)
    imported.spaces = _make_spaces(gold["top"], gold["shadow"], imported)
    imported.remark_contradictions()
    imported.snippets["neutral"] = _import_neutral(directory / "Neutral.json", imported)
    imported.entities = list(entities)
    return imported


def _make_card() -> Card:
    return Card(
        name="shadowlink",
        title="ShadowLink, the released benchmark",
        source="https://github.com/vera-pro/ICE_experiments",
        about="Provatorova, Bhargav, Vakulenko and Kanoulas: Robustness Evaluation of Entity Disambiguation Using"
        " Prior Probes: the Case of Entity Overshadowing. EMNLP 2021.",
        made="shadowprobe import shadowlink; `repairs` lists what was not taken as it stood",
    )


def _import_rows(
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
        checked = repair_span(row.example, name or row.entity_name, Span(start, start + length))
        if checked.problem:
            detail = f"{name or row.entity_name!r} {row.span}"
            remarks.append(Remark(checked.action, checked.problem, snippet_id, detail))
        title = entities.add(row.entity_name, row.wiki_id, snippet_id)
        gold[name or snippet_id] = title
        if checked.span is not None:
            snippets.append(
                Snippet(
                    id=snippet_id,
                    subset=subset,
                    text=row.example,
                    start=checked.span.start,
                    end=checked.span.end,
                    space=name if subset != "tail" else None,
                    gold=title,
                )
            )
    return snippets


def _make_spaces(top: dict[str, str], shadow: dict[str, str], imported: Imported) -> list[EntitySpace]:
    """Makes a space for every name in Top, in its order; a Shadow row without a space is dropped."""
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


def _import_neutral(path: Path, imported: Imported) -> list[Snippet]:
    rows = read_json(path, list[NeutralExamples])
    templates = _infer_templates(rows)
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
                span, why = _locate_name(text, name, templates[column])
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


def _infer_templates(rows: list[NeutralExamples]) -> list[Template | None]:
    """Returns the template of each column; rows may have different lengths."""
    templates = []
    for column in range(max((len(row.neutral_examples) for row in rows), default=0)):
        filled = [row for row in rows if len(row.neutral_examples) > column]
        texts = [row.neutral_examples[column] for row in filled]
        templates.append(infer_template(texts, [row.entity_space for row in filled]))
    return templates


def _locate_name(text: str, name: str, template: Template | None) -> tuple[Span | None, str]:
    """Returns the span of the name in a neutral context, and the problem with it, if any."""
    span = template.locate(text, name) if template else None
    if span is not None:
        return span, ""
    spans = find_name(text, name)
    if len(spans) == 1:
        return spans[0], "neutral context of no template, its name located in its one place"
    return None, "neutral context in which the name cannot be located"
