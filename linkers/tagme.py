"""TagMe, which finds its own mentions."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from shadowprobe import Request, Snippet

from ._shared.d4science import REGISTER, D4ScienceLinker


class TagmeLinker(D4ScienceLinker):
    """TagMe, which cannot be given a mention: an answer counts only if its span is exactly the mention's.

    System: the service of D4Science (Ferragina and Scaiella, 2010, "TAGME: on-the-fly annotation of short text
    fragments"). Returns: page id and title in the Wikipedia of `lang`, and rho, a confidence from 0 to 1, to which no
    cut-off is applied. Cannot: D2KB, candidates, an explicit NIL. A mention that it did not find with exactly this span
    is skipped, as in GERBIL. `epsilon` and `long_text` are settings of the service, which are sent only if given. Its
    rate limit is not known; other clients wait half a second between requests, which is `-o rate=2`.
    """

    name = "tagme"
    needs = "a token in SHADOWPROBE_TAGME_TOKEN"
    howto = f"{REGISTER}\nexport SHADOWPROBE_TAGME_TOKEN=TOKEN"
    endpoint = "https://tagme.d4science.org/tagme/tag"
    option_help: ClassVar[dict[str, str]] = {
        "lang": "the language of the texts",
        "epsilon": "a setting of the service, sent only if given",
        "long_text": "a setting of the service, sent only if given",
    }

    def __init__(
        self,
        lang: Literal["en", "de", "it"] = "en",
        epsilon: float | None = None,
        long_text: int | None = None,
        **web: Any,
    ) -> None:
        super().__init__(**web)
        self.lang, self.epsilon, self.long_text = lang, epsilon, long_text

    def setup(self) -> None:
        """Adds a note on how the results were measured."""
        super().setup()
        self.note(
            "TagMe cannot be given a mention: it annotated the whole text, and only answers exactly on the mention"
            " count, as in GERBIL; a mention that it did not find with exactly this span is skipped"
        )

    def request(self, snippet: Snippet) -> Request:
        """Sends the text as a form."""
        form = {"text": self.replace_astral(snippet), "lang": self.lang, "gcube-token": self.token}
        settings = {"epsilon": self.epsilon, "long_text": self.long_text}
        return Request("POST", self.url, data=form | {k: str(v) for k, v in settings.items() if v is not None})
