"""Rank facts: by tier and use without a question, by fused channel scores with one."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from typing import TypeVar

from clawmem.model.named_tuple import NamedTuple

# The weight of each channel: an exact triple counts more than shared words, and those more than a date.
WEIGHTS: Mapping[str, float] = {
    "predicate": 1.0,
    "keyword": 0.8,
    "vector": 0.3,
    "time": 0.4,
    "links": 0.4,
}
# The weights for events. They have no triple, and their words say more than a named day. The weight of vectors is for
# questions whose words are all in one turn.
EVENT_WEIGHTS: Mapping[str, float] = {"keyword": 1.0, "vector": 0.4, "time": 0.1}

# Priors are small: they decide near-ties and never lift a fact above a clearly better match.
TIER_PRIOR: Mapping[str, float] = {"hot": 0.03, "warm": 0.015, "cold": 0.0}
IMPORTANCE_PRIOR = 0.04
TRUST_PRIOR: Mapping[str, float] = {"user": 0.02, "agent": 0.01, "tool": 0.0, "external": -0.02}
OWN_PRIOR = 0.05
# A fact that is over keeps this part of its scores, so that it ranks below valid facts that match about as well.
OVER_SHARE = 0.6

# How close to a question a text is, as a cosine less the mean of the vault: one that is about something else, at most,
# and one that answers it in other words, at least.
FAR, CLOSE = 0.2, 0.5
# The closest of some texts about something else is so close, times the logarithm of their number within limits.
_BY_CHANCE, _LEAST_BY_CHANCE, _MOST_BY_CHANCE = 0.042, 0.18, 0.32
# The weight of how close a text itself is, beside its score: of a fact at least, and of any text where none has a word
# of the question. An event is understood with those around it: where the best one covers this part of the words, its
# own closeness does not count.
_MEANT, _OTHER_WORDS, _COVERED = 0.5, 3.0, 2 / 3
_APART = 0.1  # what is closer counts
# What such closeness is worth at least, of a text that has a word of the question, and of one that has none.
_ALONE, _IN_OTHER_WORDS = 0.4, 0.7
# How many texts a vault is taken to have beside its own, when it tells how common a word is, and how many of them have
# a word of everyday language.
BACKGROUND = 100
_EVERYDAY = 10
# The weight of the share of a full match that a hit is, against its score relative to the best one.
OF_SHARE = 0.3
# How many of the best hits tell which part of the question is answered.
_STRONGEST = 3
# Where a question names what some facts are about, the other facts keep this part of their scores.
UNNAMED_SHARE = 0.8
# A fact about others, where the question names a person, is worth at most this part of the best fact about that person.
OTHERS_SHARE = 0.95
# A fact with a lower score has hardly more than a name of the question.
NAME_ONLY = 0.06

_TIER_RANK = {"hot": 0, "warm": 1, "cold": 2}


Found = TypeVar("Found")


class RankingFeatures(NamedTuple):
    """What ranking needs to know of a fact.

    `own` means that it is from the asking agent's workspace, and `over` that it had ended at the requested time.
    """

    id: str
    tier: str
    access_count: int = 0
    importance: float = 0.5
    timestamp: str = ""
    trust: str | None = None
    own: bool = False
    over: bool = False


class RankedFact(NamedTuple):
    """A ranked fact: its score, and what each channel that found it and its prior add to that score."""

    id: str
    score: float
    channels: Mapping[str, float]
    prior: float = 0.0


class AskedOf(NamedTuple):
    """The facts about what a question names.

    `named` are about it. `others` are about others, where the question names a person, and do not mention that person.
    """

    named: Collection[str] = ()
    others: Collection[str] = ()


def ordered(features: Iterable[RankingFeatures]) -> list[RankingFeatures]:
    """Sort by tier; within a tier, valid facts first, then the agent's own, most accessed, most important, newest."""
    by_id = sorted(features, key=lambda each: each.id)
    newest = sorted(by_id, key=lambda each: each.timestamp, reverse=True)
    return sorted(newest, key=_rank)


def _rank(fact: RankingFeatures) -> tuple[int, bool, bool, int, float]:
    return (
        _TIER_RANK.get(fact.tier, len(_TIER_RANK)),
        fact.over,
        not fact.own,
        -fact.access_count,
        -fact.importance,
    )


