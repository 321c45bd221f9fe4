"""Whether a statement may claim what another one contradicts: a quick look, so that most facts need no closer one."""


def may_claim(statement: str) -> bool:
    """Return whether a statement denies something, or may state a number, time or day that something is."""
    # Written out, because hundreds of statements are read for a context.
    return (
        "no longer" in statement
        or " not " in statement
        or "n't " in statement
        or "n’t " in statement
        or (" is " in statement and any(letter.isdigit() for letter in statement))
    )
