"""Any spaCy pipeline with a component that links entities."""

from __future__ import annotations

import random
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from shadowprobe import Failure, ItemError, Linker, LinkerError, Prediction, Snippet
from shadowprobe.base.identity import is_nil
from shadowprobe.errors import missing_extra

from ._shared.ranking import random_order

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span

# Two sentences, to test whether the pipeline finds sentence boundaries.
PROBE = "It rained. They left."


class SpacyLinker(Linker):
    """A spaCy pipeline whose component sets `ent.kb_id_`; the mention is its only entity.

    Components that set entities (`ner`, an entity ruler) are left out. Directly before the linking component, the
    mention becomes the only entity of the text, with the label `-o label=NAME`. A mention that begins or ends inside a
    token gets its own tokens. The linking component is the one that declares `token.ent_kb_id`, as spaCy's
    `entity_linker` does, or `-o component=NAME`. A component that writes its answer to other attributes is read with
    `-o id_attribute=kb_qid -o score_attribute=nerd_score` (spacyfishing's `span._.kb_qid`), and a component in your own
    file is loaded with `-o code=FILE.py`.

    An id is a QID, a title or a URI, `NIL` is an explicit NIL, and a mention without an id is skipped. `entity_linker`
    gives candidates but no score; it also answers NIL if it has no candidate.
    """

    name = "spacy"
    needs = "a pipeline with an entity linker: -o model=NAME_OR_DIR"
    howto = (
        "pip install 'shadowprobe[spacy]'\n"
        "python -m spacy train CONFIG.cfg --output DIR\n"
        "shadowprobe check --linker spacy -o model=DIR/model-best"
    )
    option_help: ClassVar[dict[str, str]] = {
        "model": "a pipeline, by name or directory",
        "component": "the component that links; none finds it",
        "label": "the label that the mention gets",
        "code": "a Python file with components of your own",
        "id_attribute": "the attribute of the span with the answer, instead of kb_id_",
        "score_attribute": "the attribute of the span with the score",
    }

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
        """Loads the pipeline, and checks that its linking component can work."""
        try:
            from spacy.tokens import Span
        except ImportError as error:
            raise missing_extra("spacy") from error
        if not self.model:
            raise LinkerError(f"`{self.name}` needs a pipeline: add -o model=NAME_OR_DIR")
        self.nlp = self._load()
        self.linking = self._find_linking_component()
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
                f"`{self.linking}` answers NIL to all entities labelled `{self.label}` (labels_discard):"
                " choose another label with -o label=NAME"
            )
        self._require_sentences()
        pipeline = f"{self.nlp.meta['lang']}_{self.nlp.meta['name']} {self.nlp.meta['version']}"
        self.note(f"spaCy {version('spacy')}, pipeline {pipeline}, linked by its component `{self.linking}`")

    def link(self, snippets: list[Snippet]) -> list[Prediction | Failure]:
        """Links one text after another, because the last digits of a model can depend on the batch."""
        return [self._link(snippet) for snippet in snippets]

    def _link(self, snippet: Snippet) -> Prediction | Failure:
        state = random.getstate()
        # `entity_linker` shuffles its candidates. Without a seed the order of equal scores would depend on earlier
        # texts.
        random.seed(random_order(snippet, ""))
        try:
            entity = self._run_pipeline(snippet)
            return self.skip(snippet) if entity is None else self._make_prediction(snippet, entity)
        except Exception as error:
            return self.fail(snippet, f"`{self.model}` failed on this text ({_format_error(error)})")
        finally:
            random.setstate(state)

    def _run_pipeline(self, snippet: Snippet) -> Span | None:
        """Returns the mention after all components."""
        doc = _split_tokens(self.nlp.make_doc(snippet.text), snippet)
        for name, pipe in self.steps:
            if name == self.linking:
                span = doc.char_span(snippet.start, snippet.end, label=self.label)
                if span is None:
                    raise ItemError("a component merges the mention with its neighbours into one token")
                doc.ents = [span]
            doc = pipe(doc)
        borders = (snippet.start, snippet.end)
        return next((entity for entity in doc.ents if (entity.start_char, entity.end_char) == borders), None)

    def _make_prediction(self, snippet: Snippet, entity: Span) -> Prediction:
        answer = entity._.get(self.id_attribute) if self.id_attribute else entity.kb_id_
        if not answer:
            return self.skip(snippet)
        score = entity._.get(self.score_attribute) if self.score_attribute else None
        if is_nil(str(answer)):
            return self.nil(snippet, score)
        candidates = self._list_candidates(entity)
        # A later component may have replaced the id by that of another knowledge base.
        listed = [answer, *(other for other in candidates if other != answer)] if answer in candidates else []
        return self.answer(snippet, str(answer), score, listed)

    def _list_candidates(self, entity: Span) -> list[str]:
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
                f" directory, -o code=FILE.py the file that defines its components ({_format_error(error)})"
            ) from error

    def _find_linking_component(self) -> str:
        names = self.nlp.pipe_names
        linking = [name for name in names if "token.ent_kb_id" in self.nlp.get_pipe_meta(name).assigns]
        if self.component:
            linking = [name for name in names if name == self.component]
        if len(linking) == 1:
            return linking[0]
        problem = "has no component that declares itself a linker" if not linking else "has more than one linker"
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
        # We do not add sentences: the pipeline was not trained with them.
        if not doc.has_annotation("SENT_START"):
            raise LinkerError(
                f"`{self.linking}` needs sentences, and no component before it in `{self.model}` finds any:"
                ' add one, as in nlp.add_pipe("sentencizer", first=True), and save the pipeline again'
            )


def _split_tokens(doc: Doc, snippet: Snippet) -> Doc:
    """Splits the tokens of a text at the start and the end of the mention."""
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
            # A space at the start or end of the mention becomes a token of its own.
            spaced = end == len(whole) and bool(token.whitespace_) and end - start > 1
            words.append(whole[start : end - spaced])
            spaces.append(spaced)
    return Doc(doc.vocab, words=words, spaces=spaces)


def _format_error(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
