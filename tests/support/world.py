"""A small world worked out by hand, which most tests ask about."""

from __future__ import annotations

from pathlib import Path

from shadowprobe import Card, Dataset, Entity, EntitySpace, Prediction, Snippet, write_dataset

# Four names, two entities each, one Top and one Shadow context, three neutral ones; one tail entity.
NAMES = ("Avon", "Berg", "Como", "Dale")


def top(name: str) -> str:
    """The title of the top entity of a name."""
    return f"{name} (river)"


def shadow(name: str) -> str:
    """The title of the shadow entity of a name."""
    return f"{name} (ship)"


def snippet(snippet_id: str, subset: str, text: str, name: str, **fields: object) -> Snippet:
    """A snippet whose mention is the first occurrence of the name."""
    start = text.index(name)
    return Snippet(snippet_id, subset, text, start, start + len(name), **fields)  # type: ignore[arg-type]


def write_world(path: Path) -> Dataset:
    """The four names as a dataset directory."""
    entities, spaces = [], []
    snippets: dict[str, list[Snippet]] = {"top": [], "shadow": [], "tail": [], "neutral": []}
    for number, name in enumerate(NAMES):
        # A thousand page ids for every hundred names, so that no two entities share one.
        page = number % 100 + 1000 * (number // 100)
        entities += [
            Entity(top(name), page_id=100 + page, commonness=50, description="Fresh water that runs to the sea."),
            Entity(shadow(name), page_id=200 + page, commonness=5, description="Vessel with a crew and masts."),
        ]
        spaces.append(EntitySpace(name, (top(name), shadow(name))))
        flows = f"Anglers say that {name} runs clear above the mill."
        snippets["top"].append(snippet(f"t{name}", "top", flows, name, space=name, gold=top(name)))
        sails = f"The crew of {name} cut down both masts in the gale."
        snippets["shadow"].append(snippet(f"s{name}", "shadow", sails, name, space=name, gold=shadow(name)))
        for column, text in enumerate((f"{name} came up again.", f"Why not {name}?", f"One word: {name}"), start=1):
            neutral = snippet(f"n{name}{column}", "neutral", text, name, space=name, template=column)
            snippets["neutral"].append(neutral)
    entities.append(Entity("Ourika", page_id=300, commonness=2))
    snippets["tail"].append(snippet("tail1", "tail", "The novel Ourika sold out in a week.", "Ourika", gold="Ourika"))
    return write_dataset(path, Card(name="world"), entities, spaces, snippets)  # type: ignore[arg-type]


def linked(snippet_id: str, title: str, score: float | None = None) -> Prediction:
    """An answer that names an entity."""
    return Prediction(snippet_id, answer=title, score=score)


def hand_predictions() -> list[Prediction]:
    """Answers whose every figure is worked out in the tests of the probes.

    Avon: river for both, prior river (2 of 3). Berg: both right, prior river (3 of 3). Como: ship for both, prior
    river (2 of 3, one NIL). Dale: NIL and skipped; neutral ship (score 0.9), river (0.5), skipped: prior ship by score.
    """
    return [
        linked("tAvon", top("Avon"), 0.9),
        linked("sAvon", top("Avon"), 0.8),
        *(linked(f"nAvon{n}", top("Avon"), 0.3) for n in (1, 2)),
        linked("nAvon3", shadow("Avon"), 0.4),
        linked("tBerg", top("Berg"), 0.7),
        linked("sBerg", shadow("Berg"), 0.6),
        *(linked(f"nBerg{n}", top("Berg"), 0.5) for n in (1, 2, 3)),
        linked("tComo", shadow("Como"), 0.5),
        linked("sComo", shadow("Como"), 0.5),
        *(linked(f"nComo{n}", top("Como"), 0.2) for n in (1, 2)),
        Prediction("nComo3", status="nil"),
        Prediction("tDale", status="nil"),
        Prediction("sDale", status="skipped"),
        linked("nDale1", shadow("Dale"), 0.9),
        linked("nDale2", top("Dale"), 0.5),
        Prediction("nDale3", status="skipped"),
        linked("tail1", "Ourika", 1.0),
    ]
