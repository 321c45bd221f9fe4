"""A vault of any size filled with invented facts, the same for the same arguments.

    python benchmarks/corpus.py FOLDER --facts 10000 [--entities 500] [--seed 1]

The words follow Zipf's law over a vocabulary of invented and common words, as those of real notes do: a few stand
in a tenth of the facts, most in a handful. A twentieth of the facts are superseded by a later one.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path

from benchmarks.measure import environment
from clawmem.model.facts.codec import render_items
from clawmem.model.facts.fact import ACTIVE, SUPERSEDED, Fact
from clawmem.model.pages.summary import summary_page
from clawmem.model.records.change import Change, trailers
from clawmem.model.records.entity import Entity, items_path, kind_of, slug, summary_path, title_of
from clawmem.model.records.event import Event, ledger_path, render_events
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.vault import Vault

_SAID = ("I think", "Did you see", "Yesterday we had", "No,", "Tell me about", "It was")
NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
_STARTS = "b br c ch cl d dr f fl g gr h j k kr l m n p pr qu r s sh sl st t th tr v w y z".split()
_HEARTS = "a ai ar e ee en er i in ir o oa on or ou u un ur".split()
_ENDS = "d k l ll m n nd ng nt r rk s sh st t v x".split()
_COMMON = (
    "project meeting team customer report plan budget release server family weekend school coffee dinner travel "
    "train garden music book film doctor car house office computer phone email design review test bug feature "
    "deadline contract invoice holiday birthday training marathon guitar kitchen window friend sister brother manager "
    "morning evening monday friday summer winter price question answer idea change problem support data model update"
).split()
_PATTERNS = (
    "{who} prefers {a} {noun} over {b} {noun2} for the {c}",
    "{who} works on the {a} {noun} with {who2} until the {noun2} of {c}",
    "{who} moved to {a} because the {noun} near {b} was {c}",
    "The {a} {noun} of {who} needs a {b} {noun2} before {c}",
    "{who} decided to use {a} for the {noun}, since {b} {noun2} broke on {c}",
    "{who} is allergic to {a} and avoids every {noun} with {b}",
    "{who} met {who2} at the {a} {noun} and talked about {b} {noun2} and {c}",
    "{who} said that the {noun} costs {number} and the {a} {noun2} {number2}",
)
_PREDICATES = ("prefers", "works_at", "lives_in", "likes", "owns", "uses")
_CATEGORIES = ("preference", "status", "decision", "relationship", "milestone", "fact")


class Words:
    """A source of words and names with Zipf-like frequencies."""

    def __init__(self, chance: random.Random, size: int = 20_000, names: int = 1_500) -> None:
        self._chance = chance
        invented = dict.fromkeys(self._invented() for _ in range(size))
        rare = [word for word in invented if word not in _COMMON]
        self._words = list(_COMMON) + rare
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(self._words))))
        self.names = list(dict.fromkeys(self._invented().capitalize() for _ in range(names)))
        self._name_weights = list(accumulate(1 / (rank + 20) for rank in range(len(self.names))))

    def word(self) -> str:
        """One word, common ones more often."""
        return self._chance.choices(self._words, cum_weights=self._weights)[0]

    def name(self) -> str:
        """One person's name."""
        return self._chance.choices(self.names, cum_weights=self._name_weights)[0]

    def _invented(self) -> str:
        chance = self._chance
        syllables = chance.choice((1, 2, 2, 3))
        parts = (chance.choice(_STARTS) + chance.choice(_HEARTS) for _ in range(syllables))
        return "".join(parts) + chance.choice(_ENDS)


def invented_facts(count: int, entities: Sequence[str], seed: int) -> Iterator[tuple[str, Fact]]:
    """Facts with the entity each belongs to."""
    chance = random.Random(seed)
    words = Words(chance)
    weights = list(accumulate(1 / (rank + 10) for rank in range(len(entities))))
    ids = [f"fact_{number:08x}" for number in chance.sample(range(16**8), count)]
    for number, fact_id in enumerate(ids):
        entity = chance.choices(entities, cum_weights=weights)[0]
        replaced = number < count - 1 and chance.random() < 0.05
        yield entity, _fact(chance, words, fact_id, ids[-1] if replaced else None)


