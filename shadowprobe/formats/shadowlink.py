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
from shadowprobe.formats.imported import Action, Entities, Imported, Remark
from shadowprobe.formats.spans import Span, infer_template, mend, whole_words
from shadowprobe.jsonl import read_json
from shadowprobe.model import EntitySpace, Snippet, Subset


class Example(Struct):
    """A row of Top, Shadow or Tail."""

    wiki_id: int
    entity_name: str
    example: str
    span: tuple[int, int]
    entity_space_name: str | None = None


class NeutralExamples(Struct):
    """A row of Neutral."""

    entity_space: str
    neutral_examples: list[str]


def read(paths: Sequence[Path]) -> Imported:
    """Reads the directory of the release."""
    if len(paths) != 1 or not paths[0].is_dir():
        raise UsageError("import shadowlink takes one directory, the one that holds Top.json")
    directory = paths[0]
    imported = Imported(_card())
    entities = Entities(imported.remarks)
    gold: dict[Subset, dict[str, str]] = {"top": {}, "shadow": {}, "tail": {}}
    for subset in ("top", "shadow", "tail"):
        path = directory / f"{subset.capitalize()}.json"
        rows = read_json(path, list[Example])
        imported.snippets[subset] = _snippets(path, subset, rows, entities, gold[subset], imported.remarks)
    imported.spaces = _spaces(gold["top"], gold["shadow"], imported)
    _remark_contradictions(imported)
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
            action: Action = "dropped" if mended.span is None else "repaired" if mended.moved else "kept"
            remarks.append(Remark(action, mended.problem, snippet_id, f"{name or row.entity_name!r} {row.span}"))
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


def _remark_contradictions(imported: Imported) -> None:
    """Lists texts that stand in two places with two gold entities for the same mention: one answer must be wrong."""
    seen: dict[tuple[str, int, int], Snippet] = {}
    for subset in ("top", "shadow", "tail"):
        for snippet in imported.snippets[subset]:
            other = seen.setdefault((snippet.text, snippet.start, snippet.end), snippet)
            if other.gold != snippet.gold:
                why = "the same text and mention with another gold entity"
                imported.remarks.append(Remark("kept", why, snippet.id, f"{other.id}: {other.gold!r}"))


def _neutral(path: Path, imported: Imported) -> list[Snippet]:
    rows = read_json(path, list[NeutralExamples])
    known = {space.name for space in imported.spaces}
    most = max((len(row.neutral_examples) for row in rows), default=0)
    templates = []
    for column in range(most):
        filled = [row for row in rows if len(row.neutral_examples) > column]
        texts, names = [row.neutral_examples[column] for row in filled], [row.entity_space for row in filled]
        templates.append(infer_template(texts, names))
    snippets = []
    for number, row in enumerate(rows):
        for column, text in enumerate(row.neutral_examples):
            snippet_id = f"shadowlink-neutral-{number:04d}-{column}"
            template = templates[column]
            span = template.locate(text, row.entity_space) if template else None
            why = ""
            if row.entity_space not in known:
                span, why = None, "neutral context of an unknown name"
            elif span is None:
                places = whole_words(text, row.entity_space)
                span = places[0] if len(places) == 1 else None
                why = "neutral context in which the name cannot be located" if span is None else ""
            if span is None:
                imported.remarks.append(Remark("dropped", why, snippet_id, f"{row.entity_space!r}"))
                continue
            snippets.append(
                Snippet(
                    id=snippet_id,
                    subset="neutral",
                    text=text,
                    start=span.start,
                    end=span.end,
                    space=row.entity_space,
                    template=column,
                )
            )
    imported.remarks.append(
        Remark("repaired", "neutral mentions located (the release has no offsets)", path.name, f"{len(snippets)}")
    )
    return snippets
