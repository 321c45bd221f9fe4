"""How an answer has facts of the organisation; the extension of the hub finds them."""

from __future__ import annotations

from clawmem.faces.parts.parameters import Parameter

ORG = Parameter(
    "Ask the organisation, too: its facts are labelled, come after your own that have as many words of the question,"
    " and take no room from them. The filters are for your own facts only.",
    ("--org",),
)
_ORIGIN = {"org": str, "vault": str, "scopes": [str], "author": str, "commit": str, "path": str, "line": int}

HUB_FACT = {
    "id": str,
    "fact": str,
    "entity": str,
    "category": str,
    "status": str,
    "timestamp": str,
    "source": str,
    "trust": (str, None),
    "confidence": (float, None),
    "score?": float,
    "origin": _ORIGIN,
}
"""The shape of a fact of the organisation."""

OF_ORGANISATION = {"org": str, "facts": [HUB_FACT], "problem?": str}
"""The shape of the organisation's part of an answer."""
