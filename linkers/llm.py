"""A chat model behind any endpoint that speaks OpenAI's protocol."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

from shadowprobe import Entity, Failure, ItemError, Prediction, Request, Snippet
from shadowprobe.chat import ChatLinker
from shadowprobe.identity import is_nil, normalise_title

from .prompts import (
    Value,
    beginning,
    choice_number,
    closed_prompt,
    closed_schema,
    number_within,
    open_prompt,
    open_schema,
    shuffled,
    value_of,
)

if TYPE_CHECKING:
    import httpx

# The most alternatives that OpenAI, vLLM and Ollama give for a token.
MOST_ALTERNATIVES = 20
# Up to here a number is one digit, and so one token in every vocabulary.
ONE_DIGIT = 9
# What may stand beside a number in one token, in JSON.
AROUND = " \t\r\n\"'{}:,"

# Rounding may put the logarithm of 1 a little above 0, and a mark for "never" stands far below; nothing lies beyond.
LEAST, SLACK = -1e100, 1e-3


class Token(Struct):
    """A token and its log-probability; a token may be part of a character, and only its bytes tell which."""

    token: str
    logprob: Annotated[float, Meta(ge=LEAST, le=SLACK)]
    octets: list[Annotated[int, Meta(ge=0, le=255)]] | None = field(name="bytes", default=None)
    top_logprobs: list[Token] | None = None

    @property
    def raw(self) -> bytes:
        """The bytes that it adds to the reply."""
        return bytes(self.octets) if self.octets is not None else self.token.encode("utf-8", "replace")


class Logprobs(Struct):
    """The tokens of a reply."""

    content: list[Token] | None = None


class LlmLinker(ChatLinker):
    """A chat model by vLLM, llama.cpp, Ollama or a hosted service; asked for a choice or for a Wikipedia title.

    `mode=closed` shows the candidates of the dataset with their descriptions, in an order drawn for each text, and
    asks for a number, 0 being NIL; a mention without candidates is not asked about and is skipped. Of more than
    `choices` candidates only the most common are shown. `mode=open` asks for the title of an article, null being NIL.
    A reply that says neither is a failure. One mention a request, as one user message, for templates without a system
    role.

    Scores, where the server gives log-probabilities: closed, the probability of the number, and with up to nine
    choices that of each other number too, by which the candidates are ranked; open, the geometric mean of the
    probabilities of the title's tokens. Both are the model's own and not calibrated; whether they are those before or
    after the server's sampling filters is the server's affair.

    `seed`, `temperature` and `max_tokens` are not sent when `none`, `response_format` not with `json=none`; some hosted
    models refuse one or the other. A model that reasons needs far more than the default `max_tokens`. A token in
    SHADOWPROBE_LLM_TOKEN is sent as `Authorization: Bearer`; local servers want none.
    """

    name = "llm"
    needs = "the URL of a chat endpoint: -o url=http://HOST:PORT/v1 -o model=NAME"
    howto = (
        "ollama serve\n"
        "ollama pull MODEL\n"
        "shadowprobe check --linker llm -o url=http://localhost:11434/v1 -o model=MODEL"
    )

    def __init__(
        self,
        model: str,
        mode: Literal["closed", "open"] = "closed",
        choices: int = 20,
        descriptions: bool = True,
        language: str = "English",
        json: Literal["object", "schema", "none"] = "object",
        logprobs: bool = True,
        temperature: float | None = 0.0,
        seed: int | None = 0,
        max_tokens: int | None = 512,
        timeout: float = 120.0,
        **web: Any,
    ) -> None:
        if choices < 1 or (max_tokens is not None and max_tokens < 1):
            raise ValueError("choices and max_tokens must be at least 1")
        super().__init__(model, temperature, seed, max_tokens, timeout, **web)
        self.mode, self.language = mode, language
        self.choices, self.descriptions = choices, descriptions
        self.json, self.logprobs = json, logprobs
        self._answered = self._scored = self._graded = False

    def setup(self) -> None:
        """Says where the model is shown less than there is."""
        super().setup()
        missing = self.knowledge.without_description
        if self.mode == "closed" and self.descriptions and missing:
            self.note(f"{missing} of {len(self.knowledge)} entities have no description and are shown by their title")

    def link(self, snippets: list[Snippet]) -> list[Prediction | Failure]:
        """Asks for every mention that there is something to ask about."""
        idle = [s for s in snippets if self.mode == "closed" and not self.knowledge.candidates_of(s)]
        if idle:
            self.note("a mention without candidates in the dataset is not asked about, and is skipped")
        skipped = {snippet.id for snippet in idle}
        asked = super().link([snippet for snippet in snippets if snippet.id not in skipped])
        return [*asked, *(self.skip(snippet) for snippet in idle)]

    def outgoing(self, snippet: Snippet) -> str:
        """The prompt; nothing where there is no choice to be shown."""
        if self.mode == "open":
            return open_prompt(snippet, self.language)
        choices = self._shown_choices(snippet)
        return closed_prompt(snippet, choices, descriptions=self.descriptions) if choices else ""

    def request(self, snippet: Snippet) -> Request:
        """One user message; what is not set is not sent."""
        asked: dict[str, Any] = {}
        shown = len(self._shown_choices(snippet)) if self.mode == "closed" else 0
        if self.json == "object":
            asked["response_format"] = {"type": "json_object"}
        elif self.json == "schema":
            schema = closed_schema(shown) if self.mode == "closed" else open_schema()
            wanted = {"name": "answer", "strict": True, "schema": schema}
            asked["response_format"] = {"type": "json_schema", "json_schema": wanted}
        if self.logprobs:
            # Never 0, which llama.cpp takes for no log-probabilities at all, and no more than needed: some hosts stop
            # at 5.
            alternatives = min(MOST_ALTERNATIVES, max(5, shown + 1)) if shown else 1
            asked |= {"logprobs": True, "top_logprobs": alternatives}
        return self.post(self.outgoing(snippet), **asked)

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """The number or title in the reply, with its probability."""
        reply, choice = self.reply_of(response)
        tokens = _tokens(choice.logprobs)
        prediction = (self._closed if self.mode == "closed" else self._open)(snippet, reply, tokens)
        self._answered, self._scored = True, self._scored or prediction.score is not None
        self._graded = self._graded or 0 < (prediction.score or 0) < 1
        return prediction

    def close(self) -> None:
        """Says so where scores were asked for and none came, or none that says anything."""
        super().close()
        if self.logprobs and self._answered and not self._scored:
            self.note("the server gave no log-probabilities that fit its replies: the answers have no scores")
        # At temperature 0 the token that was chosen is certain, for a server that samples before it reports.
        if self._scored and not self._graded:
            self.note("every score of this run is exactly 0 or 1 and says nothing")

    def _closed(self, snippet: Snippet, reply: str, tokens: list[Token]) -> Prediction:
        choices = self._shown_choices(snippet)
        found = value_of(reply, "answer")
        number = choice_number(found.value, choices)
        if number is None:
            raise ItemError(f"the reply names none of the choices 0 to {len(choices)}: {beginning(reply)}")
        inside = _tokens_of(number_within(found, number, reply), reply, tokens)
        probabilities = _by_number(inside[0]) if len(inside) == 1 and len(choices) <= ONE_DIGIT else {}
        score = probabilities.get(number, _rounded(math.fsum(token.logprob for token in inside)) if inside else None)
        if number == 0:
            return self.nil(snippet, score)
        ranked = [(entity, probabilities.get(place)) for place, entity in enumerate(choices, start=1)]
        ranked.sort(key=lambda pair: -1.0 if pair[1] is None else pair[1], reverse=True)
        return self.answer(snippet, choices[number - 1], score, ranked)

    def _open(self, snippet: Snippet, reply: str, tokens: list[Token]) -> Prediction:
        found = value_of(reply, "title")
        inside = _tokens_of(found, reply, tokens)
        score = _rounded(math.fsum(token.logprob for token in inside) / len(inside)) if inside else None
        title = found.value
        # A title such as 1984 may come as a number.
        if isinstance(title, int) and not isinstance(title, bool):
            title = str(title)
        if title is None or (isinstance(title, str) and is_nil(title)):
            return self.nil(snippet, score)
        if not isinstance(title, str) or not normalise_title(title):
            raise ItemError(f"the reply holds no title: {beginning(reply)}")
        return self.answer(snippet, title, score)

    def _shown_choices(self, snippet: Snippet) -> list[Entity]:
        """The candidates as they are numbered in the prompt."""
        known = self.knowledge.candidates_of(snippet)
        if len(known) > self.choices:
            self.note(f"of more than {self.choices} candidates only the most common are shown: -o choices=N shows more")
        return shuffled(snippet, known[: self.choices])

    def advice(self) -> list[tuple[str, str]]:
        """What to type when the server refuses a field."""
        others = " or ".join(f"-o json={kind}" for kind in ("object", "schema", "none") if kind != self.json)
        return [
            (r"response_format|json_schema|json_object", f"add {others}"),
            (r"logprobs", "add -o logprobs=false; the answers then have no scores"),
            *super().advice(),
        ]


def _tokens(logprobs: msgspec.Raw) -> list[Token]:
    """The tokens of a reply with their log-probabilities, or none where they are odd, of another shape or missing."""
    try:
        found = msgspec.json.decode(logprobs, type=Logprobs | None)
    except (msgspec.DecodeError, ValueError):
        return []
    return (found.content or []) if found is not None else []


def _tokens_of(found: Value, reply: str, tokens: list[Token]) -> list[Token]:
    """The tokens that make up a value of a reply."""
    whole = b"".join(token.raw for token in tokens)
    # The tokens may hold more than the reply: the reasoning before it, and a mark of the end.
    begin = whole.rfind(reply.encode())
    if begin < 0:
        return []
    start, end = (begin + len(reply[:place].encode()) for place in (found.start, found.end))
    inside, place = [], 0
    for token in tokens:
        if place < end and place + len(token.raw) > start:
            inside.append(token)
        place += len(token.raw)
    return inside


def _by_number(token: Token) -> dict[int, float]:
    """The probability of each number that could have stood in the place of a token."""
    rivals = {rival.raw: rival for rival in [*(token.top_logprobs or []), token]}
    found: dict[int, list[float]] = {}
    for raw, rival in rivals.items():
        text = raw.decode("utf-8", "replace").strip(AROUND)
        if re.fullmatch("[0-9]", text):
            found.setdefault(int(text), []).append(math.exp(rival.logprob))
    return {number: _rounded(math.log(total)) for number, shares in found.items() if (total := math.fsum(shares)) > 0}


def _rounded(logprob: float) -> float:
    """A probability, without the digits that depend on what else the server computed at the time."""
    return round(min(1.0, math.exp(logprob)), 6)
