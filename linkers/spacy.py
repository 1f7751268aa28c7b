"""Any spaCy pipeline with a component that links entities."""

from __future__ import annotations

import random
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from shadowprobe import Failure, ItemError, Linker, LinkerError, Prediction, Snippet
from shadowprobe.errors import missing_extra
from shadowprobe.identity import is_nil

from .ranking import lot

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span

# More than one token, and so with a border between sentences to be found or not.
PROBE = "It rained. They left."


class SpacyLinker(Linker):
    """A spaCy pipeline whose component sets `ent.kb_id_`; the mention is its one entity.

    What sets entities in the pipeline (`ner`, an entity ruler) is left out; just before the component that links, the
    mention becomes the only entity of the text, labelled `-o label=NAME`. A mention that begins or ends inside a token
    gets tokens of its own. The component is the one that declares `token.ent_kb_id`, as spaCy's `entity_linker` does,
    or `-o component=NAME`. A component that writes its answer elsewhere is read with
    `-o id_attribute=kb_qid -o score_attribute=nerd_score` (spacyfishing's `span._.kb_qid`), and one that lies in a file
    of yours is loaded with `-o code=FILE.py`.

    An id is a QID, a title or a URI, `NIL` is an explicit NIL, no id is skipped. `entity_linker` shows its candidates
    but no score; it also says NIL where it has no candidate.
    """

    name = "spacy"
    needs = "a pipeline with an entity linker: -o model=NAME_OR_DIR"
    howto = (
        "pip install 'shadowprobe[spacy]'\n"
        "python -m spacy train CONFIG.cfg --output DIR\n"
        "shadowprobe check --linker spacy -o model=DIR/model-best"
    )

    def __init__(
        self,
        model: str = "",
        component: str | None = None,
        label: str = "ENTITY",
        code: str | None = None,
        id_attribute: str | None = None,
        score_attribute: str | None = None,
    ) -> None:
        self.model, self.component, self.label, self.code = model, component, label, code
        self.id_attribute, self.score_attribute = id_attribute, score_attribute

    def setup(self) -> None:
        """Loads the pipeline, and makes sure that its linking component can work."""
        try:
            from spacy.tokens import Span
        except ImportError as error:
            raise missing_extra("spacy") from error
        if not self.model:
            raise LinkerError(f"`{self.name}` needs a pipeline: add -o model=NAME_OR_DIR")
        self.nlp = self._load()
        self.linking = self._linking_component()
        self.steps = [
            (name, pipe)
            for name, pipe in self.nlp.pipeline
            if name == self.linking or "doc.ents" not in self.nlp.get_pipe_meta(name).assigns
        ]
        for attribute in (self.id_attribute, self.score_attribute):
            if attribute and not Span.has_extension(attribute):
                raise LinkerError(f"no component of `{self.model}` sets `span._.{attribute}`")
        if self.label in getattr(self.nlp.get_pipe(self.linking), "labels_discard", ()):
            raise LinkerError(
                f"`{self.linking}` answers NIL to whatever is labelled `{self.label}` (labels_discard):"
                " choose another label with -o label=NAME"
            )
        self._require_sentences()
        pipeline = f"{self.nlp.meta['lang']}_{self.nlp.meta['name']} {self.nlp.meta['version']}"
        self.note(f"spaCy {version('spacy')}, pipeline {pipeline}, linked by its component `{self.linking}`")

    def link(self, snippets: list[Snippet]) -> list[Prediction | Failure]:
        """One text after another, since a model's last digits can depend on what shares a batch with it."""
        return [self._link(snippet) for snippet in snippets]

    def _link(self, snippet: Snippet) -> Prediction | Failure:
        state = random.getstate()
        # `entity_linker` shuffles its candidates, so that without a seed the toss between equal scores would depend
        # on what was asked before.
        random.seed(lot(snippet, ""))
        try:
            entity = self._entity(snippet)
            return self.skip(snippet) if entity is None else self._prediction(snippet, entity)
        except Exception as error:
            return self.fail(snippet, f"`{self.model}` failed on this text ({_one_line(error)})")
        finally:
            random.setstate(state)

    def _entity(self, snippet: Snippet) -> Span | None:
        """The mention as the pipeline leaves it."""
        doc = _with_borders(self.nlp.make_doc(snippet.text), snippet)
        for name, pipe in self.steps:
            if name == self.linking:
                span = doc.char_span(snippet.start, snippet.end, label=self.label)
                if span is None:
                    raise ItemError("a component merges the mention with its neighbours into one token")
                doc.ents = [span]
            doc = pipe(doc)
        borders = (snippet.start, snippet.end)
        return next((entity for entity in doc.ents if (entity.start_char, entity.end_char) == borders), None)

    def _prediction(self, snippet: Snippet, entity: Span) -> Prediction:
        found = entity._.get(self.id_attribute) if self.id_attribute else entity.kb_id_
        if not found:
            return self.skip(snippet)
        score = entity._.get(self.score_attribute) if self.score_attribute else None
        if is_nil(str(found)):
            return self.nil(snippet, score)
        candidates = self._candidates(entity)
        # A later component may have put the id of another knowledge base in the place of the linker's.
        listed = [found, *(other for other in candidates if other != found)] if found in candidates else []
        return self.answer(snippet, str(found), score, listed)

    def _candidates(self, entity: Span) -> list[str]:
        from spacy.pipeline import EntityLinker

        pipe: Any = self.nlp.get_pipe(self.linking)
        if not isinstance(pipe, EntityLinker):
            return []
        return [candidate.entity_ for candidate in pipe.get_candidates(pipe.kb, entity)]

    def _load(self) -> Language:
        import spacy

        try:
            if self.code:
                spacy.util.import_file("shadowprobe_spacy_code", self.code)
            return spacy.load(self.model)
        except (Exception, SystemExit) as error:
            raise LinkerError(
                f"`spacy` cannot load the pipeline `{self.model}`: -o model=NAME_OR_DIR names an installed one or a"
                f" directory, -o code=FILE.py what defines its components ({_one_line(error)})"
            ) from error

    def _linking_component(self) -> str:
        names = self.nlp.pipe_names
        found = [name for name in names if "token.ent_kb_id" in self.nlp.get_pipe_meta(name).assigns]
        if self.component:
            found = [name for name in names if name == self.component]
        if len(found) == 1:
            return found[0]
        problem = "has no component that declares itself a linker" if not found else "has more than one linker"
        if self.component:
            problem = f"has no component `{self.component}`"
        raise LinkerError(
            f"the pipeline `{self.model}` {problem}:"
            f" name the one that links with -o component=NAME; it has {', '.join(names) or 'no component at all'}"
        )

    def _require_sentences(self) -> None:
        if "doc.sents" not in self.nlp.get_pipe_meta(self.linking).requires:
            return
        doc = self.nlp.make_doc(PROBE)
        for name, pipe in self.steps:
            if name == self.linking:
                break
            doc = pipe(doc)
        # Sentences that it was not trained with would be our choice and not the pipeline's.
        if not doc.has_annotation("SENT_START"):
            raise LinkerError(
                f"`{self.linking}` needs sentences, and no component before it in `{self.model}` finds any:"
                ' add one, as in nlp.add_pipe("sentencizer", first=True), and save the pipeline again'
            )


def _with_borders(doc: Doc, snippet: Snippet) -> Doc:
    """The tokens of a text, cut where the mention begins and ends."""
    from spacy.tokens import Doc

    if doc.text != snippet.text:
        raise ItemError("its tokenizer changes the text, so that the mention cannot be found again")
    if doc.char_span(snippet.start, snippet.end) is not None:
        return doc
    words, spaces = [], []
    for token in doc:
        whole = token.text_with_ws
        cuts = {cut - token.idx for cut in (snippet.start, snippet.end)} & set(range(len(whole)))
        if snippet.end - token.idx == len(whole):
            cuts.add(len(token))
        for start, end in pairwise(sorted({0, *cuts, len(whole)})):
            # A space that the mention begins or ends with is a token itself, and no longer the end of one.
            spaced = end == len(whole) and bool(token.whitespace_) and end - start > 1
            words.append(whole[start : end - spaced])
            spaces.append(spaced)
    return Doc(doc.vocab, words=words, spaces=spaces)


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
