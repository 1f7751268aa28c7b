"""FOX, which finds its mentions itself and leaves their linking to AGDISTIS."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from shadowprobe import Request, Snippet

from .nif import NifLinker

NOWHERE = (-1, -1)


class FoxLinker(NifLinker):
    """FOX, which cannot be given a mention: what it links counts where its span is exactly the mention's.

    System: the service of the DICE group (Speck and Ngonga Ngomo, 2014, "Ensemble Learning for Named Entity
    Recognition"). Returns a DBpedia URI or an explicit NIL, and no score. Finds persons, places and organisations only;
    every other mention is skipped, and so is a name that its taggers disagree about. A name that stands twice gets one
    entity for both. A server without the language of `lang` answers as if it were English.
    """

    name = "fox"
    needs = "nothing: the public service, or -o url=http://HOST:4444/fox"
    howto = (
        "git clone https://github.com/dice-group/FOX\n"
        "docker compose --file FOX/docker/docker-compose.yml up --build    # then -o url=http://127.0.0.1:4444/fox"
    )
    endpoint = "https://fox.demos.dice-research.org/fox"

    def __init__(self, lang: Literal["en", "de", "es", "fr", "it", "nl"] = "en", **web: Any) -> None:
        super().__init__(**web)
        self.lang = lang

    def setup(self) -> None:
        """Says in the results what kind of number they hold."""
        super().setup()
        self.note(
            "FOX cannot be given a mention: it annotated the whole text, and only answers exactly on the mention count,"
            " as in GERBIL; a mention that it did not find with these borders, or that is neither person nor place nor"
            " organisation, is skipped"
        )

    def outgoing(self, snippet: Snippet) -> str:
        """The text alone; type, task and output have no defaults."""
        asked = {"input": snippet.text, "type": "text", "task": "ner", "output": "turtle", "lang": self.lang}
        return msgspec.json.encode(asked).decode()

    def request(self, snippet: Snippet) -> Request:
        """The text as JSON."""
        # Without its charset the body would be read in the platform's.
        headers = {"Content-Type": "application/json;charset=utf-8"}
        return Request("POST", self.url, content=self.outgoing(snippet).encode(), headers=headers)

    def place(self, text: str, snippet: Snippet) -> tuple[int, int] | None:
        """Where the mention stands in FOX's text: our sentences with one space between them, and trimmed."""
        kept = [place for place, character in enumerate(text) if not _blank(character)]
        if [text[place] for place in kept] != [character for character in snippet.text if not _blank(character)]:
            return None
        before, inside = (
            sum(not _blank(character) for character in part)
            for part in (snippet.text[: snippet.start], snippet.mention)
        )
        if not inside:
            return NOWHERE
        start, end = kept[before], kept[before + inside - 1] + 1
        # A mention with blanks at its borders, or one over the end of a sentence, may stand in FOX's text no more.
        return (start, end) if text[start:end] == snippet.mention else NOWHERE


def _blank(character: str) -> bool:
    # Java's trim() takes every control character for a blank.
    return character <= " " or character.isspace()
