"""GENRE: a BART that writes the title of the entity token by token, and can write none but those listed."""

from __future__ import annotations

import html
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from shadowprobe import Failure, InputError, ItemError, Linker, Prediction, Snippet, UsageError
from shadowprobe.errors import missing_extra
from shadowprobe.jsonl import open_for_reading

from .loading import loading
from .ranking import lot
from .trie import Trie

OPEN, CLOSE = "[START_ENT]", "[END_ENT]"
NIL = "NIL"
# Titles tokenized at a time: enough to keep the tokenizer busy, too few to be felt in memory.
CHUNK = 10_000


class Written(NamedTuple):
    """A title that the model wrote: the log-probability of its path, and how many tokens that has, the end included."""

    title: str
    log_prob: float
    tokens: int

    @property
    def mean(self) -> float:
        """The mean log-probability of a token, by which GENRE ranks."""
        return self.log_prob / self.tokens


class Question(NamedTuple):
    """A snippet as the model is asked about it: the tokens of its text, and the titles that may be written."""

    snippet: Snippet
    tokens: list[int]
    trie: Trie


def _beam_softmax(best: Written, beams: Sequence[Written]) -> float:
    return 1 / math.fsum(math.exp(min(other.log_prob - best.log_prob, 700.0)) for other in beams)


# The score of a title among all that were written.
SCORES: dict[str, Callable[[Written, Sequence[Written]], float]] = {
    "mean-log-prob": lambda title, _: title.mean,
    "exp-mean": lambda title, _: math.exp(title.mean),
    "path-prob": lambda title, _: math.exp(title.log_prob),
    "beam-softmax": _beam_softmax,
}
# Those that fall as the ranking does: the others favour short titles.
RANKING = {"mean-log-prob", "exp-mean"}


