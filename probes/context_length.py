"""How much context does a linker need? The paper leaves it to future work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from shadowprobe import Answers, Findings, Snippet, VariantProbe, not_measured
from shadowprobe.base.model import Subset

if TYPE_CHECKING:
    from shadowprobe import Dataset
    from shadowprobe.measure.variants import Varied

# Words on each side of the mention: where its sentence is cut short, and how far a page is read beyond the snippet.
FEW, MANY = 3, 100
SUBSETS: tuple[Subset, ...] = ("top", "shadow", "all")


class ContextLengthProbe(VariantProbe):
    """How much context does it take? Accuracy with less of the snippet, and with more of its page.

    `cut`: the sentence of the mention cut to 3 words on each side. `sentence`: that sentence. `snippet`: the dataset's
    own text, which the run has answered. `page`: up to 100 further words of the page on each side, where the builder
    has kept it. Of each and each subset: `accuracy`; `change`, that minus the accuracy on the same snippets as they
    are, with a paired bootstrap interval; and `nil`, the share that got no entity.
    """

    name = "context_length"
    needs = "new predictions: `run --also context_length`"

    def variants(self, dataset: Dataset) -> Iterator[tuple[str, Snippet]]:
        """The snippets with a gold answer at each length."""
        # Sentence boundaries bring spaCy, which listing the probes should not wait for.
        from shadowprobe.base.prose import Prose
        from shadowprobe.measure.context_variants import cut_to_sentence, cut_to_words, extend_snippets

        prose = Prose(dataset.card.language)
        snippets = [snippet for snippet in dataset.snippets(*SUBSETS) if snippet.gold is not None]
        for snippet in snippets:
            sentence = cut_to_sentence(snippet, prose)
            yield "cut", cut_to_words(sentence, FEW)
            yield "sentence", sentence
            yield "snippet", snippet
        for longer in extend_snippets(snippets, dataset, MANY):
            yield "page", longer

    def compare(self, answers: Answers, varied: Mapping[str, Varied]) -> Findings:
        """The accuracy of each length on each subset."""
        from shadowprobe.measure.variants import against_the_run

        lengths = {name: against_the_run(answers, variant) for name, variant in varied.items()}
        if not any(lengths.values()):
            return not_measured("the dataset has no Top or Shadow snippets")
        return {"words_cut": FEW, "words_page": MANY, "lengths": lengths}