def normalized(scores: Mapping[Found, float]) -> dict[Found, float]:
    """Return one channel's scores as parts of the best one, from 0 to 1; all are 1 if none is above 0.

    No score depends on the worst hit: the last of several good hits is a good hit.
    """
    best = max(scores.values(), default=0.0)
    return {name: max(value, 0.0) / best if best > 0 else 1.0 for name, value in scores.items()}


def close_to_best(hits: Sequence[tuple[Found, float]], least: float) -> list[Found]:
    """Return the hits whose score is at least `least` times the best one's, in their order."""
    best = max((score for _, score in hits), default=0.0)
    return [found for found, score in hits if score >= least * best]


def word_weight(texts: int, having: int, everyday: bool = False) -> float:
    """Return how telling a word is that `having` of so many texts have: ln(1 + (N - n + 0.5) / (n + 0.5)).

    This is the inverse document frequency of Robertson and Sparck Jones as Lucene has it, which is never negative. N
    counts a hundred further texts: a few texts do not tell how common a word is. An `everyday` word is in ten of them,
    any other word in none.
    """
    having += _EVERYDAY if everyday else 0
    return math.log(1 + (max(BACKGROUND + texts - having, 0) + 0.5) / (having + 0.5))


def meaning_share(closeness: float) -> float:
    """Return which part of a full match in meaning a closeness is, from 0 to 1."""
    return min(1.0, max(0.0, (closeness - FAR) / (CLOSE - FAR)))


def chance_closeness(texts: int) -> float:
    """Return how close the closest of so many texts is to a question that none of them answers."""
    return min(max(_BY_CHANCE * math.log(max(texts, 1)), _LEAST_BY_CHANCE), _MOST_BY_CHANCE)


def with_meaning(
    score: float, channels: Mapping[str, float], closeness: float, covered: float
) -> tuple[float, dict[str, float]]:
    """Return the score of a fact and what each channel adds to it, with how close the fact itself is to the question,
    given which part of the question's words the best fact covers."""
    weight = max(_MEANT, _own_weight(covered))
    parts = {name: points / (1 + weight) for name, points in channels.items()}
    more = weight * _part_meant(closeness) / (1 + weight)
    return score / (1 + weight) + more, {**parts, "vector": parts.get("vector", 0.0) + more} if more else parts


def _own_weight(covered: float) -> float:
    """Return the weight of a text's own closeness. A question in other words than the texts have hardly has more than a
    coincidence with any of them."""
    return _OTHER_WORDS * max(0.0, 1 - covered / _COVERED)


def _part_meant(closeness: float) -> float:
    return max(closeness - _APART, 0.0) / (CLOSE - _APART)


def as_parts(scores: Mapping[str, float], shares: Mapping[str, float]) -> dict[str, float]:
    """Return one channel's scores as parts of a full match, from 0 to 1.

    `shares` has which part of a full match each hit is. `OF_SHARE` of the result is that part; the rest is the part of
    the best hits, in proportion to the scores, which know more of how well a text matches.
    """
    most = max(scores.values(), default=0.0)
    best = max((shares.get(name, 0.0) for name in nlargest(_STRONGEST, scores, key=scores.__getitem__)), default=0.0)
    return {
        name: OF_SHARE * shares.get(name, 0.0) + (1 - OF_SHARE) * best * (value / most if most > 0 else 1.0)
        for name, value in scores.items()
    }


def prior(fact: RankingFeatures) -> float:
    """Return what a fact's tier, importance, trust and owner add to its score, from -0.04 to 0.12 times that score."""
    return (
        TIER_PRIOR.get(fact.tier, 0.0)
        + IMPORTANCE_PRIOR * (fact.importance - 0.5)
        + TRUST_PRIOR.get(fact.trust or "", 0.0)
        + (OWN_PRIOR if fact.own else 0.0)
    )


class AskedWord(NamedTuple):
    """A word of a question with its other forms, how telling it is, and whether any text has it."""

    word: str
    forms: Sequence[str]
    weight: float
    known: bool = True


AskedWords = tuple[AskedWord, ...]


def share_of(words: AskedWords, had: Iterable[AskedWord]) -> float:
    """Return which part of a question's words some of them are, by how telling they are."""
    whole = sum(word.weight for word in words)
    return sum(word.weight for word in had) / whole if whole else 0.0


