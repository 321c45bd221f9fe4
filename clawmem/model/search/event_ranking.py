"""Rank conversation turns by the words in them, the words around them, and their whole sitting.

A single turn is often not understood alone: an answer follows its question, and a name may be two turns earlier. So a
word of the question counts for its own turn, less for neighbouring turns, and still less for all turns of the sitting.
A sitting is a session, or a day for events without a session.
"""

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from clawmem.model.language.question import STOPWORDS, is_first_person
from clawmem.model.named_tuple import NamedTuple

# How many turns before and after a turn count, within a sitting.
REACH = 2
# The weight of a word one and two turns away, relative to the turn itself.
BESIDE: Mapping[int, float] = {1: 0.4, 2: 0.2}
# In a short question, words count by this factor for the next turn, and by the second one for the question itself.
ANSWERED = 2.0
ASKING = 0.7
SHORT_QUESTION = 200
# A text longer than this, in characters, is understood alone: its neighbours count less in proportion.
SELF_CONTAINED = 1000
NAMED_SPEAKER = 1.25
SITTING = 0.6
# How many of the best turns are ranked; with their neighbours, these are up to five times as many.
FOREMOST = 200
# The BM25 parameters of SQLite's FTS5.
K1, B = 1.2, 0.75

USER, ASSISTANT = "user", "assistant"
_SENTENCE = r"[^.!?？]+[.!?？]?"
# The most words of a turn that only asks, beside its questions.
_ASIDE = 5
_ASKS = re.compile(r"[?？]\W*$")
_NAME = re.compile(r"[^\W_]+")


class RankedTurn(NamedTuple):
    """What ranking needs to know of an event: its sitting, its number in it, speaker, length, and whether it asks.

    `size` is in characters, and `asks` means that it is a short question. `role` is that of the event, and `n` its
    row in the index.
    """

    sitting: str
    place: int
    speaker: str | None = None
    size: int = 0
    asks: bool = False
    role: str = "user"
    n: int = 0


class SittingCounts(NamedTuple):
    """The number of sittings and turns in all, and the number of turns of each relevant sitting."""

    total: int
    turns: int
    sizes: Mapping[str, int]


def is_question(text: str) -> bool:
    """Return whether a turn is a question of at most 200 characters, which the next turn may answer."""
    return len(text) <= SHORT_QUESTION and _ASKS.search(text) is not None


def only_asks(text: str) -> bool:
    """Return whether a short turn says nothing beside its questions but a few words, such as "That's nice!"."""
    if not is_question(text):
        return False
    sentences = re.findall(_SENTENCE, text)  # compiled where it is used: few hits ask
    return sum(len(sentence.split()) for sentence in sentences if sentence[-1] not in "?？") <= _ASIDE


def speakers_named(question: str, speakers: Iterable[str]) -> frozenset[str]:
    """Return the speakers whose first name is in the question; a name that is also a stopword must be capitalized."""
    words = _NAME.findall(question)
    lowered, capitals = {word.lower() for word in words}, set(words[1:])
    return frozenset(speaker for speaker in speakers if _is_named(speaker, lowered, capitals))


def turns_named(question: str, turns: Mapping[int, RankedTurn]) -> frozenset[int]:
    """Return the turns whose speaker the question names. "I" and "my" name the user, whatever the user is called.

    Where nobody but users speaks, "I" tells no turn from another, and names none.
    """
    named = speakers_named(question, {turn.speaker for turn in turns.values() if turn.speaker})
    mine = is_first_person(question) and any(turn.role != USER for turn in turns.values())
    if not named and not mine:
        return frozenset()
    return frozenset(n for n, turn in turns.items() if turn.speaker in named or (mine and turn.role == USER))


def _is_named(speaker: str, lowered: Collection[str], capitals: Collection[str]) -> bool:
    if speaker.isalnum():
        name = speaker
    else:
        first = _NAME.search(speaker)
        name = first.group() if first else ""
    if name.lower() not in lowered:
        return False
    return name.lower() not in STOPWORDS or name.capitalize() in capitals


def best_pieces(words: Sequence[Mapping[int, float]], spread: int) -> list[dict[int, float]]:
    """Turn scores of pieces into scores of turns: only the piece of a turn with the best total counts.

    The pieces of a turn are `spread` numbers, from its own number times `spread` on.
    """
    totals = _totals(words)
    best: dict[int, int] = {}
    for piece in sorted(totals):
        turn = piece // spread
        if turn not in best or totals[piece] > totals[best[turn]]:
            best[turn] = piece
    chosen = {piece: turn for turn, piece in best.items()}
    return [{chosen[piece]: score for piece, score in scores.items() if piece in chosen} for scores in words]


def best_turns(words: Sequence[Mapping[int, float]], most: int = FOREMOST) -> list[dict[int, float]]:
    """Return the scores of the `most` turns with the best totals; ranking the rest takes time and finds nothing."""
    totals = _totals(words)
    if len(totals) <= most:
        return [dict(scores) for scores in words]
    kept = set(best_first(totals)[:most])
    return [{n: score for n, score in scores.items() if n in kept} for scores in words]