class GenreLinker(Linker):
    """GENRE: beam search for the title of the entity, over the dataset's candidates or `-o titles=FILE`.

    De Cao, Izacard, Riedel and Petroni: Autoregressive Entity Retrieval (ICLR 2021). The mention stands between
    markers, with at most `max_words` words around it. Without `titles`, one a line, it chooses between the entities
    that the dataset knows for the name; where there are none it says NIL, as GENRE's own evaluation does. With `titles`
    it says NIL only where `NIL` is one of them. It skips nothing, and gives as many candidates as there are beams.

    Titles are ranked by the mean log-probability of their tokens, whatever the score. `score` is that mean
    (`mean-log-prob`), its exponential in (0, 1] (`exp-mean`), the probability of the whole title (`path-prob`), or that
    as a share of all titles found (`beam-softmax`); the last two do not follow the ranking, and so only the answer has
    them. `-o precision=single` halves memory and time, but the last digits then depend on the batch.
    """

    name = "genre"
    needs = "pip install 'shadowprobe[genre]', and a model by name or path"
    howto = (
        "pip install 'shadowprobe[genre]'\n"
        "hf download facebook/genre-linking-blink --local-dir genre-linking-blink\n"
        "shadowprobe check --linker genre -o model=genre-linking-blink"
    )
    batch_size = 4

    def __init__(
        self,
        model: str = "facebook/genre-linking-blink",
        device: str = "cpu",
        titles: Path | None = None,
        beams: int = 10,
        max_words: int = 384,
        score: str = "exp-mean",
        precision: Literal["double", "single"] = "double",
    ) -> None:
        if score == "min-max":
            raise UsageError(
                "option `score`: min-max needs every score of a run before the first is written; take mean-log-prob,"
                " which orders all answers in the same way"
            )
        if score not in SCORES:
            raise UsageError(f"option `score`: {score!r} is not one of {', '.join(SCORES)}")
        for option, value, least in (("beams", beams, 1), ("max_words", max_words, 0)):
            if value < least:
                raise UsageError(f"{option} is {value}, and must be at least {least}")
        self.model, self.device, self.titles, self.beams = model, device, titles, beams
        self.max_words, self.score, self.precision = max_words, score, precision

    def setup(self) -> None:
        """Loads the model, and builds the tree of all titles where a file lists them."""
        try:
            import torch
            from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, GenerationConfig
        except ImportError as error:
            raise missing_extra("genre") from error
        with loading(self.name, self.model):
            self.tokenizer: Any = AutoTokenizer.from_pretrained(self.model)
            self.bart: Any = AutoModelForSeq2SeqLM.from_pretrained(self.model)
            self.bart.to(device=self.device, dtype=torch.float64 if self.precision == "double" else torch.float32)
        self.bart.eval()
        self.start, self.end = self.bart.config.decoder_start_token_id, self.tokenizer.eos_token_id
        self.positions = getattr(self.bart.config, "max_position_embeddings", sys.maxsize)
        # What comes with a BART forces a first token, forbids a trigram to come twice and cuts what is long: titles
        # would be out of reach. Nothing of it is left to be taken for a default.
        self.bart.generation_config = GenerationConfig.from_dict({})
        self.trie = Trie(self._listed(self.titles)) if self.titles else None
        if self.trie is not None and not len(self.trie):
            raise InputError(self.titles or "", "holds no title")

    def close(self) -> None:
        """Lets the model go."""
        del self.bart, self.tokenizer, self.trie

    def outgoing(self, snippet: Snippet) -> str:
        """The text with the mention between its markers."""
        return _marked(snippet, self.max_words)

    def link(self, snippets: list[Snippet]) -> list[Prediction | Failure]:
        """Writes titles for all the snippets that have any, together."""
        found: list[Prediction | Failure] = []
        questions: list[Question] = []
        for snippet in snippets:
            try:
                trie = self.trie or self._candidates(snippet)
                if trie is None:
                    found.append(self.nil(snippet))
                else:
                    questions.append(Question(snippet, self._tokens(snippet), trie))
            except ItemError as error:
                found.append(self.fail(snippet, str(error)))
        answers = self._write(questions) if questions else []
        return found + [self._prediction(q.snippet, written) for q, written in zip(questions, answers, strict=True)]

    def _prediction(self, snippet: Snippet, written: list[Written]) -> Prediction | Failure:
        if not written:
            # Probabilities that are no numbers lead the search out of every list.
            return self.fail(snippet, f"`{self.model}` wrote no title at all: its weights may be damaged")
        # Rounded before sorting, so that the last bits of a sum decide nothing.
        ranking = sorted(written, key=lambda title: (-_rounded(title.mean), lot(snippet, title.title)))
        best, *_ = ranking
        score = SCORES[self.score]
        if best.title == NIL:
            return self.nil(snippet, _rounded(score(best, ranking)))
        shown = [(t.title, _rounded(score(t, ranking)) if self.score in RANKING else None) for t in ranking]
        return self.answer(snippet, best.title, _rounded(score(best, ranking)), shown)

    def _tokens(self, snippet: Snippet) -> list[int]:
        """The tokens of the marked text, with fewer words around the mention where the model has no room for all."""
        words = self.max_words
        while True:
            # Not verbose: it would warn of every text that is too long.
            tokens: list[int] = self.tokenizer(_marked(snippet, words), verbose=False).input_ids
            if len(tokens) <= self.positions:
                return tokens
            if not words:
                raise ItemError(f"the mention alone has {len(tokens)} tokens, and the model reads {self.positions}")
            words = min(words, len(snippet.text.split(" "))) * 3 // 4

    def _candidates(self, snippet: Snippet) -> Trie | None:
        """The titles that the dataset knows for the name."""
        titles = [entity.title for entity in self.knowledge.candidates_of(snippet)]
        sequences = self._sequences(titles)
        for title, sequence in zip(titles, sequences, strict=True):
            if fault := self._fault(sequence):
                raise ItemError(f"the candidate {title!r} {fault}")
        return Trie(zip(titles, sequences, strict=True)) if titles else None

    def _listed(self, path: Path) -> Iterator[tuple[str, list[int]]]:
        """The titles of a file, and their tokens."""
        lines = _lines(path)
        while chunk := list(islice(lines, CHUNK)):
            for (number, title), sequence in zip(chunk, self._sequences([title for _, title in chunk]), strict=True):
                if fault := self._fault(sequence):
                    raise InputError(path, f"the title {fault}", line=number)
                yield title, sequence

    def _sequences(self, titles: list[str]) -> list[list[int]]:
        """The tokens of titles as the decoder writes them, after its start."""
        found = self.tokenizer(titles, add_special_tokens=False).input_ids if titles else []
        return [[*tokens, self.end] for tokens in found]

    def _fault(self, sequence: list[int]) -> str | None:
        if self.end in sequence[:-1]:
            return f"holds {self.tokenizer.eos_token}, with which the model ends every title"
        too_long = len(sequence) > self.positions
        return f"has {len(sequence)} tokens, and the model writes {self.positions}" if too_long else None

    def _write(self, questions: list[Question]) -> list[list[Written]]:
        """The titles that beam search finds for each question, in no order."""
        import torch
        from torch.nn.utils.rnn import pad_sequence
        from transformers.modeling_outputs import BaseModelOutput

        inputs = [torch.tensor(question.tokens, device=self.device) for question in questions]
        mask = pad_sequence([torch.ones_like(tokens) for tokens in inputs], batch_first=True)
        padded = pad_sequence(inputs, batch_first=True, padding_value=self.tokenizer.pad_token_id)
        with torch.inference_mode():
            states = self.bart.get_encoder()(input_ids=padded, attention_mask=mask).last_hidden_state
            beams = min(self.beams, max(len(question.trie) for question in questions))
            rows = self.bart.generate(
                encoder_outputs=BaseModelOutput(last_hidden_state=states),
                attention_mask=mask,
                prefix_allowed_tokens_fn=lambda number, row: self._allowed(questions[number].trie, row.tolist()),
                generation_config=self._search(beams, max(question.trie.depth for question in questions)),
            ).tolist()
            return [
                self._weighed(states[number, None, : len(question.tokens)], self._found(question.trie, own))
                for number, question in enumerate(questions)
                for own in [rows[number * beams : (number + 1) * beams]]
            ]

    def _search(self, beams: int, depth: int) -> Any:
        """How titles are searched for: by so many beams, to the end of the longest."""
        from transformers import GenerationConfig

        settings = {
            "num_beams": beams,
            "max_new_tokens": depth,
            "do_sample": False,
            "decoder_start_token_id": self.start,
            "eos_token_id": self.end,
            "pad_token_id": self.tokenizer.pad_token_id,
        }
        if beams > 1:
            # `never`: a longer title may still come to have the better mean.
            settings |= {"num_return_sequences": beams, "length_penalty": 1.0, "early_stopping": "never"}
        return GenerationConfig.from_dict(settings)

    def _allowed(self, trie: Trie, row: list[int]) -> list[int]:
        """What may follow; a beam that has ended, or never was one, must be given something and gets the end."""
        return trie.after(row[1:]) or [self.end]

    def _found(self, trie: Trie, rows: list[list[int]]) -> dict[str, list[int]]:
        """The titles among the rows of a search: with beams to spare, it pads with copies and with what is no title."""
        sequences = (row[1 : row.index(self.end, 1) + 1] for row in rows if self.end in row[1:])
        return {title: sequence for sequence in sequences if (title := trie.title(sequence)) is not None}

    def _weighed(self, states: Any, found: dict[str, list[int]]) -> list[Written]:
        """The titles with their log-probabilities, from one pass of the decoder over all of them.

        Not from the search: its scores are of single precision, and releases differ in the length they divide by.
        """
        import torch
        from torch.nn.utils.rnn import pad_sequence

        if not found:
            return []
        sequences = [torch.tensor(sequence, device=self.device) for sequence in found.values()]
        targets = pad_sequence(sequences, batch_first=True, padding_value=self.tokenizer.pad_token_id)
        given = torch.cat([torch.full_like(targets[:, :1], self.start), targets[:, :-1]], dim=1)
        logits = self.bart(encoder_outputs=(states.expand(len(found), -1, -1),), decoder_input_ids=given).logits
        log_probs = logits.log_softmax(-1).gather(-1, targets[:, :, None])[:, :, 0].tolist()
        return [
            Written(title, math.fsum(row[: len(sequence)]), len(sequence))
            for (title, sequence), row in zip(found.items(), log_probs, strict=True)
        ]


