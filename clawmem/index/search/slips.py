"""Slips of one letter: the word of this memory that a word of a question nearly is."""

from collections.abc import Collection

from clawmem.index.tables.store import Index

# So many letters begin both words, and so many at the end of a word may be an ending that the index does not keep.
_BEGIN, _ENDING = 2, 3
_ENDINGS = ("", "e", "y", "s")
# With fewer letters, two words that differ in this way are often both meant: `plane` and `planet`, `Marta` and `Maria`.
_SWAPPED, _MORE_OR_FEWER, _OTHER = 5, 6, 7


def with_slips_mended(index: Index, question: str, unknown: Collection[str]) -> tuple[str, dict[str, str]]:
    """Return a question with each of some words that no text has as the word that it nearly is, and these words."""
    meant = {}
    for word in unknown:
        if len(word) >= _SWAPPED and word.isalpha() and (near := _nearest(index, word)):
            meant[word] = near
    words = question.split()
    for place, written in enumerate(words):
        bare = written.strip(".,;:!?\"'()").lower()
        if bare in meant:
            words[place] = meant[bare]
    return " ".join(words), meant


def _nearest(index: Index, word: str) -> str | None:
    """Return the word of any text that differs from this one in one letter; the one with most letters."""
    begin = word[:_BEGIN]
    terms = {term for engine in (index.engine, index.passage_engine) for term in engine.terms(begin)}
    near = sorted((term for term in terms if _is_slip(word, term)), key=lambda term: (len(term), term), reverse=True)
    # A stem is not always found as a word: `greenhous`.
    written = (f"{term}{ending}" for term in near for ending in _ENDINGS)
    engines = (index.engine, index.passage_engine)
    return next((text for text in written if any(engine.count((text,), 1) for engine in engines)), None)


def _is_slip(word: str, term: str) -> bool:
    """Return whether a word is a term of the index with one letter more, fewer, swapped or other; its ending may be
    missing in the term."""
    if _one_off(word, term):
        return True
    ends = range(len(word) - _ENDING, len(word)) if len(term) >= _MORE_OR_FEWER else ()
    return any(word[:end] == term or _one_off(word[:end], term) for end in ends)


def _one_off(word: str, term: str) -> bool:
    short, long = sorted((word, term), key=len)
    at = next(
        (place for place, (text, other) in enumerate(zip(short, long, strict=False)) if text != other), len(short)
    )
    if len(long) == len(short) + 1:
        return len(short) >= _MORE_OR_FEWER and short[at:] == long[at + 1 :]
    if len(long) != len(short) or short == long:
        return False
    swapped = short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return (swapped and len(short) >= _SWAPPED) or (len(short) >= _OTHER and short[at + 1 :] == long[at + 1 :])
