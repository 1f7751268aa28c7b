"""Trains the encoders of a plan, one for all relations or one for each, and saves them as a model directory."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from msgspec import Struct

from shadowprobe.base.jsonl import convert_to_json
from shadowprobe.queries.question_patterns import list_patterns
from shadowprobe.systems.encoder_directory import EncoderCard, EncoderPair, write_encoder_card
from shadowprobe.training.loop import EncoderModels, count_steps, train_encoders
from shadowprobe.training.passages import Example
from shadowprobe.training.planning import Plan, begin_training
from shadowprobe.training.record import TrainingRecord, write_record
from shadowprobe.training.settings import TrainingSettings
from shadowprobe.training.trainable import load_trainable

# The encoders before training, which take what no trained one takes.
BASE, ALL = "base", "model"
# Called with what is done, how much of it, and out of how much.
Move = Callable[[str, int, int | None], None]
# Called with the record when everything is checked and the training begins.
Announce = Callable[[TrainingRecord], None]


def count_up(move: Move, what: str, total: int | None = None) -> Callable[[int], None]:
    """A function that is called with how much more is done, and tells how much that is so far."""
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        move(what, done, total)

    return advance


class Part(Struct, frozen=True):
    """What one pair of encoders is trained on, and the patterns of the questions that it will take."""

    name: str
    examples: list[Example]
    patterns: tuple[str, ...] = ()


def train_and_save(plan: Plan, move: Move, announce: Announce = lambda _: None) -> EncoderCard:
    """Trains what is not trained yet, saves each pair when it is ready, and writes the card of the directory last."""
    # A model that cannot be loaded must leave the directory as it was.
    loaded = [load_models(plan.settings)]
    begin_training(plan)
    announce(plan.record)
    parts = list_parts(plan)
    steps = sum(count_steps(len(part.examples), plan.settings) for part in parts)
    advance = count_up(move, "training", steps)
    pairs = []
    for part in parts:
        pair = _name_pair(part, plan.settings)
        if part.name in plan.record.epochs and _is_saved(plan, pair):
            advance(count_steps(len(part.examples), plan.settings))
        else:
            _train_part(plan, part, pair, loaded.pop() if loaded else load_models(plan.settings), advance)
        pairs.append(pair)
    if plan.settings.per_relation:
        pairs.append(_save_base(plan))
    card = EncoderCard(plan.settings.kind, tuple(pairs))
    write_encoder_card(plan.out, card)
    return card


def list_parts(plan: Plan) -> list[Part]:
    """All examples together, or those of each question pattern: relations with the same pattern share an encoder."""
    mixed = plan.mix.examples
    if not plan.settings.per_relation:
        return [Part(ALL, [*chain.from_iterable(plan.examples.values()), *mixed])]
    by_pattern: dict[str, list[str]] = {}
    for relation in plan.examples:
        by_pattern.setdefault(list_patterns(relation)[0], []).append(relation)
    return [
        Part(
            "-".join(relations),
            [*chain.from_iterable(plan.examples[relation] for relation in relations), *mixed],
            tuple(dict.fromkeys(pattern for relation in relations for pattern in list_patterns(relation))),
        )
        for relations in by_pattern.values()
    ]


def _train_part(
    plan: Plan, part: Part, pair: EncoderPair, models: EncoderModels, advance: Callable[[int], None]
) -> None:
    epochs = train_encoders(models, part.examples, plan.finder.documents, plan.settings, advance)
    _save(plan, models, pair)
    plan.record.epochs[part.name] = [convert_to_json(epoch) for epoch in epochs]
    write_record(plan.out, plan.record)


def load_models(settings: TrainingSettings) -> EncoderModels:
    """Loads the encoders before training; one model for both is loaded twice if only one side of it is trained."""
    questions = load_trainable(settings.kind, settings.model, settings.device, of_questions=True)
    if settings.is_shared:
        return EncoderModels(questions, questions)
    passages = load_trainable(
        settings.kind, settings.document_model or settings.model, settings.device, of_questions=False
    )
    return EncoderModels(questions, passages)


def _name_pair(part: Part, settings: TrainingSettings) -> EncoderPair:
    """The folders of a pair; what is not trained is the same for all parts."""
    if settings.is_shared:
        return EncoderPair(part.name, part.name, part.patterns)
    own = {side: f"{part.name}-{side}" for side in ("questions", "passages")}
    if settings.train == "questions":
        own["passages"] = f"{BASE}-passages"
    if settings.train == "passages":
        own["questions"] = f"{BASE}-questions"
    return EncoderPair(own["questions"], own["passages"], part.patterns)


def _save_base(plan: Plan) -> EncoderPair:
    """Saves the encoders before training, for questions of other patterns."""
    pair = _name_pair(Part(BASE, []), plan.settings)
    if not _is_saved(plan, pair):
        _save(plan, load_models(plan.settings), pair)
    return pair


def _save(plan: Plan, models: EncoderModels, pair: EncoderPair) -> None:
    # One model that is both is saved once, and what is not trained is saved with the first part.
    for name, encoder in {pair.questions: models.questions, pair.passages: models.passages}.items():
        if not (name.startswith(BASE) and (plan.out / name).is_dir()):
            encoder.save(plan.out / name)


def _is_saved(plan: Plan, pair: EncoderPair) -> bool:
    return all((plan.out / name).is_dir() for name in (pair.questions, pair.passages))
