"""Whether a statement may claim what another one contradicts: a quick look, so that most facts need no closer one."""

_DENIALS = ("no longer", " not ", "n't ", "n’t ")


def may_claim(statement: str) -> bool:
    """Return whether a statement denies something, or may state a number, time or day that something is."""
    return any(words in statement for words in _DENIALS) or (
        " is " in statement and any(letter.isdigit() for letter in statement)
    )
