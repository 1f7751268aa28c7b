"""GENRE: a BART that generates the title of the entity token by token, and only titles from a list."""

from __future__ import annotations

import html
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from shadowprobe import Failure, InputError, ItemError, Linker, Prediction, Snippet, UsageError
from shadowprobe.errors import missing_extra
from shadowprobe.systems.hugging_face import handle_load_errors

from ._shared.ranking import random_order
from ._shared.title_file import read_title_tokens
from ._shared.trie import Trie

OPEN, CLOSE = "[START_ENT]", "[END_ENT]"
NIL = "NIL"


class GeneratedTitle(NamedTuple):
    """A title from the model: the log-probability of its path, and the number of its tokens with the end token."""

    title: str
    log_prob: float
    tokens: int

    @property
    def mean(self) -> float:
        """The mean log-probability of a token, by which GENRE ranks."""
        return self.log_prob / self.tokens


class ModelInput(NamedTuple):
    """A snippet as input of the model: the tokens of its text, and the allowed titles."""

    snippet: Snippet
    tokens: list[int]
    trie: Trie


def _beam_softmax(best: GeneratedTitle, beams: Sequence[GeneratedTitle]) -> float:
    return 1 / math.fsum(math.exp(min(other.log_prob - best.log_prob, 700.0)) for other in beams)


# The score of a title among all generated titles.
SCORES: dict[str, Callable[[GeneratedTitle, Sequence[GeneratedTitle]], float]] = {
    "mean-log-prob": lambda title, _: title.mean,
    "exp-mean": lambda title, _: math.exp(title.mean),
    "path-prob": lambda title, _: math.exp(title.log_prob),
    "beam-softmax": _beam_softmax,
}
# Scores with the same order as the ranking. The others favour short titles.
RANKING = {"mean-log-prob", "exp-mean"}