def _marked(snippet: Snippet, limit: int) -> str:
    """The text as GENRE was trained on it: markers with spaces around them, so many words, HTML entities undone."""
    before, after = snippet.text[: snippet.start].rstrip(), snippet.text[snippet.end :].lstrip()
    left, right = (part.split(" ") if part else [] for part in (before, after))
    # Half of the words on either side; what one side does not need is the other's.
    kept = min(len(left), max(limit // 2, limit - len(right)))
    left, right = left[len(left) - kept :], right[: limit - kept]
    parts = [html.unescape(part) for part in (" ".join(left), snippet.mention, " ".join(right))]
    if any(marker in part for marker in (OPEN, CLOSE) for part in parts):
        raise ItemError(f"the text itself holds {OPEN} or {CLOSE}, which the model would take for the mention's")
    return f"{parts[0]} {OPEN} {parts[1]} {CLOSE} {parts[2]}"


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, with their numbers."""
    with open_for_reading(path) as file:
        for number, raw in enumerate(file, start=1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise InputError(path, f"is not UTF-8 (byte {error.start}: {error.reason})", line=number) from None
            if line.strip():
                yield number, line


def _rounded(score: float) -> float:
    """Six digits, wherever the point is: the others depend on the batch."""
    return float(f"{score:.6g}")