def _fact(chance: random.Random, words: Words, fact_id: str, successor: str | None) -> Fact:
    who, when = words.name(), NOW - timedelta(minutes=chance.randrange(60 * 24 * 700))
    statement = chance.choice(_PATTERNS).format(
        who=who,
        who2=words.name(),
        noun=words.word(),
        noun2=words.word(),
        a=words.word(),
        b=words.word(),
        c=words.word(),
        number=chance.randrange(2, 900),
        number2=chance.randrange(1000, 90_000),
    )
    dated, triple = chance.random() < 0.3, chance.random() < 0.4
    return Fact(
        id=fact_id,
        fact=statement + ".",
        category=chance.choice(_CATEGORIES),
        timestamp=when.strftime("%Y-%m-%dT%H:%M:%SZ"),
        source="conversation",
        status=SUPERSEDED if successor else ACTIVE,
        access_count=min(int(chance.expovariate(0.5)), 40),
        superseded_by=successor,
        subject=who if triple else None,
        predicate=chance.choice(_PREDICATES) if triple else None,
        object=words.word() if triple else None,
        valid_from=(when - timedelta(days=chance.randrange(90))).strftime("%Y-%m-%d") if dated else None,
        source_text=statement + "." if chance.random() < 0.5 else None,
        confidence=round(chance.uniform(0.5, 1), 2),
        importance=round(chance.random(), 2) if chance.random() < 0.2 else None,
        trust="user",
        tags=tuple(words.word() for _ in range(chance.choice((0, 0, 1, 2)))),
    )


def entity_names(count: int, seed: int) -> list[str]:
    """Names of people, projects, areas and resources."""
    chance = random.Random(seed + 1)
    words = Words(chance, 4_000, count * 2)
    roots = ("areas/people", "projects", "areas", "resources", "areas/companies")
    return list(dict.fromkeys(f"{chance.choice(roots)}/{slug(name)}" for name in words.names))[:count]


def invented_files(facts: int, entities: int, seed: int) -> dict[str, bytes | None]:
    """The vault files of so many facts."""
    names = entity_names(entities, seed)
    shelves: dict[str, list[Fact]] = {name: [] for name in names}
    for entity, fact in invented_facts(facts, names, seed):
        shelves[entity].append(fact)
    files: dict[str, bytes | None] = {}
    for name, kept in shelves.items():
        described = Entity(name, title_of(name), (), kind_of(name))
        files[items_path(name)] = render_items(kept)
        files[summary_path(name)] = summary_page(described, "2026-11-21").encode()
    return files


def invented_events(count: int, seed: int) -> dict[str, bytes | None]:
    """The ledgers of so many turns between people who are in facts of the same seed, fifty turns a day."""
    chance = random.Random(seed)
    words = Words(chance)
    days: dict[str, list[Event]] = {}
    for number in range(count):
        day = (NOW - timedelta(days=1 + number // 50)).strftime("%Y-%m-%d")
        text = f"{chance.choice(_SAID)} {' '.join(words.word() for _ in range(chance.randrange(4, 24)))}."
        when = f"{day}T{number % 50 // 10 + 9:02}:{number % 10:02}:00Z"
        event = Event(f"evt_{number:016x}", when, "user", text, words.name(), f"s{number // 50}")
        days.setdefault(day, []).append(event)
    return {ledger_path(day): render_events(items) for day, items in days.items()}


def make_vault(root: Path, facts: int, entities: int = 500, seed: int = 1, events: int = 0) -> Vault:
    """A vault at `root` (new or empty) with so many invented facts and events, all in one commit after the first.

    It is made by the user of the home beside it, whom measured processes run for: hooks use no vault of another."""
    vault = create_vault(root, environment(root.parent / "home"), NOW)
    with transaction(vault, NOW, "corpus") as started:
        files = {**invented_files(facts, entities, seed), **invented_events(events, seed)}
        started.commit([Change(f"corpus(vault): {facts} invented facts", files, trailers("corpus"))])
    return vault


def questions(count: int, seed: int = 1) -> list[str]:
    """Questions whose words occur in the facts of the same seed, common and rare ones mixed."""
    chance = random.Random(seed)
    words = Words(chance)
    forms = ("What does {who} think about the {a} {b}?", "When did {who} talk about {a} and {b}?", "{a} {b} {c} budget")
    return [
        chance.choice(forms).format(who=words.name(), a=words.word(), b=words.word(), c=words.word())
        for _ in range(count)
    ]


def main() -> None:
    """Make the vault that the command line asks for and say how large it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--entities", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    made = parser.parse_args()
    started = time.perf_counter()
    vault = make_vault(made.folder.absolute(), made.facts, made.entities, made.seed)
    print(f"{made.facts} facts about {made.entities} entities in {vault.root}, {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
