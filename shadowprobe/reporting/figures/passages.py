"""The passages that answer questions, before and after the training of an encoder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.errors import UsageError
from shadowprobe.queries.question_files import relations
from shadowprobe.reporting.figures.style import LEGEND, Legend, Width, make_panels, scatter, wrap_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shadowprobe.training.record import Training

WHEN = ("before", "after")
# More relations than this cannot be told apart; the others are drawn as one.
MOST = 7
OTHERS = "other relations"
GREY = "#BBBBBB"


def passages(trainings: Sequence[Training], width: Width) -> Figure:
    """The passages that answer test questions before and after training, by t-SNE (EntityQuestions, Fig. 2).

    A colour a relation. The numbers on the panels are mean cosines between two passages of one relation, and of two
    relations: a map alone can mislead, because t-SNE changes distances.
    """
    for training in trainings:
        _check_map(training)
    shown = _choose_relations(trainings)
    names = [_name_relation(relation) for relation in shown]
    legend = Legend([wrap_label(name, 24) for name in names], LEGEND[width])
    side = 1.55 if width == "one" else 2.6
    height = (side + 0.45) * len(trainings) + legend.height
    figure, panels = make_panels(width, height, nrows=len(trainings), ncols=2)
    handles: list[Any] = []
    for number, training in enumerate(trainings):
        for axes, when in zip(panels[2 * number : 2 * number + 2], WHEN, strict=True):
            handles = _draw_map(axes, training, when, shown)
            axes.set_title(_title(training, when, has_label=len(trainings) > 1))
    legend.draw(figure, handles)
    return figure


def _check_map(training: Training) -> None:
    if (training.record.passages.get("before") or {}).get("places") is None:
        reason = next((note for note in training.record.notes if "passages" in note), "it has too few passages")
        raise UsageError(f"no such figure of {training.path}: {reason}")


def _choose_relations(trainings: Sequence[Training]) -> list[str]:
    """The relations with most passages, the trained ones first; the empty name stands for all others."""
    counts: Counter[str] = Counter()
    trained: set[str] = set()
    for training in trainings:
        counts.update(item["relation"] for item in training.record.passages["items"])
        trained |= set(training.record.split["examples"])
    ordered = sorted(counts, key=lambda relation: (relation not in trained, -counts[relation], relation))
    return [*ordered[:MOST], *([""] if len(ordered) > MOST else [])]


def _draw_map(axes: Axes, training: Training, when: str, shown: Sequence[str]) -> list[Any]:
    found = training.record.passages
    handles = []
    for number, relation in enumerate(shown):
        places = [
            place
            for item, place in zip(found["items"], found[when]["places"], strict=True)
            if item["relation"] == relation or (not relation and item["relation"] not in shown)
        ]
        # The named relations are above the others.
        style = {"zorder": 2} if relation else {"zorder": 1, "color": GREY}
        handles.append(scatter(axes, places, number, s=7, **style))
    axes.set_xticks([])
    axes.set_yticks([])
    return handles


def _title(training: Training, when: str, *, has_label: bool) -> str:
    found = training.record.passages[when]
    label = f"{training.label}, {when}" if has_label else f"{when} training"
    # A relation with one passage has no pair.
    one, two = ("–" if value is None else f"{value:.2f}" for value in (found["same_relation"], found["other_relation"]))
    return f"{wrap_label(label, 26)}\nmean similarity: of one\nrelation {one}, of two {two}"


def _name_relation(relation: str) -> str:
    known = relations().get(relation)
    return f"{known.label} ({relation})" if known is not None else relation or OTHERS
