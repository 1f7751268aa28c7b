"""A chat model behind an endpoint that speaks OpenAI's protocol: reads all documents in one prompt."""

from __future__ import annotations

from collections.abc import Sequence

from shadowprobe import Failure, Knowledge
from shadowprobe.retrieval import Query, Reader, ReaderQuery
from shadowprobe.systems.chat_answerer import PromptAsker
from shadowprobe.systems.prompt_documents import number_documents

from ._shared.reading_prompts import find_label, write_question

QUESTION = """\
Answer the question from the documents below and from nothing else, in as few words as possible.

{documents}

Question: {text}
Answer:"""
CLAIM = """\
Check the claim with the documents below and with nothing else. Answer with one word: {labels}.

{documents}

Claim: {text}
Answer:"""


class ChatReader(Reader):
    """Any chat model behind an OpenAI-compatible endpoint: vLLM, llama.cpp, Ollama, a hosted one.

    `model` as the endpoint calls it, and `url`, which ends in /v1 as a rule. `temperature`, `seed` and `max_tokens` are
    not sent when `none`. A token in SHADOWPROBE_LLM_TOKEN is sent; local servers want none. Of a reply to a claim, the
    one label in it counts; a reply with none or both is wrong.
    """

    name = "chat"
    needs = "a chat endpoint: -o url=http://HOST:PORT/v1 -o model=NAME"
    incidental = PromptAsker.incidental

    def __init__(
        self,
        model: str,
        url: str,
        temperature: float | None = 0.0,
        seed: int | None = 0,
        max_tokens: int | None = 256,
        concurrency: int = 8,
        rate: float = 0.0,
        timeout: float = 120.0,
        retries: int = 4,
    ) -> None:
        self.model, self.url = model, url
        self.temperature, self.seed, self.max_tokens = temperature, seed, max_tokens
        self.concurrency, self.rate, self.timeout, self.retries = concurrency, rate, timeout, retries
        self._asker = PromptAsker(
            model,
            url=url,
            temperature=temperature,
            seed=seed,
            max_tokens=max_tokens,
            concurrency=concurrency,
            rate=rate,
            timeout=timeout,
            retries=retries,
        )

    def setup(self) -> None:
        """Connects to the model."""
        self._asker.open(Knowledge({}, ()))

    def close(self) -> None:
        """Closes the connections."""
        self._asker.close()

    @property
    def status(self) -> str:
        """How often the model was asked again."""
        return self._asker.status

    def read(self, queries: Sequence[ReaderQuery]) -> list[str | Failure | None]:
        """The replies, of which those to claims become labels."""
        replies = self.write([Query(query.id, make_prompt(query)) for query in queries])
        return [_read_reply(query, reply) for query, reply in zip(queries, replies, strict=True)]

    def write(self, prompts: Sequence[Query]) -> list[str | Failure | None]:
        """The reply to each prompt."""
        replies: dict[str, str | Failure] = {}
        for part in self._asker.ask_prompts((prompt.id, prompt.text) for prompt in prompts):
            replies |= {reply.id: reply if isinstance(reply, Failure) else reply.answer for reply in part}
        return [replies.get(prompt.id) for prompt in prompts]


def make_prompt(query: ReaderQuery) -> str:
    """The prompt for a query: its documents in the order of the retriever, then the question or the claim."""
    template = CLAIM if query.labels else QUESTION
    labels, documents = " or ".join(query.labels), number_documents(query.documents)
    return template.format(labels=labels, documents=documents, text=write_question(query))


def _read_reply(query: ReaderQuery, reply: str | Failure | None) -> str | Failure | None:
    if query.labels and isinstance(reply, str):
        return find_label(reply, query.labels) or reply
    return reply