class FusedHits(NamedTuple):
    """What any channel found, best first, with the score of each and the part of it that each channel adds."""

    order: Sequence[int]
    scores: Mapping[int, float]
    parts: Mapping[str, Mapping[int, float]]

    def channels(self, n: int) -> dict[str, float]:
        """Return what each channel that found a hit adds to its score."""
        return {name: part[n] for name, part in self.parts.items() if n in part}


def fuse(channels: Mapping[str, Mapping[int, float]], weights: Mapping[str, float], strength: float = 1.0) -> FusedHits:
    """Return what any channel found, by row.

    The score is the weighted sum of the channels' scores as parts of the best one of each, divided by the weights of
    the channels with hits, so that `strength` means the best hit of all of them. Equal ones stay in the order in which
    they were found.
    """
    total = _total(channels, weights) / strength if strength else math.inf
    parts: dict[str, dict[int, float]] = {}
    scores: dict[int, float] = {}
    for name, channel in channels.items():
        weight = weights[name]
        parts[name] = {each: weight * value / total for each, value in normalized(channel).items()}
        for each, part in parts[name].items():
            scores[each] = scores.get(each, 0.0) + part
    # The sort is stable: equal scores stay in the order in which they were found.
    return FusedHits(sorted(scores, key=scores.__getitem__, reverse=True), scores, parts)


def with_own_meaning(hits: FusedHits, closeness: Mapping[int, float], covered: float) -> FusedHits:
    """Return events or notes by how close each itself is, too, given which part of the question's words the best one
    covers."""
    weight = _own_weight(covered)
    if not weight or not closeness:
        return hits
    kept = 1 / (1 + weight)
    own = {n: weight * kept * _part_meant(closeness.get(n, 0.0)) for n in hits.scores}
    scores = {n: score * kept + own[n] for n, score in hits.scores.items()}
    parts = {name: {n: points * kept for n, points in part.items()} for name, part in hits.parts.items()}
    parts["vector"] = {n: points + own[n] for n, points in parts["vector"].items()}
    return FusedHits(sorted(scores, key=scores.__getitem__, reverse=True), scores, parts)


def least_meant(closeness: float, share: float) -> float:
    """Return the score that a text has at least by its own closeness, whatever stands beside it, given which part of
    the question's words it has."""
    return (_ALONE if share else _IN_OTHER_WORDS) * _part_meant(closeness)


def at_least(hits: FusedHits, least: Mapping[int, float]) -> FusedHits:
    """Return events or notes with at least the given scores; what is added is of the vectors."""
    return _with_more(hits, "vector", {n: score - hits.scores.get(n, score) for n, score in least.items()})


def of_days(hits: FusedHits, days: Mapping[int, float], part: float) -> FusedHits:
    """Return events or notes with those of the days that a question names nearer to a full match, by `part` of what
    they lack of it, times how telling the days are."""
    more = {n: part * telling * (1 - hits.scores[n]) for n, telling in days.items() if n in hits.scores}
    return _with_more(hits, "time", more)


def _with_more(hits: FusedHits, channel: str, found: Mapping[int, float]) -> FusedHits:
    more = {n: points for n, points in found.items() if points > 0}
    if not more:
        return hits
    scores = {n: score + more.get(n, 0.0) for n, score in hits.scores.items()}
    part = hits.parts.get(channel, {})
    parts = {**hits.parts, channel: {**part, **{n: part.get(n, 0.0) + points for n, points in more.items()}}}
    return FusedHits(sorted(scores, key=scores.__getitem__, reverse=True), scores, parts)


def event_weights(covered: float) -> Mapping[str, float]:
    """Return the weights for events, given which part of the question's words the best turn covers.

    The smaller this part is, the more the vectors count.
    """
    return {**EVENT_WEIGHTS, "vector": EVENT_WEIGHTS["vector"] / covered} if covered > 0 else EVENT_WEIGHTS


