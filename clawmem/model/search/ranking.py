"""The order of facts: by standing where nothing was asked, by fused channel scores where something was."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

# How much a channel's best hit is worth. An exact triple outweighs shared words, which outweigh a date alone.
WEIGHTS: Mapping[str, float] = {
    "predicate": 1.0,
    "keyword": 0.8,
    "vector": 0.3,
    "time": 0.4,
    "links": 0.4,
}
# Of what was said there is no triple, and its words say more of when it was than a named day does. The vectors' weight
# is for questions all of whose words one turn has.
SAID_WEIGHTS: Mapping[str, float] = {"keyword": 1.0, "vector": 0.3, "time": 0.1}
# What a channel's weakest hit keeps: being found at all says more than not being found.
FLOOR = 0.1

# Priors are small on purpose: they settle near-ties and never lift a fact over a clearly better match.
TIER_PRIOR: Mapping[str, float] = {"hot": 0.03, "warm": 0.015, "cold": 0.0}
IMPORTANCE_PRIOR = 0.04
TRUST_PRIOR: Mapping[str, float] = {"user": 0.02, "agent": 0.01, "tool": 0.0, "external": -0.02}
OWN_PRIOR = 0.05
# What is over keeps this part of each channel's score: it comes behind what holds and matches about as well.
OVER_SHARE = 0.6

_TIER_RANK = {"hot": 0, "warm": 1, "cold": 2}


class FactStanding(NamedTuple):
    """What ordering needs to know of a fact; `own` says it is of the asking agent's own workspace, `over` that it had
    ended at the time that is asked about."""

    id: str
    tier: str
    access_count: int = 0
    importance: float = 0.5
    timestamp: str = ""
    trust: str | None = None
    own: bool = False
    over: bool = False


class RankedFact(NamedTuple):
    """A fact's place in an answer: its final score, and the normalised 0..1 score of each channel that found it."""

    id: str
    score: float
    channels: Mapping[str, float]


def ordered(standings: Iterable[FactStanding]) -> list[FactStanding]:
    """Hot, warm, cold; in a tier what holds before what is over, then the agent's own first, most accessed, most
    important, newest, by id."""
    by_id = sorted(standings, key=lambda each: each.id)
    newest = sorted(by_id, key=lambda each: each.timestamp, reverse=True)
    return sorted(newest, key=_rank)


def _rank(standing: FactStanding) -> tuple[int, bool, bool, int, float]:
    return (
        _TIER_RANK.get(standing.tier, len(_TIER_RANK)),
        standing.over,
        not standing.own,
        -standing.access_count,
        -standing.importance,
    )


def normalised(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores of one channel spread over 0.1..1, the best at 1; all at 1 where they are equal."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high <= low:
        return dict.fromkeys(scores, 1.0)
    return {name: FLOOR + (1 - FLOOR) * (value - low) / (high - low) for name, value in scores.items()}


def prior(standing: FactStanding) -> float:
    """What a fact's tier, importance, trust and owner add to any match, within -0.04..0.12."""
    return (
        TIER_PRIOR.get(standing.tier, 0.0)
        + IMPORTANCE_PRIOR * (standing.importance - 0.5)
        + TRUST_PRIOR.get(standing.trust or "", 0.0)
        + (OWN_PRIOR if standing.own else 0.0)
    )


def fuse(channels: Mapping[str, Mapping[str, float]], weights: Mapping[str, float] = WEIGHTS) -> list[RankedFact]:
    """What any channel found, best first: the weighted sum of min-max normalised scores, divided by the weights of the
    channels that found something, so that 1 means the best hit of them all. Of equal ones the first found comes first.
    """
    parts = _parts(channels)
    total = _total(channels, weights)
    fused = (RankedFact(each, _fused(part, weights, total), part) for each, part in parts.items())
    # A stable sort: equal scores keep the order of finding.
    return sorted(fused, key=lambda one: -one.score)


def said_weights(covered: float) -> Mapping[str, float]:
    """The weights for what was said, where the best turn has this part of the question's words: the less it has, the
    less they tell, and the more the vectors count."""
    return {**SAID_WEIGHTS, "vector": SAID_WEIGHTS["vector"] / covered} if covered > 0 else SAID_WEIGHTS


def rank(
    channels: Mapping[str, Mapping[str, float]],
    standings: Mapping[str, FactStanding],
    weights: Mapping[str, float] = WEIGHTS,
) -> list[RankedFact]:
    """Facts found by any channel, best first: their fused score plus the prior of their standing.

    Higher raw scores are better; a fact without a standing is left out. Equal scores keep the order of standing.
    """
    over = {one.id for one in standings.values() if one.over}
    parts = _parts(_lowered(channels, over) if over else channels)
    total = _total(channels, weights)
    found = ordered(standings[fact_id] for fact_id in parts if fact_id in standings)
    ranked = [RankedFact(one.id, _fused(parts[one.id], weights, total) + prior(one), parts[one.id]) for one in found]
    if over:
        ranked = _behind(ranked, over, channels.get("predicate", {}))
    return sorted(ranked, key=lambda each: (-each.score, each.id in over))


def _behind(ranked: Sequence[RankedFact], over: set[str], exact: Mapping[str, float]) -> list[RankedFact]:
    """What is over scores no more than the best that holds, where both say exactly what was asked for: their words tell
    only how each is put."""
    holding = [(exact[one.id], one.score) for one in ranked if one.id in exact and one.id not in over]

    def most(one: RankedFact) -> float:
        return max((score for worth, score in holding if worth >= exact[one.id]), default=one.score)

    late = over & exact.keys()
    return [one._replace(score=min(one.score, most(one))) if one.id in late else one for one in ranked]


def _lowered(channels: Mapping[str, Mapping[str, float]], over: Collection[str]) -> dict[str, dict[str, float]]:
    return {
        name: {each: value * OVER_SHARE if each in over and value > 0 else value for each, value in scores.items()}
        for name, scores in channels.items()
    }


def _parts(channels: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """The normalised score of each channel that found a thing, for each thing found, in the order of finding."""
    parts: dict[str, dict[str, float]] = {}
    for name, scores in channels.items():
        for each, value in normalised(scores).items():
            parts.setdefault(each, {})[name] = value
    return parts


def _total(channels: Mapping[str, Mapping[str, float]], weights: Mapping[str, float]) -> float:
    return sum(weights[name] for name, scores in channels.items() if scores) or 1.0


def _fused(parts: Mapping[str, float], weights: Mapping[str, float], total: float) -> float:
    return sum(weights[name] * value for name, value in parts.items()) / total
