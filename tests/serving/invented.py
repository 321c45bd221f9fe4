"""Small vaults full of what is hard to serve: odd texts, facts that are gone, conflicts, own facts, notes, events."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from clawmem.index.tables.intake import take_in
from clawmem.index.tables.store import Index, create_in_memory
from clawmem.model.facts.codec import render_items
from clawmem.model.facts.fact import STATUSES, TRUSTS, Fact, FactLink
from clawmem.model.language.languages import word_list
from clawmem.model.records.entity import items_path, summary_path
from clawmem.vault.state.journal import AccessCount
from clawmem.vault.vault import Vault

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
AGENT = "finance"
ENTITIES = ("areas/people/jane", "projects/boat", "@finance/projects/budget", "@other/projects/spy", "resources/bike")
_WORDS = sorted(word_list("common"))[::53]
_ODD = (
    "</clawmem-context> don't I'LL 1234567 2026-11-21 é 日本 😀 ß ٣12 x1 — ... (((  \n\n\t `` <|endoftext|> "
    "<CLAWMEM-CONTEXT> \u2028 \u00a0 zqxj !!!!\r\n"
).split(" ")
_TIMES = ("2026-11-20T10:00:00Z", "2026-10-28T10:00:00Z", "2026-11-14T09:30:00Z", "2026-10-22T09:30:00Z")


class Invented(NamedTuple):
    """The facts of an invented vault with their entities, and its files."""

    facts: tuple[tuple[str, Fact], ...]
    files: dict[str, bytes | None]


def invent(seed: int, most: int = 60) -> Invented:
    """A vault of up to so many facts, the same for the same seed."""
    chance = random.Random(seed)
    ids = [f"fact_{number:08x}" for number in chance.sample(range(16**8), chance.randrange(most))]
    facts = tuple((chance.choice(ENTITIES), _fact(chance, fact_id, ids)) for fact_id in ids)
    files: dict[str, bytes | None] = {}
    for name in ENTITIES:
        files[items_path(name)] = render_items(fact for entity, fact in facts if entity == name)
        if chance.random() < 0.5:
            files[summary_path(name)] = f"---\ntitle: {json.dumps(name)}\n---\n# {name}\n\n{_words(chance)}\n".encode()
    for page in ("TACIT.md", "CONTEXT.md", "daily/2026-11-20.md", "daily/2026-11-19.md"):
        if chance.random() < 0.5:
            lines = "\n".join(f"- {_words(chance)}" for _ in range(chance.randrange(1, 6)))
            files[f"agents/{AGENT}/{page}"] = f"# {page}\n\n{lines}\n".encode()
    files["ledger/2026-11-20.jsonl"] = b"".join(_event(chance, number) for number in range(chance.randrange(5)))
    return Invented(facts, files)


def talkative(seed: int) -> Invented:
    """A vault of 500 facts and 500 events that all mention a boiler, from a few words to a hundred each."""
    chance = random.Random(seed)
    texts = [f"boiler {n} {' '.join(chance.choices(_WORDS, k=chance.choice((3, 8, 20, 60))))}" for n in range(1000)]
    ids = [f"fact_{number:08x}" for number in chance.sample(range(16**8), 500)]
    facts = tuple(
        ("projects/boat", Fact(fact_id, text, "fact", "2026-11-20T10:00:00Z", "conversation", importance=0.5))
        for fact_id, text in zip(ids, texts, strict=False)
    )
    items = [
        {"id": f"evt_{n:08x}", "timestamp": f"2026-11-20T10:{n % 60:02}:00Z", "role": "user", "text": text}
        for n, text in enumerate(texts[500:])
    ]
    files: dict[str, bytes | None] = {items_path("projects/boat"): render_items(fact for _, fact in facts)}
    files["ledger/2026-11-20.jsonl"] = b"".join((json.dumps(record) + "\n").encode() for record in items)
    return Invented(facts, files)


def indexed(vault: Vault, invented: Invented) -> Index:
    """An index of the invented vault, in memory."""
    index = create_in_memory(vault, "a test")
    index.notices = ()
    with index.writing():
        take_in(index, invented.files)
    return index


def accessed(seed: int, invented: Invented) -> dict[str, AccessCount]:
    """Accesses of some of the facts that no commit holds yet."""
    chance = random.Random(seed)
    chosen = [fact.id for _, fact in invented.facts if chance.random() < 0.2]
    return {
        fact_id: AccessCount(chance.choice((1, 2, 12)), chance.choice(_TIMES)) for fact_id in [*chosen, "fact_gone"]
    }


def _fact(chance: random.Random, fact_id: str, ids: list[str]) -> Fact:
    known = chance.random() < 0.4
    links = (FactLink("contradicts", chance.choice(ids)),) if chance.random() < 0.1 else ()
    return Fact(
        fact_id,
        f"{fact_id} {_words(chance)}",
        "fact",
        _time(chance),
        "conversation",
        chance.choice((*STATUSES, "active", "active", "active")),
        access_count=chance.choice((0, 0, 0, 1, 10, 11, 20, 21)),
        last_accessed=_time(chance) if chance.random() < 0.5 else None,
        subject=chance.choice(("Jane", "jane", "Ravi")) if known else None,
        predicate=chance.choice(("lives_in", "works_at", "likes")) if known else None,
        object=chance.choice(("Lisbon", "lisbon", "Porto", "Graz")) if known else None,
        valid_from=chance.choice((None, None, "2026-11-20", "2025-01-01", "2027-05-01")),
        valid_to=chance.choice((None, None, None, "2026-11-20", "2026-12-01")),
        source_event=f"evt_{chance.randrange(5):08x}" if chance.random() < 0.5 else None,
        source_text=_words(chance) if chance.random() < 0.5 else None,
        importance=chance.choice((None, None, 0.5, 0.1, 0.79, 0.8, 0.95)),
        trust=chance.choice((None, *TRUSTS)),
        links=links,
    )


def _words(chance: random.Random) -> str:
    count = chance.choice((1, 3, 8, 20, 60))
    words = [chance.choice(_ODD if chance.random() < 0.3 else _WORDS) for _ in range(count)]
    return " ".join(words).strip() or "x"


def _time(chance: random.Random) -> str:
    if chance.random() < 0.1:
        return chance.choice(("soon", "2026-11-14", "2026-11-14T09:30:00.000001Z", "2026-11-14T11:30:00+02:00", ""))
    if chance.random() < 0.3:
        return chance.choice(_TIMES)
    return (NOW - timedelta(minutes=chance.randrange(-2000, 200_000))).strftime("%Y-%m-%dT%H:%M:%SZ")


def _event(chance: random.Random, number: int) -> bytes:
    record = {"id": f"evt_{number:08x}", "timestamp": f"2026-11-20T10:0{number}:00Z", "role": "user"}
    return (json.dumps({**record, "text": _words(chance), "speaker": "Jane"}) + "\n").encode()
