"""A decision model: it returns a probability for every option of a question, and writes no text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from shadowprobe import Entity, Prediction, Request, Snippet
from shadowprobe.systems.linker import as_candidate
from shadowprobe.systems.model_linker import ModelLinker

from ._shared.choices import list_choices, note_missing_descriptions, shorten_description, skip_without_choices
from ._shared.decision_protocols import PROTOCOLS, Option, Question
from ._shared.position_effect import PositionEffect
from ._shared.prompts import NONE, mark_mention
from ._shared.ranking import random_order, rank

if TYPE_CHECKING:
    import httpx

INSTRUCTIONS = "What does the marked mention refer to in this text? It stands between <{tag}> and </{tag}>."
# The most options of a question and questions of a request that any documented server takes.
MOST_OPTIONS, MOST_QUESTIONS = 255, 64
# A probability below it is taken for it, since the logarithm of 0 is no number.
LEAST_PROBABILITY = 1e-9


class DecisionsLinker(ModelLinker):
    """A decision model (System One or OpenAI's Decisions API): a probability for each candidate, and for NIL.

    The options are the dataset's candidates with their descriptions, and `None of these`, which is NIL. Each text is
    one request with `orders` questions: every second one has the options of the one before in the reverse order, since
    models prefer positions. The score of a candidate is the natural logarithm of its mean probability over the
    orders, of 1e-9 at least. NIL is the answer if its mean probability is the highest. A note says how much the
    position of an option matters.

    `protocol=systemone`: Jev, Fireworks, LiteLLM, Ollama, SGLang and `transformers serve`; `protocol=openai`: OpenAI
    and Fireworks. Of more than `choices` candidates only the most common are options: servers allow 26 to 255 options,
    NIL included. A mention without candidates is skipped without a request. A token in SHADOWPROBE_DECISIONS_TOKEN is
    sent as `Authorization: Bearer`; local servers need none.
    """

    name = "decisions"
    needs = "the URL of a decision model: -o url=http://HOST:PORT/v1 -o model=NAME"
    howto = (
        "pip install 'transformers[serving]'\n"
        "transformers serve MODEL\n"
        "shadowprobe check --linker decisions -o url=http://localhost:8000/v1 -o model=MODEL"
    )

    option_help: ClassVar[dict[str, str]] = {
        "model": "the model, as the server calls it",
        "protocol": "what the server speaks",
        "orders": "in how many orders the options are asked, in one request",
        "choices": "the largest number of candidates that are options",
        "descriptions": "whether candidates are shown with their descriptions",
    }

    def __init__(
        self,
        model: str,
        protocol: Literal["systemone", "openai"] = "systemone",
        orders: int = 2,
        choices: int = 20,
        descriptions: bool = True,
        timeout: float = 120.0,
        **web: Any,
    ) -> None:
        if not 1 <= choices < MOST_OPTIONS:
            raise ValueError(f"choices must be from 1 to {MOST_OPTIONS - 1}: with NIL no server takes more options")
        if not 1 <= orders <= MOST_QUESTIONS:
            raise ValueError(f"orders must be from 1 to {MOST_QUESTIONS}: no server takes more questions a request")
        super().__init__(model, timeout, **web)
        self.protocol, self.orders = protocol, orders
        self.choices, self.descriptions = choices, descriptions
        self._wire = PROTOCOLS[protocol]
        self.path = self._wire.path
        self._position = PositionEffect()

    def setup(self) -> None:
        """Adds a note if descriptions are missing."""
        super().setup()
        self._position = PositionEffect()
        if self.descriptions:
            note_missing_descriptions(self)

    def close(self) -> None:
        """Adds a note on the effect of the position of an option."""
        super().close()
        if self._position.questions:
            self.note(self._position.describe())

    def answer_without_request(self, snippet: Snippet) -> Prediction | None:
        """Skips a mention that has no candidates to choose from."""
        return skip_without_choices(self, snippet)

    def request(self, snippet: Snippet) -> Request:
        """Sends all orders of the options as questions of one request."""
        _, text = mark_mention(snippet)
        return self.post(self._wire.make_body(text, self._make_questions(snippet)))

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """Averages the probabilities of each option over the orders."""
        questions = self._make_questions(snippet)
        answers = self._wire.read_answers(response.content, questions)
        self._position.add(questions, answers)
        mean = {name: math.fsum(found[name] for found in answers) / len(answers) for name in answers[0]}
        scores = {name: math.log(max(LEAST_PROBABILITY, probability)) for name, probability in mean.items()}
        entities = list_choices(self, snippet, self.choices)
        ranking = rank(snippet, entities, [scores[entity.title] for entity in entities])
        nil = round(scores[name_nil(entities)], 6)
        if nil > ranking[0][1]:
            # The scores of the candidates stay: in a neutral context they are a part of the prior.
            return Prediction(snippet.id, status="nil", score=nil, candidates=tuple(map(as_candidate, ranking)))
        return self.ranked(snippet, ranking)

    def _make_questions(self, snippet: Snippet) -> list[Question]:
        """Makes a question for each order: random orders, and each of them reversed."""
        tag, _ = mark_mention(snippet)
        entities = list_choices(self, snippet, self.choices)
        options = [Option(each.title, shorten_description(each) if self.descriptions else "") for each in entities]
        options.append(Option(name_nil(entities), ""))
        questions = []
        for number in range(self.orders):
            draw = number // 2
            order = sorted(options, key=lambda option: random_order(snippet, f"{draw}\n{option.name}"))
            shown = order[::-1] if number % 2 else order
            questions.append(Question(f"order{number + 1}", INSTRUCTIONS.format(tag=tag), shown))
        return questions

    def advice(self) -> list[tuple[str, str]]:
        """Lists what to type if the server refuses the request."""
        other = "openai" if self.protocol == "systemone" else "systemone"
        return [
            (
                r"(?i)\boptions\b|\bcriteria\b.*\bat most\b|\bchoices\b.*\bat most\b",
                "add -o choices=N with a smaller N",
            ),
            (r"(?i)\bat most \d+ (items|questions)|too many questions", "add -o orders=N with a smaller N"),
            (r"(?i)field required|extra inputs|unknown field|unrecognized", f"add -o protocol={other}"),
        ]


def name_nil(entities: list[Entity]) -> str:
    """Returns the name of the option for NIL, which is not the title of an entity."""
    name, titles = NONE, {entity.title.casefold() for entity in entities}
    while name.casefold() in titles:
        name += "."
    return name
