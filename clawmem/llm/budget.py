"""Money, time and facts that a run of a model may cost; every call asks here first."""

from __future__ import annotations

from typing import NamedTuple

# The setting that bounds the time of a run, by the part of the settings.
_TIME = {"llm": "llm.max_ms", "semantic": "semantic.max_seconds"}


class RunLimits(NamedTuple):
    """What one run may cost at most: cents, milliseconds of waiting, facts, retries of one question; what one answer
    may have in tokens; what one day may cost in cents; and the part of the settings that says all this."""

    retries: int = 2
    cents: float = 12.0
    milliseconds: int = 12_000
    facts: int = 8
    tokens: int = 2000
    daily_cents: float = 100.0
    group: str = "llm"


class Prices(NamedTuple):
    """Cents for one token of a prompt and for one of an answer."""

    prompt: float
    answer: float


FREE = Prices(0.0, 0.0)
# Where no price is known, no money can be counted: the calls of one run are.
MOST_UNPRICED_CALLS = 20


class Spent(NamedTuple):
    """What a run has cost so far; `cents` counts only what has a known price."""

    calls: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    cents: float = 0.0
    milliseconds: int = 0
    facts: int = 0


class Account:
    """The account of one run: its limits, the prices (None where unknown), what it and the day before it cost."""

    def __init__(self, limits: RunLimits, prices: Prices | None, earlier_today: float = 0.0) -> None:
        self.limits = limits
        self.prices = prices
        self.earlier_today = earlier_today
        self.spent = Spent()

    def refusal(self, prompt_tokens: int) -> str | None:
        """Why a call with so many tokens of prompt may not be made, in a sentence; None where it may."""
        limits, spent = self.limits, self.spent
        if spent.facts >= limits.facts:
            return f"{spent.facts} facts were found, and {limits.facts} are the most in one run (llm.max_facts)."
        if spent.milliseconds >= limits.milliseconds:
            return f"The model took its {limits.milliseconds / 1000:g} seconds for one run ({_TIME[limits.group]})."
        return self._money(self.most(prompt_tokens))

    def most(self, prompt_tokens: int) -> float | None:
        """The most cents a call can cost: its prompt and the longest answer it may get; None: price unknown."""
        return cents(self.prices, prompt_tokens, self.limits.tokens) if self.prices else None

    def seconds(self, patience: float) -> float:
        """How long the next call may take: the time left to the run, and no more than `patience`."""
        return min(patience, (self.limits.milliseconds - self.spent.milliseconds) / 1000)

    def charge(self, prompt_tokens: int, answer_tokens: int, milliseconds: int, retry: bool = False) -> None:
        """Enter one call that was made."""
        spent = self.spent
        self.spent = spent._replace(
            calls=spent.calls + 1,
            retries=spent.retries + retry,
            prompt_tokens=spent.prompt_tokens + prompt_tokens,
            answer_tokens=spent.answer_tokens + answer_tokens,
            cents=spent.cents + (cents(self.prices, prompt_tokens, answer_tokens) if self.prices else 0.0),
            milliseconds=spent.milliseconds + milliseconds,
        )

    def found(self, facts: int) -> None:
        """Enter facts that were found."""
        self.spent = self.spent._replace(facts=self.spent.facts + facts)

    def _money(self, most: float | None) -> str | None:
        limits, spent = self.limits, self.spent.cents
        if most is None:
            if limits.cents <= 0 or limits.daily_cents <= 0:
                return "Nothing may be spent, and the price of this model is not known."
            if limits.group == "llm" and self.spent.calls >= MOST_UNPRICED_CALLS:
                return f"The price of this model is not known, and {MOST_UNPRICED_CALLS} calls are the most in one run."
            return None
        if spent + most > limits.cents:
            return (
                f"The next call can cost {amount(most)}, {amount(spent)} are spent, "
                f"and {amount(limits.cents)} are the most in one run ({limits.group}.budget_cents)."
            )
        if self.earlier_today + spent + most > limits.daily_cents:
            return (
                f"The next call can cost {amount(most)}, {amount(self.earlier_today + spent)} were spent today, "
                f"and {amount(limits.daily_cents)} are the most in one day ({limits.group}.daily_cents)."
            )
        return None


def cents(prices: Prices, prompt_tokens: int, answer_tokens: int) -> float:
    """What so many tokens cost, in cents."""
    return prices.prompt * prompt_tokens + prices.answer * answer_tokens


def amount(value: float) -> str:
    """An amount of money as people read it."""
    return f"{value:.4g} cents"
