"""A chat model that is asked about documents on namesakes, and answers in plain text."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from shadowprobe.chat import ChatLinker
from shadowprobe.errors import ItemError, LinkerError
from shadowprobe.knowledge import Knowledge
from shadowprobe.masking import public_url
from shadowprobe.model import Failure, Prediction, Snippet
from shadowprobe.retrieval.ambigdocs import AmbigSet
from shadowprobe.web import Request

if TYPE_CHECKING:
    import httpx

# It does not say that the documents are on namesakes: whether a model notices is what is measured.
PROMPT = """\
Answer the question from the documents below and from nothing else.

{documents}

Question: {question}
Answer:"""

_OPTION = re.compile(r"-o (\w+)=(`?)")


class Answer(Struct, frozen=True):
    """What a model said of a set."""

    id: str
    answer: str


def prompt_of(one: AmbigSet, order_seed: int = 0) -> str:
    """What a model is asked about a set; the documents stand in an order drawn for it, so that no popular one leads."""
    documents = list(one.documents)
    random.Random(f"{order_seed}\n{one.id}").shuffle(documents)
    shown = (f"Document {number}: {each.title}\n{each.text}" for number, each in enumerate(documents, start=1))
    return PROMPT.format(documents="\n\n".join(shown), question=one.question)


class Asker(ChatLinker):
    """A chat model with the machinery of web linkers behind it: each set goes out as a text without a mention."""

    def __init__(self, model: str, order_seed: int = 0, max_tokens: int | None = 1024, **chat: Any) -> None:
        super().__init__(model, max_tokens=max_tokens, **chat)
        self.order_seed = order_seed

    @property
    def described(self) -> dict[str, Any]:
        """The model as a run records it."""
        answering = ("temperature", "seed", "max_tokens", "order_seed", *sorted(self.incidental))
        options = {"url": public_url(self.url)} | {name: getattr(self, name) for name in answering}
        return {"name": self.model, "prompt": PROMPT, "options": options}

    @contextmanager
    def started(self) -> Iterator[None]:
        """Ready to be asked while the block runs; an error names options as they are typed here."""
        try:
            self.open(Knowledge({}, ()))
            try:
                yield
            finally:
                self.close()
        except LinkerError as error:
            raise LinkerError(_as_typed(str(error))) from error

    def ask(self, sets: Sequence[AmbigSet]) -> Iterator[Answer | Failure]:
        """What the model says of each set, side by side as many as `concurrency` allows."""
        prompts = [Snippet(one.id, "all", prompt_of(one, self.order_seed), 0, 0) for one in sets]
        for found in self.link(prompts):
            if isinstance(found, Failure):
                yield Failure(found.id, _as_typed(found.error))
            else:
                yield Answer(found.id, found.answer or "")

    def request(self, snippet: Snippet) -> Request:
        """The prompt as one user message."""
        return self.post(snippet.text)

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """The reply as it is, without what the model thinks aloud before it."""
        reply, _ = self.reply_of(response)
        # Some templates open the thought themselves and only its end shows.
        said = reply.rpartition("</think>")[2].strip()
        if not said or said.startswith("<think>"):
            raise ItemError("the reply is a thought without an answer: -o max_tokens=N allows a longer one")
        return Prediction(snippet.id, answer=said)


def _as_typed(message: str) -> str:
    """A message of the web machinery with `--max-tokens N` in place of `-o max_tokens=N`."""
    return _OPTION.sub(lambda option: f"--{option[1].replace('_', '-')}{option[2] or ' '}", message)
