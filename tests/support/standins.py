"""The small world as three systems keep it, and the stand-ins for them that run in a worker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from world import NAMES, shadow, top

# The folder to put on a worker's PYTHONPATH.
SYSTEMS = Path(__file__).parent / "systems"
RIVER, SHIP = "Fresh water that runs to the sea.", "Vessel with a crew and masts."


def articles() -> Iterator[tuple[str, str, int, str]]:
    """Name, title, page id and description of everything that the systems know."""
    for number, name in enumerate(NAMES):
        yield name, top(name), 100 + number, RIVER
        yield name, shadow(name), 200 + number, SHIP
    yield "Ourika", "Ourika", 300, "Book of 1823."
    yield "Köln", "Köln", 400, "Town on the Rhine."


def write_blink(models: Path) -> Path:
    """BLINK's models, of which only the catalogue of entities says anything."""
    models.mkdir()
    for name in ("biencoder_wiki_large", "crossencoder_wiki_large"):
        (models / f"{name}.json").write_text("{}")
        (models / f"{name}.bin").touch()
    (models / "all_entities_large.t7").touch()
    lines = [
        {"text": text, "idx": f"https://en.wikipedia.org/wiki?curid={page_id}", "title": title, "entity": title}
        for _, title, page_id, text in articles()
    ]
    catalogue = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (models / "entity.jsonl").write_text(catalogue, encoding="utf-8")
    return models


def write_bootleg(cache: Path, *, no_candidate: bool = True) -> Path:
    """Bootleg's model, with the class of no candidate or without, and its tables by QID."""
    model, tables = cache / "models" / "bootleg_uncased", cache / "data" / "entity_db"
    model.mkdir(parents=True)
    (model / "config").write_text("no-candidate" if no_candidate else "")
    tables.mkdir(parents=True)
    aliases: dict[str, list[tuple[str, int]]] = {}
    for name, _, page_id, _ in articles():
        aliases.setdefault({"Köln": "koln"}.get(name, name.lower()), []).append((f"Q{page_id}", 1))
    _dump(tables / "alias2qids.json", aliases)
    _dump(tables / "qid2title.json", {f"Q{page_id}": title for _, title, page_id, _ in articles()})
    _dump(tables / "qid2desc.json", {f"Q{page_id}": text for _, _, page_id, text in articles()})
    return cache


def write_refined(data: Path) -> Path:
    """ReFinED's model and tables by QID."""
    (data / "wikipedia_model").mkdir(parents=True)
    (data / "wikipedia_model" / "model.pt").touch()
    (data / "wikipedia_data").mkdir()
    names: dict[str, list[str]] = {}
    for name, _, page_id, _ in articles():
        names.setdefault(name.lower(), []).append(f"Q{page_id}")
    tables = {
        "pem": names,
        "titles": {f"Q{page_id}": title for _, title, page_id, _ in articles()},
        "descriptions": {f"Q{page_id}": text for _, _, page_id, text in articles()},
    }
    _dump(data / "wikipedia_data" / "tables.json", tables)
    return data


def _dump(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
