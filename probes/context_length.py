"""How much context does a linker need? The paper leaves it to future work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from shadowprobe import Answers, Findings, Snippet, VariantProbe, not_measured
from shadowprobe.model import Subset

if TYPE_CHECKING:
    from shadowprobe import Dataset
    from shadowprobe.variants import Varied

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
        from shadowprobe.build.text import Prose
        from shadowprobe.contexts import cut_short, extended, sentence_of

        prose = Prose(dataset.card.language)
        snippets = [snippet for snippet in dataset.snippets(*SUBSETS) if snippet.gold is not None]
        for snippet in snippets:
            sentence = sentence_of(snippet, prose)
            yield "cut", cut_short(sentence, FEW)
            yield "sentence", sentence
            yield "snippet", snippet
        for longer in extended(snippets, dataset, MANY):
            yield "page", longer

    def compare(self, answers: Answers, varied: Mapping[str, Varied]) -> Findings:
        """The accuracy of each length on each subset."""
        from shadowprobe.variants import against_the_run

        lengths = {
            name: {
                subset: found
                for subset, _ in answers.gold_subsets()
                if (found := against_the_run(answers, variant, subset)) is not None
            }
            for name, variant in varied.items()
        }
        if not any(lengths.values()):
            return not_measured("the dataset has no Top or Shadow snippets")
        return {"words_cut": FEW, "words_page": MANY, "lengths": lengths}
