"""How Bootleg writes a name."""

from __future__ import annotations

import unicodedata


def get_lnrm(s: str, strip: bool = True, lower: bool = True) -> str:
    """A name in lower case, without diacritics and without what is neither letter nor digit."""
    name = s.lower() if lower else s
    if strip:
        kept = (x for x in unicodedata.normalize("NFD", name) if x == " " or x.isalnum())
        name = "".join(x for x in kept if not unicodedata.combining(x))
    return " ".join(name.split())
