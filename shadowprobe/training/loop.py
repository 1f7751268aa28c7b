"""The training loop: each question must find its passage among all passages of its batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from shadowprobe.queries.query import Document
from shadowprobe.training.passages import Example
from shadowprobe.training.settings import TrainingSettings
from shadowprobe.training.trainable import TrainableEncoder, encode_fixed

# The share of all steps in which the learning rate rises; then it falls to 0.
WARM_UP = 0.1
# Longer gradients are shortened to this length, as in DPR's code.
LONGEST_GRADIENT = 2.0
Advance = Callable[[int], None]


class EncoderModels(Struct):
    """The encoder of questions and that of passages; they may be one and the same."""

    questions: TrainableEncoder
    passages: TrainableEncoder


class Epoch(Struct, frozen=True):
    """How one pass over the examples went."""

    loss: float
    # The share of the questions whose own passage scored best in its batch.
    accuracy: float


@contextmanager
def repeat_exactly(seed: int) -> Iterator[None]:
    """Makes everything random inside depend on the seed alone, and restores the state of PyTorch afterwards."""
    import torch

    state, was_strict = torch.get_rng_state(), torch.are_deterministic_algorithms_enabled()
    torch.manual_seed(seed)
    # A device that lacks such an algorithm only warns.
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(was_strict)
        torch.set_rng_state(state)


def train_encoders(
    models: EncoderModels,
    examples: Sequence[Example],
    documents: Mapping[str, Document],
    settings: TrainingSettings,
    advance: Advance,
) -> list[Epoch]:
    """Trains the encoders that the settings name, and returns how each epoch went."""
    with repeat_exactly(settings.seed):
        return _Loop(models, examples, documents, settings).run(advance)


def count_steps(examples: int, settings: TrainingSettings) -> int:
    """How many batches a training has."""
    return settings.epochs * -(-examples // settings.batch_size)


class _Loop:
    def __init__(
        self,
        models: EncoderModels,
        examples: Sequence[Example],
        documents: Mapping[str, Document],
        settings: TrainingSettings,
    ) -> None:
        import torch

        self.torch, self.models, self.settings = torch, models, settings
        self.examples, self.documents = examples, documents
        trained = [models.questions] if settings.train != "passages" else []
        trained += [models.passages] if settings.train != "questions" and models.passages not in trained else []
        self.modules = [encoder.module for encoder in trained]
        parameters = [weight for module in self.modules for weight in module.parameters() if weight.requires_grad]
        self.parameters = parameters
        self.optimizer = torch.optim.AdamW(parameters, lr=settings.learning_rate)
        self.total = count_steps(len(examples), settings)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self._scale_rate)
        self._fix_vectors()

    def _scale_rate(self, step: int) -> float:
        rising = max(1, round(WARM_UP * self.total))
        return min((step + 1) / rising, max(0.0, (self.total - step) / max(1, self.total - rising)))

    def _fix_vectors(self) -> None:
        """Encodes once what is not trained."""
        self.fixed_questions: Any = None
        self.fixed_passages: Any = None
        if self.settings.train == "passages":
            texts = [example.text for example in self.examples]
            self.fixed_questions = encode_fixed(self.models.questions, texts, of_questions=True)
        if self.settings.train == "questions":
            self.places = {one: place for place, one in enumerate(self.documents)}
            self.fixed_passages = encode_fixed(self.models.passages, list(self.documents.values()), of_questions=False)

    def run(self, advance: Advance) -> list[Epoch]:
        epochs = []
        size = self.settings.batch_size
        for module in self.modules:
            module.train()
        for _ in range(self.settings.epochs):
            order = self.torch.randperm(len(self.examples)).tolist()
            losses, right = [], 0
            for start in range(0, len(order), size):
                batch = order[start : start + size]
                loss, correct = self._step(batch)
                losses.append(loss * len(batch))
                right += correct
                advance(1)
            epochs.append(Epoch(sum(losses) / len(order), right / len(order)))
        for module in self.modules:
            module.eval()
        return epochs

    def _step(self, batch: Sequence[int]) -> tuple[float, int]:
        """One batch: the loss, and how many questions scored their own passage best."""
        torch = self.torch
        members = [self.examples[number] for number in batch]
        ids = [one.positives[0] for one in members] + [other for one in members for other in one.negatives]
        scores = self._encode_questions(batch) @ self._encode_passages(ids).T * self.models.passages.scale
        scores = scores.masked_fill(_find_other_positives(torch, members, ids).to(scores.device), float("-inf"))
        target = torch.arange(len(members), device=scores.device)
        loss = torch.nn.functional.cross_entropy(scores, target)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, LONGEST_GRADIENT)
        self.optimizer.step()
        self.schedule.step()
        return float(loss.detach()), int((scores.argmax(dim=1) == target).sum())

    def _encode_questions(self, batch: Sequence[int]) -> Any:
        if self.fixed_questions is not None:
            return self.fixed_questions[list(batch)]
        return self.models.questions.encode_questions([self.examples[number].text for number in batch])

    def _encode_passages(self, ids: Sequence[str]) -> Any:
        if self.fixed_passages is not None:
            return self.fixed_passages[[self.places[one] for one in ids]]
        return self.models.passages.encode_passages([self.documents[one] for one in ids])


def _find_other_positives(torch: Any, members: Sequence[Example], ids: Sequence[str]) -> Any:
    """True where a passage of the batch answers a question too, and is not its own: it is no negative of it."""
    answering = [set(one.positives) for one in members]
    return torch.tensor(
        [
            [passage in right and place != row for place, passage in enumerate(ids)]
            for row, right in enumerate(answering)
        ]
    )
