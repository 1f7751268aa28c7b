"""A chat model at any endpoint with OpenAI's protocol."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from shadowprobe import Entity, ItemError, Prediction, Request, Snippet
from shadowprobe.base.identity import is_nil, normalise_title
from shadowprobe.systems.chat_linker import ChatLinker

from ._shared.choices import list_choices, note_missing_descriptions, skip_without_choices
from ._shared.prompts import (
    ReplyValue,
    cut_to_number,
    find_plain,
    find_value,
    make_closed_prompt,
    make_open_prompt,
    make_schema,
    parse_choice,
    quote_reply,
)
from ._shared.reply_tokens import Token, compute_probability, decode_tokens, find_tokens, read_probabilities

if TYPE_CHECKING:
    import httpx

# The largest number of alternatives that OpenAI, vLLM and Ollama give for a token.
MOST_ALTERNATIVES = 20
# Up to this number there is one digit, and so one token in every vocabulary.
ONE_DIGIT = 9
# How many tokens a reply may have. A number in JSON has about 8 in most vocabularies, and about 15 inside of a code
# block. A title may be long, and thoughts are longer than both.
NUMBER_TOKENS, TITLE_TOKENS, THOUGHT_TOKENS = 32, 512, 4096
# A server that does not know JSON schemas says so with one of these.
SCHEMA_REFUSALS = frozenset({400, 415, 422, 500, 501})


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

    In closed mode a reply ends with its first JSON object, and may have 32 tokens (`max_tokens=auto`). A model that
    thinks before it answers needs `reasoning=true`: its reply may have 4096 tokens, and the last JSON object counts.
    A server that refuses `json=schema` is asked with `json=object` instead, and a note says so. `seed`, `temperature`
    and `max_tokens` are not sent when `none`, and `response_format` not with `json=none`, because some hosted models
    refuse them. A token in SHADOWPROBE_LLM_TOKEN is sent as `Authorization: Bearer`; local servers need none.
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
        "reasoning": "true for a model that thinks before it answers",
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
        max_tokens: int | Literal["auto"] | None = "auto",
        reasoning: bool = False,
        timeout: float = 120.0,
        **web: Any,
    ) -> None:
        if choices < 1:
            raise ValueError("choices must be at least 1")
        super().__init__(model, temperature, seed, max_tokens, timeout, **web)
        self.mode, self.language = mode, language
        self.choices, self.descriptions = choices, descriptions
        self.json, self.logprobs, self.reasoning = json, logprobs, reasoning
        self._answered = self._scored = self._graded = False
        # What the server said when it refused a JSON schema.
        self._schema_refusal = ""

    def setup(self) -> None:
        """Adds a note if descriptions are missing."""
        super().setup()
        if self.mode == "closed" and self.descriptions:
            note_missing_descriptions(self)

    @property
    def longest_reply(self) -> int | None:
        """The number of tokens that a reply may have: as few as an answer needs, unless the user sets it."""
        if self.max_tokens != "auto":
            return self.max_tokens
        if self.reasoning:
            return THOUGHT_TOKENS
        return NUMBER_TOKENS if self.mode == "closed" else TITLE_TOKENS

    def answer_without_request(self, snippet: Snippet) -> Prediction | None:
        """Skips a mention that has no candidates to choose from."""
        return skip_without_choices(self, snippet) if self.mode == "closed" else None

    def outgoing(self, snippet: Snippet) -> str:
        """Returns the prompt; empty if there is no choice to show."""
        if self.mode == "open":
            return make_open_prompt(snippet, self.language)
        choices = self._list_choices(snippet)
        return make_closed_prompt(snippet, choices, descriptions=self.descriptions) if choices else ""

    def request(self, snippet: Snippet) -> Request:
        """Sends one user message; settings that are not given are not sent."""
        # The only object of the answer ends with the first brace. A thought may have one too.
        fields: dict[str, Any] = {"stop": ["}"]} if self.mode == "closed" and not self.reasoning else {}
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
        return self.make_request(self.outgoing(snippet), **fields)

    def adapt(self, request: Request, response: httpx.Response | None = None) -> Request:
        """Asks for any JSON object once the server has refused a JSON schema, and never for a schema again."""
        if self.json != "schema":
            return request
        # A server that has answered before knows schemas, and refuses something else.
        if response is not None and not self.is_reached and response.status_code in SCHEMA_REFUSALS:
            self._schema_refusal = f"{response.status_code} {response.reason_phrase}"
        if not self._schema_refusal:
            return request
        return request._replace(json=request.json | {"response_format": {"type": "json_object"}})

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """Reads the number or title in the reply, with its probability."""
        if self._schema_refusal:
            self.note(f"the server refused json=schema ({self._schema_refusal}): json=object was sent instead")
        reply, choice = self.reply_of(response, may_be_cut=self.mode == "closed")
        tokens = decode_tokens(choice.logprobs)
        if self.mode == "closed":
            prediction = self._read_choice(snippet, reply, tokens, is_cut=choice.is_cut)
        else:
            prediction = self._read_title(snippet, reply, tokens)
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

    def _read_choice(self, snippet: Snippet, reply: str, tokens: list[Token], *, is_cut: bool) -> Prediction:
        choices = self._list_choices(snippet)
        answer = self._find_answer(reply, choices, is_cut=is_cut)
        number = parse_choice(answer.value, choices)
        if number is None:
            raise ItemError(f"the reply names none of the choices 0 to {len(choices)}: {quote_reply(reply)}")
        inside = find_tokens(cut_to_number(answer, number, reply), reply, tokens)
        probabilities = read_probabilities(inside[0]) if len(inside) == 1 and len(choices) <= ONE_DIGIT else {}
        total = compute_probability(math.fsum(token.logprob for token in inside)) if inside else None
        score = probabilities.get(number, total)
        if number == 0:
            return self.nil(snippet, score)
        ranked = [(entity, probabilities.get(place)) for place, entity in enumerate(choices, start=1)]
        ranked.sort(key=lambda pair: -1.0 if pair[1] is None else pair[1], reverse=True)
        return self.answer(snippet, choices[number - 1], score, ranked)

    def _find_answer(self, reply: str, choices: list[Entity], *, is_cut: bool) -> ReplyValue:
        """Finds the answer in JSON, or the plain number or words of a choice; of a reply that was cut, only a whole."""
        plain = find_plain(reply)
        if not is_cut and parse_choice(plain.value, choices) is not None:
            return plain
        try:
            answer = find_value(reply, "answer", first=not self.reasoning)
        except ItemError as error:
            # A bare word is no JSON, and more tokens would not change that.
            is_invalid = re.search(r'"answer"\s*:\s*[A-Za-z]', reply)
            raise ItemError(self._quote_cut(reply)) if is_cut and not is_invalid else error from None
        # Another digit could have followed.
        if is_cut and answer.end == len(reply):
            raise ItemError(self._quote_cut(reply))
        return answer

    def describe_cut(self) -> str:
        """What is wrong with a reply that was cut off, and what to type."""
        thinks = "" if self.reasoning else ", or add -o reasoning=true if the model thinks before it answers"
        return f"{super().describe_cut()}{thinks}"

    def _quote_cut(self, reply: str) -> str:
        """The same with the beginning of the reply, which shows whether more tokens would help."""
        return f"{self.describe_cut()}: {quote_reply(reply)}"

    def _read_title(self, snippet: Snippet, reply: str, tokens: list[Token]) -> Prediction:
        answer = find_value(reply, "title")
        inside = find_tokens(answer, reply, tokens)
        score = compute_probability(math.fsum(token.logprob for token in inside) / len(inside)) if inside else None
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
        return list_choices(self, snippet, self.choices)

    def advice(self) -> list[tuple[str, str]]:
        """Lists what to type if the server refuses a field."""
        refused = {self.json, "object"} if self._schema_refusal else {self.json}
        others = " or ".join(f"-o json={kind}" for kind in ("object", "schema", "none") if kind not in refused)
        return [
            (r"response_format|json_schema|json_object", f"add {others}"),
            (r"\bstop\b", "add -o reasoning=true"),
            (r"logprobs", "add -o logprobs=false; the answers then have no scores"),
            *super().advice(),
        ]
