"""An extractive reader: the best span of all documents, by a question-answering model of transformers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from shadowprobe import Failure, LinkerError, UsageError
from shadowprobe.errors import missing_extra
from shadowprobe.retrieval import Document, Reader, ReaderQuery
from shadowprobe.systems.hugging_face import handle_load_errors

from ._shared.reading_prompts import write_question

# The longest text of a pass in tokens, and how much of it the next pass over a longer one repeats.
LONGEST, REPEATED = 384, 128


class Span(NamedTuple):
    """A part of a document, and the sum of the scores of its two ends."""

    score: float
    text: str


class SpanReader(Reader):
    """Any question-answering model of transformers: marks the part of a document that answers a question best.

    `model` is a directory or a name for Hugging Face, as `deepset/minilm-uncased-squad2`. Each document is read alone,
    a long one in overlapping parts; the span with the highest score of all counts, the first among equal ones. A span
    has at most `longest` tokens. It answers questions and slots; it cannot check claims, which are left out.
    """

    name = "span"
    needs = "pip install 'shadowprobe[lm]', and a model: -o model=DIR or the name of one"
    tasks = ("sf", "qa")

    def __init__(self, model: str, longest: int = 30, device: str = "cpu") -> None:
        if longest < 1:
            raise UsageError(f"longest is {longest}, and must be at least 1")
        self.model, self.longest, self.device = model, longest, device

    def setup(self) -> None:
        """Loads the model."""
        try:
            from transformers import AutoModelForQuestionAnswering, AutoTokenizer
        except ImportError as error:
            raise missing_extra("lm") from error
        with handle_load_errors(self.name, self.model):
            self.tokenizer: Any = AutoTokenizer.from_pretrained(self.model)
            self.network: Any = AutoModelForQuestionAnswering.from_pretrained(self.model)
            self.network.to(self.device)
        if not self.tokenizer.is_fast:
            raise LinkerError(f"`{self.name}` needs a fast tokenizer, and `{self.model}` has none: give another model")
        positions = getattr(self.network.config, "max_position_embeddings", None) or LONGEST
        # Some models keep two positions for themselves.
        self.window = min(LONGEST, positions - 2)

    def close(self) -> None:
        """Frees the model."""
        del self.tokenizer, self.network

    def read(self, queries: Sequence[ReaderQuery]) -> list[str | Failure]:
        """The best span for each query."""
        return [self._read(query) for query in queries]

    def _read(self, query: ReaderQuery) -> str | Failure:
        question = write_question(query)
        # The documents need some room beside the question and the special tokens.
        if len(self.tokenizer(question).input_ids) > self.window // 2:
            return Failure(query.id, f"the question is too long for `{self.model}`, which reads {self.window} tokens")
        spans = [span for document in query.documents for span in self._mark(question, document)]
        # The first of several with the same score.
        return max(spans, key=lambda span: span.score).text if spans else ""

    def _mark(self, question: str, document: Document) -> Iterator[Span]:
        """The best span of each part of a document."""
        import torch

        parts = self.tokenizer(
            question,
            document.text,
            truncation="only_second",
            max_length=self.window,
            stride=min(REPEATED, self.window // 4),
            padding=True,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        offsets = parts.pop("offset_mapping").tolist()
        parts.pop("overflow_to_sample_mapping", None)
        with torch.inference_mode():
            output = self.network(**{key: value.to(self.device) for key, value in parts.items()})
        for number, places in enumerate(offsets):
            is_text = [one == 1 for one in parts.sequence_ids(number)]
            ends = output.start_logits[number].tolist(), output.end_logits[number].tolist()
            if (best := find_span(*ends, is_text, self.longest)) is not None:
                score, first, last = best
                yield Span(score, document.text[places[first][0] : places[last][1]])


def find_span(
    starts: Sequence[float], ends: Sequence[float], is_text: Sequence[bool], longest: int
) -> tuple[float, int, int] | None:
    """The best sum of a start and an end within the text, with their places; None without a text."""
    candidates = (
        (starts[first] + ends[last], first, last)
        for first in range(len(starts))
        if is_text[first]
        for last in range(first, min(first + longest, len(ends)))
        if is_text[last]
    )
    return max(candidates, key=lambda one: one[0], default=None)
