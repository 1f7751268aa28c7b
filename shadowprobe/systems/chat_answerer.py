"""A chat model that answers prompts in plain text, and questions about documents on namesakes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from shadowprobe.base.model import Failure, Prediction, Snippet
from shadowprobe.base.secrets import mask_url
from shadowprobe.dataset.knowledge import Knowledge
from shadowprobe.errors import ItemError, LinkerError
from shadowprobe.queries.ambigdocs_sets import AmbigSet
from shadowprobe.queries.document_order import DocumentOrder
from shadowprobe.queries.examples import Examples
from shadowprobe.systems.chat_linker import ChatLinker
from shadowprobe.systems.prompt_documents import number_documents
from shadowprobe.systems.service_client import Request

if TYPE_CHECKING:
    import httpx

# It does not say that the documents are on namesakes: whether a model notices is what is measured.
PROMPT = """\
Answer the question from the documents below and from nothing else.

{documents}

Question: {question}
Answer:"""
# With examples before it. An example has the same form, with its answer at the end.
PROMPT_WITH_EXAMPLES = """\
Answer each question from the documents above it and from nothing else. The first answers are examples.

{examples}

{documents}

Question: {question}
Answer:"""
EXAMPLE = """\
{documents}

Question: {question}
Answer: {answer}"""

_OPTION = re.compile(r"-o (\w+)=(`?)")


class Answer(Struct, frozen=True):
    """What a language model answered about a set."""

    id: str
    answer: str


def make_prompt(one: AmbigSet, order: DocumentOrder | None = None, examples: Examples | None = None) -> str:
    """The prompt for a set; the documents of examples are in the same order as those that are asked about."""
    order = order or DocumentOrder()
    documents = number_documents(order.arrange(one.id, one.documents))
    if examples is None or not examples.shots:
        return PROMPT.format(documents=documents, question=one.question)
    shown = "\n\n".join(_write_example(example, order) for example in examples.choose(one))
    return PROMPT_WITH_EXAMPLES.format(examples=shown, documents=documents, question=one.question)


def _write_example(one: AmbigSet, order: DocumentOrder) -> str:
    """A set with its complete answer: each document's own, after its title."""
    documents = order.arrange(one.id, one.documents)
    answer = " ".join(f"{document.title}: {document.answers[0]}." for document in documents)
    return EXAMPLE.format(documents=number_documents(documents), question=one.question, answer=answer)


class PromptAsker(ChatLinker):
    """A chat model with the machinery of web linkers behind it: each prompt goes out as a text without a mention."""

    def ask_prompts(self, prompts: Iterable[tuple[str, str]]) -> Iterator[list[Answer | Failure]]:
        """The answer to each prompt by its id, as the replies arrive; `concurrency` requests run in parallel."""
        for replies in self.link_each(Snippet(prompt_id, "all", text, 0, 0) for prompt_id, text in prompts):
            yield [reply if isinstance(reply, Failure) else Answer(reply.id, reply.answer or "") for reply in replies]

    def request(self, snippet: Snippet) -> Request:
        """The prompt as one user message."""
        return self.make_request(snippet.text)

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """The reply without the thoughts before it."""
        reply, _ = self.reply_of(response)
        # Some templates open the thought themselves, so that only its end is in the reply.
        answer = reply.rpartition("</think>")[2].strip()
        if not answer or answer.startswith("<think>"):
            raise ItemError("the reply is a thought without an answer: -o max_tokens=N allows a longer one")
        return Prediction(snippet.id, answer=answer)


class Asker(PromptAsker):
    """A chat model that is asked about sets of documents; its errors name options as `answer` has them."""

    def __init__(
        self,
        model: str,
        order: DocumentOrder | None = None,
        examples: Examples | None = None,
        max_tokens: int | None = 1024,
        **chat: Any,
    ) -> None:
        super().__init__(model, max_tokens=max_tokens, **chat)
        self.order, self.examples = order or DocumentOrder(), examples

    @property
    def described(self) -> dict[str, Any]:
        """The model as a run records it; what an earlier version did not have is there only if it is used."""
        options: dict[str, Any] = {"url": mask_url(self.url)}
        options |= {name: getattr(self, name) for name in ("temperature", "seed", "max_tokens")}
        options |= {"order_seed": self.order.seed} | {name: getattr(self, name) for name in sorted(self.incidental)}
        if self.order.order != "shuffled":
            options["order"] = self.order.order
        if self.examples is None or not self.examples.shots:
            return {"name": self.model, "options": options, "prompt": PROMPT}
        options |= {"shots": self.examples.shots, "shots_seed": self.examples.seed}
        described = {"name": self.model, "options": options, "prompt": PROMPT_WITH_EXAMPLES, "example": EXAMPLE}
        return described | ({"examples": self.examples.source} if self.examples.source is not None else {})

    @contextmanager
    def connect(self) -> Iterator[None]:
        """Connects to the model for the length of the block; an error names options as this command has them."""
        try:
            self.open(Knowledge({}, ()))
            try:
                yield
            finally:
                self.close()
        except LinkerError as error:
            raise LinkerError(_rename_options(str(error))) from error

    def ask(self, sets: Iterable[AmbigSet]) -> Iterator[list[Answer | Failure]]:
        """The answer to each set, as the replies arrive; `concurrency` requests run in parallel."""
        for replies in self.ask_prompts((one.id, make_prompt(one, self.order, self.examples)) for one in sets):
            yield [
                Failure(reply.id, _rename_options(reply.error)) if isinstance(reply, Failure) else reply
                for reply in replies
            ]


def _rename_options(message: str) -> str:
    """A message of the web machinery with `--max-tokens N` in place of `-o max_tokens=N`."""
    return _OPTION.sub(lambda option: f"--{option[1].replace('_', '-')}{option[2] or ' '}", message)