class GenreLinker(Linker):
    """GENRE: beam search for the title of the entity, over the dataset's candidates or `-o titles=FILE`.

    De Cao, Izacard, Riedel and Petroni: Autoregressive Entity Retrieval (ICLR 2021). The mention is between markers,
    with at most `max_words` words around it. Without `titles`, a file with one title per line, it chooses between the
    entities that the dataset knows for the name. If there are none it answers NIL, as GENRE's own evaluation does. With
    `titles` it answers NIL only if `NIL` is one of them. It skips nothing, and gives as many candidates as beams.
    Titles of more than `max_tokens` tokens are left out: GENRE's own evaluation writes at most 15.

    Titles are always ranked by the mean log-probability of their tokens. `score` is that mean (`mean-log-prob`), its
    exponential in (0, 1] (`exp-mean`), the probability of the whole title (`path-prob`), or that as a share of all
    generated titles (`beam-softmax`). The last two have another order than the ranking, and so only the answer has
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
    option_help: ClassVar[dict[str, str]] = {
        "model": "a GENRE model, by name or path",
        "device": "cpu, cuda, ...",
        "titles": "a file of all allowed titles, one per line; without it, the candidates of the dataset",
        "beams": "how many titles are searched side by side",
        "max_words": "the longest text, in words around the mention",
        "max_tokens": "the longest title, in tokens",
        "score": "the kind of score: exp-mean, mean-log-prob, path-prob or beam-softmax",
        "precision": "double makes scores independent of the batch",
    }

    def __init__(
        self,
        model: str = "facebook/genre-linking-blink",
        device: str = "cpu",
        titles: Path | None = None,
        beams: int = 10,
        max_words: int = 384,
        max_tokens: int = 15,
        score: str = "exp-mean",
        precision: Literal["double", "single"] = "double",
    ) -> None:
        if score == "min-max":
            raise UsageError(
                "option `score`: min-max needs every score of a run before the first is written; use mean-log-prob,"
                " which orders all answers in the same way"
            )
        if score not in SCORES:
            raise UsageError(f"option `score`: {score!r} is not one of {', '.join(SCORES)}")
        for option, value, least in (("beams", beams, 1), ("max_words", max_words, 0), ("max_tokens", max_tokens, 1)):
            if value < least:
                raise UsageError(f"{option} is {value}, and must be at least {least}")
        self.model, self.device, self.titles, self.beams = model, device, titles, beams
        self.max_words, self.max_tokens, self.score, self.precision = max_words, max_tokens, score, precision

    def setup(self) -> None:
        """Loads the model, and builds the tree of all titles if a file lists them."""
        try:
            import torch
            from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, GenerationConfig
        except ImportError as error:
            raise missing_extra("genre") from error
        with handle_load_errors(self.name, self.model):
            self.tokenizer: Any = AutoTokenizer.from_pretrained(self.model)
            self.bart: Any = AutoModelForSeq2SeqLM.from_pretrained(self.model)
            self.bart.to(device=self.device, dtype=torch.float64 if self.precision == "double" else torch.float32)
        self.start, self.end = self.bart.config.decoder_start_token_id, self.tokenizer.eos_token_id
        self.positions = getattr(self.bart.config, "max_position_embeddings", sys.maxsize)
        # BART's own settings force a first token, forbid repeated trigrams and limit the length: some titles could not
        # be generated. All of them are removed.
        self.bart.generation_config = GenerationConfig.from_dict({})
        self.trie = Trie(self._drop_long(self._read_titles(self.titles))) if self.titles else None
        if self.trie is not None and not len(self.trie):
            raise InputError(self.titles or "", "holds no title that is short enough")

    def close(self) -> None:
        """Frees the model."""
        del self.bart, self.tokenizer, self.trie

    def outgoing(self, snippet: Snippet) -> str:
        """Returns the text with the mention between its markers."""
        return _mark_mention(snippet, self.max_words)

    def link(self, snippets: list[Snippet]) -> list[Prediction | Failure]:
        """Generates titles for all snippets with candidates in one batch."""
        results: list[Prediction | Failure] = []
        inputs: list[ModelInput] = []
        for snippet in snippets:
            try:
                trie = self.trie or self._make_candidate_trie(snippet)
                if trie is None:
                    results.append(self.nil(snippet))
                else:
                    inputs.append(ModelInput(snippet, self._tokenize(snippet), trie))
            except ItemError as error:
                results.append(self.fail(snippet, str(error)))
        titles = self._generate(inputs) if inputs else []
        return results + [self._make_prediction(i.snippet, own) for i, own in zip(inputs, titles, strict=True)]

    def _make_prediction(self, snippet: Snippet, titles: list[GeneratedTitle]) -> Prediction | Failure:
        if not titles:
            # With probabilities that are not numbers, the search leaves the tree of titles.
            return self.fail(snippet, f"`{self.model}` wrote no title at all: its weights may be damaged")
        # Rounded before sorting, so that the last bits of a sum do not matter.
        ranking = sorted(titles, key=lambda title: (-_round(title.mean), random_order(snippet, title.title)))
        best, *_ = ranking
        score = SCORES[self.score]
        if best.title == NIL:
            return self.nil(snippet, _round(score(best, ranking)))
        shown = [(t.title, _round(score(t, ranking)) if self.score in RANKING else None) for t in ranking]
        return self.answer(snippet, best.title, _round(score(best, ranking)), shown)

    def _tokenize(self, snippet: Snippet) -> list[int]:
        """Returns the tokens of the marked text, with fewer words around the mention if it is too long."""
        words = self.max_words
        while True:
            # Not verbose, because it would warn for every text that is too long.
            tokens: list[int] = self.tokenizer(_mark_mention(snippet, words), verbose=False).input_ids
            if len(tokens) <= self.positions:
                return tokens
            if not words:
                raise ItemError(f"the mention alone has {len(tokens)} tokens, and the model reads {self.positions}")
            words = min(words, len(snippet.text.split(" "))) * 3 // 4

    def _make_candidate_trie(self, snippet: Snippet) -> Trie | None:
        """Builds the tree of the titles that the dataset knows for the name."""
        titles = [entity.title for entity in self.knowledge.candidates_of(snippet)]
        sequences = self._tokenize_titles(titles)
        for title, sequence in zip(titles, sequences, strict=True):
            if fault := self._find_fault(sequence):
                raise ItemError(f"the candidate {title!r} {fault}")
        kept = list(self._drop_long(zip(titles, sequences, strict=True)))
        return Trie(kept) if kept else None

    def _read_titles(self, path: Path) -> Iterator[tuple[str, list[int]]]:
        """Yields the titles of a file and their tokens."""
        for number, title, sequence in read_title_tokens(path, self._tokenize_titles):
            if fault := self._find_fault(sequence):
                raise InputError(path, f"the title {fault}", line=number)
            yield title, sequence

    def _tokenize_titles(self, titles: list[str]) -> list[list[int]]:
        """Returns the tokens of titles as the decoder writes them, without the start token."""
        sequences = self.tokenizer(titles, add_special_tokens=False).input_ids if titles else []
        return [[*tokens, self.end] for tokens in sequences]

    def _drop_long(self, titles: Iterable[tuple[str, list[int]]]) -> Iterator[tuple[str, list[int]]]:
        """Yields the titles that the model may write; the end token does not count."""
        longest = min(self.max_tokens, self.positions - 1)
        for title, sequence in titles:
            if len(sequence) - 1 <= longest:
                yield title, sequence
            else:
                self.note(f"titles of more than {longest} tokens were left out: see the option max_tokens")

    def _find_fault(self, sequence: list[int]) -> str | None:
        has_end = self.end in sequence[:-1]
        return f"holds {self.tokenizer.eos_token}, with which the model ends every title" if has_end else None

    def _generate(self, batch: list[ModelInput]) -> list[list[GeneratedTitle]]:
        """Generates titles for each input by beam search; they are not sorted."""
        import torch
        from torch.nn.utils.rnn import pad_sequence
        from transformers.modeling_outputs import BaseModelOutput

        inputs = [torch.tensor(item.tokens, device=self.device) for item in batch]
        mask = pad_sequence([torch.ones_like(tokens) for tokens in inputs], batch_first=True)
        padded = pad_sequence(inputs, batch_first=True, padding_value=self.tokenizer.pad_token_id)
        with torch.inference_mode():
            states = self.bart.get_encoder()(input_ids=padded, attention_mask=mask).last_hidden_state
            beams = min(self.beams, max(len(item.trie) for item in batch))
            rows = self.bart.generate(
                encoder_outputs=BaseModelOutput(last_hidden_state=states),
                attention_mask=mask,
                prefix_allowed_tokens_fn=lambda number, row: self._list_next(batch[number].trie, row.tolist()),
                generation_config=self._make_config(beams, max(item.trie.depth for item in batch)),
            ).tolist()
            return [
                self._score(states[number, None, : len(item.tokens)], self._find_titles(item.trie, own))
                for number, item in enumerate(batch)
                for own in [rows[number * beams : (number + 1) * beams]]
            ]

    def _make_config(self, beams: int, depth: int) -> Any:
        """Makes the settings of the beam search, up to the length of the longest title."""
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
            # `never`, because a longer title may still reach a better mean.
            settings |= {"num_return_sequences": beams, "length_penalty": 1.0, "early_stopping": "never"}
        return GenerationConfig.from_dict(settings)

    def _list_next(self, trie: Trie, row: list[int]) -> list[int]:
        """Lists the allowed next tokens; a finished or unused beam needs one token and gets the end token."""
        return trie.after(row[1:]) or [self.end]

    def _find_titles(self, trie: Trie, rows: list[list[int]]) -> dict[str, list[int]]:
        """Finds the titles among the rows of a search; unused beams hold copies and sequences that are not titles."""
        sequences = (row[1 : row.index(self.end, 1) + 1] for row in rows if self.end in row[1:])
        return {title: sequence for sequence in sequences if (title := trie.title(sequence)) is not None}

    def _score(self, states: Any, titles: dict[str, list[int]]) -> list[GeneratedTitle]:
        """Computes the log-probabilities of the titles in one pass of the decoder over all of them.

        The scores of the search are not used: they have single precision, and releases normalise them differently.
        """
        import torch
        from torch.nn.utils.rnn import pad_sequence

        if not titles:
            return []
        sequences = [torch.tensor(sequence, device=self.device) for sequence in titles.values()]
        targets = pad_sequence(sequences, batch_first=True, padding_value=self.tokenizer.pad_token_id)
        given = torch.cat([torch.full_like(targets[:, :1], self.start), targets[:, :-1]], dim=1)
        logits = self.bart(encoder_outputs=(states.expand(len(titles), -1, -1),), decoder_input_ids=given).logits
        log_probs = logits.log_softmax(-1).gather(-1, targets[:, :, None])[:, :, 0].tolist()
        return [
            GeneratedTitle(title, math.fsum(row[: len(sequence)]), len(sequence))
            for (title, sequence), row in zip(titles.items(), log_probs, strict=True)
        ]


def _mark_mention(snippet: Snippet, limit: int) -> str:
    """Returns the text in GENRE's training format: spaces around the markers, few words, HTML entities decoded."""
    before, after = snippet.text[: snippet.start].rstrip(), snippet.text[snippet.end :].lstrip()
    left, right = (part.split(" ") if part else [] for part in (before, after))
    # Half of the words are on either side. If one side has fewer, the other gets more.
    kept = min(len(left), max(limit // 2, limit - len(right)))
    left, right = left[len(left) - kept :], right[: limit - kept]
    parts = [html.unescape(part) for part in (" ".join(left), snippet.mention, " ".join(right))]
    if any(marker in part for marker in (OPEN, CLOSE) for part in parts):
        raise ItemError(f"the text contains {OPEN} or {CLOSE}, which the model would read as marks of the mention")
    return f"{parts[0]} {OPEN} {parts[1]} {CLOSE} {parts[2]}"


def _round(score: float) -> float:
    """Rounds to six significant digits, because the others depend on the batch."""
    return float(f"{score:.6g}")