def best_first(scores: Mapping[int, float]) -> list[int]:
    """Return the numbers with the highest scores first; of equal ones, the lower number."""
    # A sort is stable, also if it is reversed.
    return sorted(sorted(scores), key=scores.__getitem__, reverse=True)


def _totals(words: Sequence[Mapping[int, float]]) -> dict[int, float]:
    totals: defaultdict[int, float] = defaultdict(float)
    for scores in words:
        for n, score in scores.items():
            totals[n] += score
    return totals


def coverage(words: Sequence[Mapping[int, float]], best: float) -> float:
    """Return which part of a question's words the best turn covers, by score; 1 if it has every word at its best.

    A word that no text contains counts as much as the strongest of the others.
    """
    most = [max(scores.values(), default=0.0) for scores in words]
    whole = sum(each or max(most) for each in most)
    return best / whole if whole else 0.0


def order_turns(
    words: Sequence[Mapping[int, float]],
    turns: Mapping[int, RankedTurn],
    sittings: SittingCounts,
    named: Collection[int] = (),
) -> dict[int, float]:
    """Return the scores of turns, best first; of equal ones, the lower number first.

    A score is that of the words in and around the turn, times the speaker's factor, plus that of the sitting.

    `named` are the turns whose speaker the question names.

    `words` has, for each word of the question, the BM25 score of every turn with that word. `turns` has these turns and
    their neighbours up to `REACH` places away; other turns are left out.
    """
    found = {n for scores in words for n in scores if n in turns}
    near = _near(found, turns)
    totals: defaultdict[int, float] = defaultdict(float)
    for scores in words:
        for n, square in _around(scores, near).items():
            totals[n] += math.sqrt(square)
    shares = _sitting_scores(words, turns, sittings)
    scored = {
        n: (total * NAMED_SPEAKER if n in named else total) + SITTING * shares.get(turns[n].sitting, 0.0)
        for n, total in totals.items()
    }
    return {n: scored[n] for n in best_first(scored)}


def order_near(
    closeness: Mapping[int, float], turns: Mapping[int, RankedTurn], named: Collection[int] = ()
) -> dict[int, float]:
    """Return the scores of turns by how close their meaning is to the question, best first; of equal ones, the lower
    number first.

    Neighbours count as they do for words, and all values are added up: several fairly close turns in a row are a better
    sign than a single one.
    """
    near = _near((n for n in closeness if n in turns), turns)
    totals: dict[int, float] = {}
    for n, items in near.items():
        for other, worth in items:
            totals[other] = totals.get(other, 0.0) + closeness[n] * worth
    scored = {n: total * NAMED_SPEAKER if n in named else total for n, total in totals.items()}
    return {n: scored[n] for n in best_first(scored)}


def _around(scores: Mapping[int, float], near: Mapping[int, Sequence[tuple[int, float]]]) -> dict[int, float]:
    """Return one word's squared score for each turn near its occurrences.

    The root of a sum of squares is close to its largest part, so a word that occurs three times nearby does not count
    like three words.
    """
    squares: defaultdict[int, float] = defaultdict(float)
    for n, score in scores.items():
        for other, worth in near.get(n, ()):
            part = score * worth
            squares[other] += part * part
    return squares


def _near(found: Iterable[int], turns: Mapping[int, RankedTurn]) -> dict[int, list[tuple[int, float]]]:
    """Return, for each found turn, the weights of its words for itself and its neighbours."""
    at = {(turn[0], turn[1]): n for n, turn in turns.items()}
    near: dict[int, list[tuple[int, float]]] = {}
    for n in found:
        turn = turns[n]
        sitting, place, asks = turn.sitting, turn.place, turn.asks
        if asks:
            # An assistant repeats what it was asked, so its answer has the words by itself.
            following = at.get((sitting, place + 1))
            asks = following is None or turns[following].role != ASSISTANT
        beside = [(n, ASKING if asks else 1.0)]
        for step, worth in _STEPS:
            other = at.get((sitting, place + step))
            if other is not None:
                if asks and step == 1:
                    worth *= ANSWERED
                size = turns[other].size
                beside.append((other, worth * SELF_CONTAINED / size if size > SELF_CONTAINED else worth))
        near[n] = beside
    return near


_STEPS = tuple((step, BESIDE[abs(step)]) for step in range(-REACH, REACH + 1) if step)


def _sitting_scores(
    words: Sequence[Mapping[int, float]], turns: Mapping[int, RankedTurn], sittings: SittingCounts
) -> dict[str, float]:
    """Return the BM25 scores of whole sittings, counting turns with the word as occurrences and turns as length."""
    mean = sittings.turns / sittings.total if sittings.total else 1.0
    totals: dict[str, float] = {}
    for scores in words:
        counts: dict[str, int] = {}
        for n in scores:
            if n in turns:
                sitting = turns[n].sitting
                counts[sitting] = counts.get(sitting, 0) + 1
        weight = math.log(1 + (max(sittings.total - len(counts), 0) + 0.5) / (len(counts) + 0.5))
        for sitting, count in counts.items():
            norm = K1 * (1 - B + B * sittings.sizes.get(sitting, mean) / (mean or 1.0))
            totals[sitting] = totals.get(sitting, 0.0) + weight * count * (K1 + 1) / (count + norm)
    return totals
