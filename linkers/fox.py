"""FOX, which finds its own mentions and links them with AGDISTIS."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec

from shadowprobe import Request, Snippet

from .nif import NifLinker

NOWHERE = (-1, -1)


class FoxLinker(NifLinker):
    """FOX, which cannot be given a mention: an answer counts only if its span is exactly the mention's.

    System: the service of the DICE group (Speck and Ngonga Ngomo, 2014, "Ensemble Learning for Named Entity
    Recognition"). Returns a DBpedia URI or an explicit NIL, and no score. Finds persons, places and organisations only;
    every other mention is skipped, and so is a name that its taggers disagree about. A name that occurs twice gets the
    same entity for both. A server without the language of `lang` treats the text as English.
    """

    name = "fox"
    needs = "nothing: the public service, or -o url=http://HOST:4444/fox"
    howto = (
        "git clone https://github.com/dice-group/FOX\n"
        "docker compose --file FOX/docker/docker-compose.yml up --build    # then -o url=http://127.0.0.1:4444/fox"
    )
    endpoint = "https://fox.demos.dice-research.org/fox"
    option_help: ClassVar[dict[str, str]] = {
        "lang": "the language of the texts",
    }

    def __init__(self, lang: Literal["en", "de", "es", "fr", "it", "nl"] = "en", **web: Any) -> None:
        super().__init__(**web)
        self.lang = lang

    def setup(self) -> None:
        """Adds a note on how the results were measured."""
        super().setup()
        self.note(
            "FOX cannot be given a mention: it annotated the whole text, and only answers exactly on the mention count,"
            " as in GERBIL; a mention that it did not find with exactly this span, or that is neither person nor place"
            " nor organisation, is skipped"
        )

    def outgoing(self, snippet: Snippet) -> str:
        """Encodes the text with its settings; type, task and output have no defaults."""
        settings = {"input": snippet.text, "type": "text", "task": "ner", "output": "turtle", "lang": self.lang}
        return msgspec.json.encode(settings).decode()

    def request(self, snippet: Snippet) -> Request:
        """Sends the text as JSON."""
        # Without a charset the server would use that of its platform.
        headers = {"Content-Type": "application/json;charset=utf-8"}
        return Request("POST", self.url, content=self.outgoing(snippet).encode(), headers=headers)

    def locate_mention(self, text: str, snippet: Snippet) -> tuple[int, int] | None:
        """Finds the mention in FOX's text, which has our sentences with one space between them."""
        kept = [place for place, character in enumerate(text) if not _is_blank(character)]
        if [text[place] for place in kept] != [character for character in snippet.text if not _is_blank(character)]:
            return None
        before, inside = (
            sum(not _is_blank(character) for character in part)
            for part in (snippet.text[: snippet.start], snippet.mention)
        )
        if not inside:
            return NOWHERE
        start, end = kept[before], kept[before + inside - 1] + 1
        # A mention with blanks at its ends, or over the end of a sentence, may be changed in FOX's text.
        return (start, end) if text[start:end] == snippet.mention else NOWHERE


def _is_blank(character: str) -> bool:
    # Java's trim() treats every control character as a blank.
    return character <= " " or character.isspace()