def rank(
    channels: Mapping[str, Mapping[str, float]],
    features: Mapping[str, RankingFeatures],
    weights: Mapping[str, float] = WEIGHTS,
    shares: Mapping[str, Mapping[str, float]] | None = None,
    asked: AskedOf | None = None,
) -> list[RankedFact]:
    """Return the facts found by any channel, best first: fused score, less for what is not named, and prior.

    Higher raw scores are better. `shares` says, for channels where it is known, which part of a full match each hit is,
    so that a weak match has a low score even if there is no better one. A fact without features is left out, and
    equal scores keep the order of `ordered`.
    """
    over = {feature.id for feature in features.values() if feature.over}
    parts = _parts(_lowered(channels, over) if over else channels, _lowered(shares or {}, over))
    total = _total(channels, weights)
    found = ordered(features[fact_id] for fact_id in parts if fact_id in features)
    named = asked.named if asked else ()
    ranked = [
        _scored(
            other_features,
            parts[other_features.id],
            weights,
            total,
            UNNAMED_SHARE if named and other_features.id not in named else None,
        )
        for other_features in found
    ]
    if over:
        ranked = _behind(ranked, over, channels.get("predicate", {}))
    if asked and asked.others:
        ranked = _behind_named(ranked, asked)
    return sorted(ranked, key=lambda each: (-each.score, each.id in over))


def _scored(
    fact: RankingFeatures,
    part: Mapping[str, float],
    weights: Mapping[str, float],
    total: float,
    share: float | None,
) -> RankedFact:
    """Return a fact with its score: the weighted scores of the channels, `share` of them if given, and the prior."""
    points = {name: weights[name] * value / total for name, value in part.items()}
    score = sum(points.values())
    if share is not None:
        points = {name: value * share for name, value in points.items()}
        score *= share
    more = score * prior(fact)
    return RankedFact(fact.id, score + more, points, more)


def scaled(ranked: RankedFact, factor: float) -> RankedFact:
    """Return a ranked fact with its score and all parts of it multiplied by a factor."""
    points = {name: value * factor for name, value in ranked.channels.items()}
    return RankedFact(ranked.id, ranked.score * factor, points, ranked.prior * factor)


def _at_most(fact: RankedFact, most: float) -> RankedFact:
    return scaled(fact, most / fact.score) if fact.score > most > 0 else fact


def _behind_named(ranked: Sequence[RankedFact], asked: AskedOf) -> list[RankedFact]:
    """Limit the scores of facts about others to a part of the best score of a fact about the named person.

    If that one has hardly more than the name, nothing is known about what is asked, and the others keep their scores.
    """
    best = max((fact.score for fact in ranked if fact.id in asked.named), default=0.0)
    if best < NAME_ONLY:
        return list(ranked)
    return [_at_most(fact, best * OTHERS_SHARE) if fact.id in asked.others else fact for fact in ranked]


def _behind(ranked: Sequence[RankedFact], over: set[str], exact: Mapping[str, float]) -> list[RankedFact]:
    """Limit the score of a fact that is over to that of the best valid fact, if both match the question exactly.

    Their other differences only come from the wording.
    """
    valid = [(exact[fact.id], fact.score) for fact in ranked if fact.id in exact and fact.id not in over]

    def most(fact: RankedFact) -> float:
        return max((score for worth, score in valid if worth >= exact[fact.id]), default=fact.score)

    late = over & exact.keys()
    return [_at_most(fact, most(fact)) if fact.id in late else fact for fact in ranked]


def behind_present(ranked: Sequence[RankedFact], announced: Mapping[str, str]) -> list[RankedFact]:
    """Put each announced fact behind the one that holds until then, with hardly less than its score at most."""
    scores = {fact.id: fact.score for fact in ranked}
    most = {later: scores[now] * (1 - 1e-9) for later, now in announced.items() if now in scores}
    return sorted((_at_most(fact, most.get(fact.id, fact.score)) for fact in ranked), key=lambda fact: -fact.score)


def _lowered(channels: Mapping[str, Mapping[str, float]], over: Collection[str]) -> dict[str, dict[str, float]]:
    return {
        name: {each: value * OVER_SHARE if each in over and value > 0 else value for each, value in scores.items()}
        for name, scores in channels.items()
    }


def _parts(
    channels: Mapping[str, Mapping[str, float]], shares: Mapping[str, Mapping[str, float]] | None = None
) -> dict[str, dict[str, float]]:
    """Return the scores from 0 to 1 by channel for each found fact, in the order in which they were found."""
    parts: dict[str, dict[str, float]] = {}
    for name, scores in channels.items():
        known = (shares or {}).get(name)
        for each, value in (normalized(scores) if known is None else as_parts(scores, known)).items():
            parts.setdefault(each, {})[name] = value
    return parts


def _total(channels: Mapping[str, Mapping[Found, float]], weights: Mapping[str, float]) -> float:
    return sum(weights[name] for name, scores in channels.items() if scores) or 1.0
