"""WAT, with the mention given."""

from __future__ import annotations

import json

from shadowprobe import Request, Snippet

from ._shared.d4science import REGISTER, D4ScienceLinker


class WatLinker(D4ScienceLinker):
    """WAT, the successor of TagMe, which is given the mention.

    System: the service of D4Science (Piccinno and Ferragina, 2014, "From TagME to WAT: a new entity annotator").
    Returns: page id and title in the English Wikipedia, and rho, a confidence from 0 to 1, to which no cut-off is
    applied. Cannot: any language but English, candidates, an explicit NIL. A mention that it does not link is missing
    from its response, and is skipped.
    """

    name = "wat"
    needs = "a token in SHADOWPROBE_WAT_TOKEN"
    howto = f"{REGISTER}\nexport SHADOWPROBE_WAT_TOKEN=TOKEN"
    endpoint = "https://wat.d4science.org/wat/tag/json"

    def request(self, snippet: Snippet) -> Request:
        """Sends the text and the span of its mention as one JSON document, in the query."""
        document = {"text": self.replace_astral(snippet), "spans": [{"start": snippet.start, "end": snippet.end}]}
        # Only GET is documented, so a text can be too long. The server then refuses this snippet.
        # The JSON is ASCII, so that the server's charset for queries does not matter.
        query = {"gcube-token": self.token, "lang": "en", "document": json.dumps(document)}
        return Request("GET", self.url, params=query)
