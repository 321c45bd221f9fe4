"""The budget of a model run: money, time and facts. Every call is checked against it first."""

from __future__ import annotations

from clawmem.model.named_tuple import NamedTuple


class RunLimits(NamedTuple):
    """The limits of one run: cents, milliseconds of waiting, facts, and retries of one question. The defaults are those
    of promotion.

    `tokens` limits one answer, and `daily_cents` one day.
    `daily_calls` and `daily_tokens` limit one day of a model whose price is not known: no money can be counted there.
    `most_calls` and `most_tokens` limit any run (None: no limit).
    """

    retries: int = 2
    cents: float = 12.0
    milliseconds: int = 12_000
    facts: int = 8
    tokens: int = 2000
    daily_cents: float = 100.0
    daily_calls: int = 20
    daily_tokens: int = 100_000
    most_calls: int | None = None
    most_tokens: int | None = None


class Prices(NamedTuple):
    """Prices in cents for one token of a prompt and of an answer."""

    prompt: float
    answer: float


FREE = Prices(0.0, 0.0)


class Spent(NamedTuple):
    """What a run has used so far; `cents` only includes calls with a known price."""

    calls: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    cents: float = 0.0
    milliseconds: int = 0
    facts: int = 0

    @property
    def tokens(self) -> int:
        """Return the tokens of prompts and answers."""
        return self.prompt_tokens + self.answer_tokens

    def since(self, before: Spent) -> Spent:
        """Return what was used after an earlier state of the run."""
        return Spent._make(now - then for now, then in zip(self, before, strict=True))


NOTHING = Spent()


class Account:
    """The account of one run: its limits, the prices (None if unknown), and what the run and this day have cost.

    `earlier_today` has the cents of the day, and the calls and tokens whose price is not known."""

    def __init__(self, limits: RunLimits, prices: Prices | None, earlier_today: Spent = NOTHING) -> None:
        self.limits = limits
        self.prices = prices
        self.earlier_today = earlier_today
        self.spent = Spent()

    def refusal(self, prompt_tokens: int) -> str | None:
        """Return why a call with this many prompt tokens is not allowed, as a sentence, or None if it is."""
        return self._used_up() or self._check_money(self.highest_cost(prompt_tokens), prompt_tokens)

    def _used_up(self) -> str | None:
        limits, spent = self.limits, self.spent
        if spent.facts >= limits.facts:
            return f"{spent.facts} facts were found; the limit for one run is {limits.facts} (llm.max_facts)."
        if limits.most_calls is not None and spent.calls >= limits.most_calls:
            return f"{spent.calls} calls were made; the limit for this run is {limits.most_calls}."
        if limits.most_tokens is not None and spent.prompt_tokens + spent.answer_tokens >= limits.most_tokens:
            return f"The run used its {limits.most_tokens:,} tokens."
        if spent.milliseconds >= limits.milliseconds:
            return f"The model used the {limits.milliseconds / 1000:g} seconds of one run (llm.max_ms)."
        return None

    def highest_cost(self, prompt_tokens: int) -> float | None:
        """Return the highest cost of a call in cents, with the longest answer, or None if the price is unknown."""
        return cents(self.prices, prompt_tokens, self.limits.tokens) if self.prices else None

    def seconds(self, patience: float) -> float:
        """Return the time limit of the next call: the time left for the run, but at most `patience`."""
        return min(patience, (self.limits.milliseconds - self.spent.milliseconds) / 1000)

    def charge(self, prompt_tokens: int, answer_tokens: int, milliseconds: int, retry: bool = False) -> None:
        """Record one call."""
        spent = self.spent
        self.spent = spent._replace(
            calls=spent.calls + 1,
            retries=spent.retries + retry,
            prompt_tokens=spent.prompt_tokens + prompt_tokens,
            answer_tokens=spent.answer_tokens + answer_tokens,
            cents=spent.cents + (cents(self.prices, prompt_tokens, answer_tokens) if self.prices else 0.0),
            milliseconds=spent.milliseconds + milliseconds,
        )

    def add_facts(self, facts: int) -> None:
        """Record found facts."""
        self.spent = self.spent._replace(facts=self.spent.facts + facts)

    def _check_unpriced(self, prompt_tokens: int) -> str | None:
        limits, spent = self.limits, self.spent
        if limits.cents <= 0 or limits.daily_cents <= 0:
            return "Nothing may be spent, and the price of this model is not known."
        unknown = "The price of this model is not known, and"
        if self.earlier_today.calls + spent.calls >= limits.daily_calls:
            return f"{unknown} {limits.daily_calls} calls are the most in one day (llm.daily_calls)."
        if self.earlier_today.tokens + spent.tokens + prompt_tokens > limits.daily_tokens:
            return f"{unknown} {limits.daily_tokens:,} tokens are the most in one day (llm.daily_tokens)."
        return None

    def _check_money(self, most: float | None, prompt_tokens: int) -> str | None:
        limits, spent = self.limits, self.spent.cents
        if most is None:
            return self._check_unpriced(prompt_tokens)
        if spent + most > limits.cents:
            return (
                f"The next call can cost {amount(most)}, {amount(spent)} were spent in this run, "
                f"and the limit for one run is {amount(limits.cents)} (llm.budget_cents)."
            )
        earlier = self.earlier_today.cents
        if earlier + spent + most > limits.daily_cents:
            return (
                f"The next call can cost {amount(most)}, {amount(earlier + spent)} were spent today, "
                f"and the limit for one day is {amount(limits.daily_cents)} (llm.daily_cents)."
            )
        return None


def cents(prices: Prices, prompt_tokens: int, answer_tokens: int) -> float:
    """Return the cost of these tokens in cents."""
    return prices.prompt * prompt_tokens + prices.answer * answer_tokens


def amount(value: float) -> str:
    """Return an amount of money as text."""
    return f"{value:.4g} cents"
