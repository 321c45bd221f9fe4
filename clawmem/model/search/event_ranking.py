"""The order of things said: each question word where it was said, what was said around it, and the whole sitting.

A turn of a conversation is seldom understood alone. The answer stands after the question it answers, the name stands
two turns before. So a word of the question counts for the turn that holds it, for less in the turns beside it, and
for less still in all turns of its sitting, which is a session, or a day where an event has none.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.model.language.question import STOPWORDS

# How far around a turn its neighbours count, in turns of the same sitting.
REACH = 2
# What a word said one and two turns away is worth, said in the turn itself being worth 1.
BESIDE: Mapping[int, float] = {1: 0.4, 2: 0.2}
# A short question that is answered: its words count this much more for the turn after it, and less for itself.
ANSWERED = 2.0
ASKING = 0.7
SHORT_QUESTION = 200
# A text longer than this, in characters, speaks for itself: it leans on its neighbours in proportion less.
SELF_CONTAINED = 1000
NAMED_SPEAKER = 1.25
SITTING = 0.6
# Of how many turns the words are looked at; with those beside them there are up to five times as many to order.
FOREMOST = 200
# BM25 as SQLite's FTS5 has it.
K1, B = 1.2, 0.75

_ASKS = re.compile(r"[?？]\W*$")
_NAME = re.compile(r"[^\W_]+")


class RankedTurn(NamedTuple):
    """What ordering needs to know of an event: its sitting and its place there, counted one by one, who spoke, how
    many characters it has and whether it is a short question."""

    sitting: str
    place: int
    speaker: str | None = None
    size: int = 0
    asks: bool = False


class SittingCounts(NamedTuple):
    """How many sittings and turns there are in all, and how many turns each sitting that matters has."""

    total: int
    turns: int
    sizes: Mapping[str, int]


class TurnScore(NamedTuple):
    """A turn's score: by words in and around it, times its speaker's, plus its sitting's."""

    n: int
    score: float


def is_question(text: str) -> bool:
    """Whether a turn is a short question, of at most 200 characters, that the next turn may answer."""
    return len(text) <= SHORT_QUESTION and _ASKS.search(text) is not None


def speakers_named(question: str, speakers: Iterable[str]) -> frozenset[str]:
    """The speakers whose first name is in the question; a name that is a common word too must be written as a name."""
    words = _NAME.findall(question)
    lowered, capitals = {word.lower() for word in words}, set(words[1:])
    return frozenset(one for one in speakers if _is_named(one, lowered, capitals))


def _is_named(speaker: str, lowered: Collection[str], capitals: Collection[str]) -> bool:
    first = _NAME.search(speaker)
    if first is None:
        return False
    name = first.group()
    return name.capitalize() in capitals if name.lower() in STOPWORDS else name.lower() in lowered


def best_pieces(words: Sequence[Mapping[int, float]], turn_of: Callable[[int], int]) -> list[dict[int, float]]:
    """Scores of pieces as scores of turns: of each turn the one piece counts that all the words together rank best."""
    totals: dict[int, float] = {}
    for scores in words:
        for piece, score in scores.items():
            totals[piece] = totals.get(piece, 0.0) + score
    best: dict[int, int] = {}
    for piece in sorted(totals):
        turn = turn_of(piece)
        if turn not in best or totals[piece] > totals[best[turn]]:
            best[turn] = piece
    chosen = {piece: turn for turn, piece in best.items()}
    return [{chosen[piece]: score for piece, score in scores.items() if piece in chosen} for scores in words]


def foremost(words: Sequence[Mapping[int, float]], most: int = FOREMOST) -> list[dict[int, float]]:
    """The scores of the `most` turns that all the words together rank best: the rest costs time and finds nothing."""
    totals: dict[int, float] = {}
    for scores in words:
        for n, score in scores.items():
            totals[n] = totals.get(n, 0.0) + score
    if len(totals) <= most:
        return [dict(scores) for scores in words]
    kept = set(sorted(totals, key=lambda n: (-totals[n], n))[:most])
    return [{n: score for n, score in scores.items() if n in kept} for scores in words]


