"""A chat model at any endpoint with OpenAI's protocol."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta, Struct, field

from shadowprobe import Entity, ItemError, Prediction, Request, Snippet
from shadowprobe.base.identity import is_nil, normalise_title
from shadowprobe.systems.chat_linker import ChatLinker

from ._shared.prompts import (
    ReplyValue,
    cut_to_number,
    find_value,
    make_closed_prompt,
    make_open_prompt,
    make_schema,
    parse_choice,
    quote_reply,
    shuffle_choices,
)

if TYPE_CHECKING:
    import httpx

# The largest number of alternatives that OpenAI, vLLM and Ollama give for a token.
MOST_ALTERNATIVES = 20
# Up to this number there is one digit, and so one token in every vocabulary.
ONE_DIGIT = 9
# Characters that may be in the same token as a number, in JSON.
AROUND = " \t\r\n\"'{}:,"

# The limits of a log-probability: rounding may make it slightly larger than 0, and some servers use a very low number
# for "never".
LEAST, SLACK = -1e100, 1e-3


class Token(Struct):
    """A token and its log-probability; a token may be part of a character, which only its bytes show."""

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
    """A chat model on vLLM, llama.cpp, Ollama or a hosted service; asked for a choice or for a Wikipedia title.

    `mode=closed` shows the candidates of the dataset with their descriptions, in a random order for each text, and
    asks for a number; 0 is NIL. A mention without candidates is skipped without a request. Of more than `choices`
    candidates only the most common are shown. `mode=open` asks for the title of an article; null is NIL. Any other
    reply is a failure. Each request has one mention in one user message, for templates without a system role.

    If the server gives log-probabilities, answers have scores. In closed mode the score is the probability of the
    number; with up to nine choices the candidates are ranked by the probabilities of their numbers. In open mode it is
    the geometric mean of the probabilities of the title's tokens. Both come from the model and are not calibrated. The
    server decides whether they are computed before or after its sampling filters.

    `seed`, `temperature` and `max_tokens` are not sent when `none`, and `response_format` not with `json=none`, because
    some hosted models refuse them. A model that reasons needs far more than the default `max_tokens`. A token in
    SHADOWPROBE_LLM_TOKEN is sent as `Authorization: Bearer`; local servers need none.
    """

    name = "llm"
    needs = "the URL of a chat endpoint: -o url=http://HOST:PORT/v1 -o model=NAME"
    howto = (
        "ollama serve\n"
        "ollama pull MODEL\n"
        "shadowprobe check --linker llm -o url=http://localhost:11434/v1 -o model=MODEL"
    )
    option_help: ClassVar[dict[str, str]] = {
        "mode": "closed: choose among the candidates; open: write the title",
        "choices": "the largest number of candidates that are shown",
        "descriptions": "whether candidates are shown with their descriptions",
        "language": "the language of the Wikipedia, in English",
        "json": "how JSON is asked for: response_format object, schema or none",
        "logprobs": "whether log-probabilities are asked for, which become scores",
    }

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
        if choices < 1:
            raise ValueError("choices must be at least 1")
        super().__init__(model, temperature, seed, max_tokens, timeout, **web)
        self.mode, self.language = mode, language
        self.choices, self.descriptions = choices, descriptions
        self.json, self.logprobs = json, logprobs
        self._answered = self._scored = self._graded = False

    def setup(self) -> None:
        """Adds a note if descriptions are missing."""
        super().setup()
        missing = self.knowledge.without_description
        if self.mode == "closed" and self.descriptions and missing:
            self.note(f"{missing} of {len(self.knowledge)} entities have no description and are shown by their title")

    def answer_without_request(self, snippet: Snippet) -> Prediction | None:
        """Skips a mention that has no candidates to choose from."""
        if self.mode == "open" or self.knowledge.candidates_of(snippet):
            return None
        self.note("a mention without candidates in the dataset is skipped without a request")
        return self.skip(snippet)

    def outgoing(self, snippet: Snippet) -> str:
        """Returns the prompt; empty if there is no choice to show."""
        if self.mode == "open":
            return make_open_prompt(snippet, self.language)
        choices = self._list_choices(snippet)
        return make_closed_prompt(snippet, choices, descriptions=self.descriptions) if choices else ""

    def request(self, snippet: Snippet) -> Request:
        """Sends one user message; settings that are not given are not sent."""
        fields: dict[str, Any] = {}
        shown = len(self._list_choices(snippet)) if self.mode == "closed" else 0
        if self.json == "object":
            fields["response_format"] = {"type": "json_object"}
        elif self.json == "schema":
            schema = make_schema(shown if self.mode == "closed" else None)
            named_schema = {"name": "answer", "strict": True, "schema": schema}
            fields["response_format"] = {"type": "json_schema", "json_schema": named_schema}
        if self.logprobs:
            # Never 0, which means no log-probabilities for llama.cpp, and not more than needed, because some hosts
            # allow 5 only.
            alternatives = min(MOST_ALTERNATIVES, max(5, shown + 1)) if shown else 1
            fields |= {"logprobs": True, "top_logprobs": alternatives}
        return self.post(self.outgoing(snippet), **fields)

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """Reads the number or title in the reply, with its probability."""
        reply, choice = self.reply_of(response)
        tokens = _decode_tokens(choice.logprobs)
        read_reply = self._read_choice if self.mode == "closed" else self._read_title
        prediction = read_reply(snippet, reply, tokens)
        self._answered, self._scored = True, self._scored or prediction.score is not None
        self._graded = self._graded or 0 < (prediction.score or 0) < 1
        return prediction

    def close(self) -> None:
        """Adds a note if there are no scores, or only scores without information."""
        super().close()
        if self.logprobs and self._answered and not self._scored:
            self.note("the server gave no log-probabilities that fit its replies: the answers have no scores")
        # At temperature 0 the chosen token has probability 1 on a server that reports after sampling.
        if self._scored and not self._graded:
            self.note("every score of this run is exactly 0 or 1 and says nothing")

    def _read_choice(self, snippet: Snippet, reply: str, tokens: list[Token]) -> Prediction:
        choices = self._list_choices(snippet)
        answer = find_value(reply, "answer")
        number = parse_choice(answer.value, choices)
        if number is None:
            raise ItemError(f"the reply names none of the choices 0 to {len(choices)}: {quote_reply(reply)}")
        inside = _find_tokens(cut_to_number(answer, number, reply), reply, tokens)
        probabilities = _read_probabilities(inside[0]) if len(inside) == 1 and len(choices) <= ONE_DIGIT else {}
        total = _compute_probability(math.fsum(token.logprob for token in inside)) if inside else None
        score = probabilities.get(number, total)
        if number == 0:
            return self.nil(snippet, score)
        ranked = [(entity, probabilities.get(place)) for place, entity in enumerate(choices, start=1)]
        ranked.sort(key=lambda pair: -1.0 if pair[1] is None else pair[1], reverse=True)
        return self.answer(snippet, choices[number - 1], score, ranked)

    def _read_title(self, snippet: Snippet, reply: str, tokens: list[Token]) -> Prediction:
        answer = find_value(reply, "title")
        inside = _find_tokens(answer, reply, tokens)
        score = _compute_probability(math.fsum(token.logprob for token in inside) / len(inside)) if inside else None
        title = answer.value
        # A title such as 1984 may be a number.
        if isinstance(title, int) and not isinstance(title, bool):
            title = str(title)
        if title is None or (isinstance(title, str) and is_nil(title)):
            return self.nil(snippet, score)
        if not isinstance(title, str) or not normalise_title(title):
            raise ItemError(f"the reply holds no title: {quote_reply(reply)}")
        return self.answer(snippet, title, score)

    def _list_choices(self, snippet: Snippet) -> list[Entity]:
        """Lists the candidates in the order of their numbers in the prompt."""
        known = self.knowledge.candidates_of(snippet)
        if len(known) > self.choices:
            self.note(f"of more than {self.choices} candidates only the most common are shown: -o choices=N shows more")
        return shuffle_choices(snippet, known[: self.choices])

    def advice(self) -> list[tuple[str, str]]:
        """Lists what to type if the server refuses a field."""
        others = " or ".join(f"-o json={kind}" for kind in ("object", "schema", "none") if kind != self.json)
        return [
            (r"response_format|json_schema|json_object", f"add {others}"),
            (r"logprobs", "add -o logprobs=false; the answers then have no scores"),
            *super().advice(),
        ]


def _decode_tokens(logprobs: msgspec.Raw) -> list[Token]:
    """Returns the tokens of a reply with their log-probabilities; none if they are missing or invalid."""
    try:
        decoded = msgspec.json.decode(logprobs, type=Logprobs | None)
    except (msgspec.DecodeError, ValueError):
        return []
    return (decoded.content or []) if decoded is not None else []


def _find_tokens(value: ReplyValue, reply: str, tokens: list[Token]) -> list[Token]:
    """Returns the tokens of a value in a reply."""
    whole = b"".join(token.raw for token in tokens)
    # The tokens may contain more than the reply: the reasoning before it, and an end mark.
    begin = whole.rfind(reply.encode())
    if begin < 0:
        return []
    start, end = (begin + len(reply[:place].encode()) for place in (value.start, value.end))
    inside, place = [], 0
    for token in tokens:
        if place < end and place + len(token.raw) > start:
            inside.append(token)
        place += len(token.raw)
    return inside


def _read_probabilities(token: Token) -> dict[int, float]:
    """Returns the probability of each number at the position of a token."""
    alternatives = {other.raw: other for other in [*(token.top_logprobs or []), token]}
    by_number: dict[int, list[float]] = {}
    for raw, other in alternatives.items():
        text = raw.decode("utf-8", "replace").strip(AROUND)
        if re.fullmatch("[0-9]", text):
            by_number.setdefault(int(text), []).append(math.exp(other.logprob))
    totals = {number: math.fsum(parts) for number, parts in by_number.items()}
    return {number: _compute_probability(math.log(total)) for number, total in totals.items() if total > 0}


def _compute_probability(logprob: float) -> float:
    """Returns a probability without the digits that depend on the server's other work."""
    return round(min(1.0, math.exp(logprob)), 6)