def covered(words: Sequence[Mapping[int, float]], best: float) -> float:
    """Which part of a question's words the best turn has, by its score: 1 where it has each as well as any text has it.

    A word that no text holds is worth as much as the most telling of those that one does.
    """
    most = [max(scores.values(), default=0.0) for scores in words]
    whole = sum(each or max(most) for each in most)
    return best / whole if whole else 0.0


def order_turns(
    words: Sequence[Mapping[int, float]],
    turns: Mapping[int, RankedTurn],
    sittings: SittingCounts,
    named: Collection[str] = (),
) -> list[TurnScore]:
    """Turns, best first; of equal ones the earlier number first.

    `words` has, for each word of the question, the BM25 score of every turn that holds it. `turns` has those turns
    and the turns up to `REACH` places around them in their sittings; a turn that is not in it is left out.
    """
    found = {n for scores in words for n in scores if n in turns}
    near = _near(found, turns)
    totals: dict[int, float] = {}
    for scores in words:
        for n, square in _around(scores, near).items():
            totals[n] = totals.get(n, 0.0) + math.sqrt(square)
    shares = _sitting_scores(words, turns, sittings)
    said = [TurnScore(n, _score(turns[n], total, named, shares)) for n, total in totals.items()]
    return sorted(said, key=lambda one: (-one.score, one.n))


def order_near(
    closeness: Mapping[int, float], turns: Mapping[int, RankedTurn], named: Collection[str] = ()
) -> list[TurnScore]:
    """Turns by how close their meaning is to the question's, best first; of equal ones the earlier number first.

    A turn is given of the closeness around it what it would be given of a word. All of it is added up: that several
    turns in a row are somewhat close says more than that one is.
    """
    near = _near((n for n in closeness if n in turns), turns)
    totals: dict[int, float] = {}
    for n, given in near.items():
        for other, worth in given:
            totals[other] = totals.get(other, 0.0) + closeness[n] * worth
    said = [TurnScore(n, total * _voice(turns[n], named)) for n, total in totals.items()]
    return sorted(said, key=lambda one: (-one.score, one.n))


def _voice(turn: RankedTurn, named: Collection[str]) -> float:
    return NAMED_SPEAKER if turn.speaker in named else 1.0


def _score(turn: RankedTurn, words: float, named: Collection[str], shares: Mapping[str, float]) -> float:
    return words * _voice(turn, named) + SITTING * shares.get(turn.sitting, 0.0)


def _around(scores: Mapping[int, float], near: Mapping[int, Sequence[tuple[int, float]]]) -> dict[int, float]:
    """One word's score for each turn in reach of where it was said, squared: the root of a sum of squares is near
    the largest of its parts, so that a word said thrice nearby does not count like three words."""
    squares: dict[int, float] = {}
    for n, score in scores.items():
        for other, worth in near.get(n, ()):
            part = score * worth
            squares[other] = squares.get(other, 0.0) + part * part
    return squares


def _near(found: Iterable[int], turns: Mapping[int, RankedTurn]) -> dict[int, list[tuple[int, float]]]:
    """For each turn that was found, what its words are worth to itself and to the turns in reach."""
    at = {(turn.sitting, turn.place): n for n, turn in turns.items()}
    near: dict[int, list[tuple[int, float]]] = {}
    for n in found:
        turn = turns[n]
        near[n] = [(n, ASKING if turn.asks else 1.0)]
        for step in _STEPS:
            other = at.get((turn.sitting, turn.place + step))
            if other is not None:
                near[n].append((other, _worth(turn, turns[other], step)))
    return near


_STEPS = tuple(step for step in range(-REACH, REACH + 1) if step)


def _worth(turn: RankedTurn, other: RankedTurn, step: int) -> float:
    """What a word of one turn is worth to another that stands `step` places after it."""
    worth = BESIDE[abs(step)] * (ANSWERED if turn.asks and step == 1 else 1.0)
    return worth * SELF_CONTAINED / other.size if other.size > SELF_CONTAINED else worth


def _sitting_scores(
    words: Sequence[Mapping[int, float]], turns: Mapping[int, RankedTurn], sittings: SittingCounts
) -> dict[str, float]:
    """BM25 of whole sittings, with turns that hold the word for occurrences and turns for length."""
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
