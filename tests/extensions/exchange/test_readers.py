"""Readers of foreign memories: what each format gives, and what is left out and why."""

from __future__ import annotations

import json

import pytest

from clawmem.errors import InvalidInput
from clawmem.extensions.exchange import foreign_memory as mem0
from clawmem.extensions.exchange.foreign_memory import Files, ForeignMemory, SkippedMemory
from clawmem.extensions.exchange.formats import MEMORY_FORMATS, format_of
from clawmem.vault.strict_yaml import parse_yaml

MEM0 = json.dumps(
    {
        "results": [
            {
                "id": "m1",
                "memory": "Likes rye bread",
                "created_at": "2025-02-03T04:05:06-07:00",
                "categories": ["food"],
                "metadata": {"confidence": 0.9},
                "user_id": "mara",
            },
            {"id": "m2", "memory": ""},
        ]
    }
)
AUTO = """---
name: port
description: The development server listens on port 8123.
metadata:
  type: project
  updated_at: 2026-01-02T03:04:05Z
---

Port 8000 is taken by the proxy. See [[proxy]].
"""
OKF = """---
type: Playbook
title: Stale orders
description: How to treat an alert about stale orders.
tags: [oncall]
status: deprecated
stale_after: 2026-03-01
generated: { by: writer/1, at: 2025-12-01T08:00:00Z }
verified: { by: "human:mara", at: 2025-12-02T08:00:00Z }
sources:
  - { id: runbook, resource: https://example.org/runbook, title: Runbook }
---

# Trigger

The alert fires after **30 minutes**; see the [orders table](/tables/orders.md).[^runbook]

| a | b |
|---|---|

[^runbook]: Runbook
"""
ORDERS = "---\ntype: Table\ntitle: Orders\n---\n\nOrders has a row for each order.\n"
DAILY = "# 2026-04-05\n\n## Build\n\n- The build needs libfoo 3.\n"
USER = """- Speak German. <!-- observed: 2026-01-01 | status: active -->
- Speak French. <!-- observed: 2025-01-01 | status: retired -->
"""
NOTE = """---
title: Coffee
permalink: drinks/coffee
tags: [drinks]
created: 2026-01-07
---

- [method] Pour over needs a fine filter #brewing
- relates_to [[Tea]]
- [ ] buy beans

Coffee with [[Milk|oat milk]] is fine.
"""

_LIFE, _FINANCE = "memory/global/life", "memory/agents/finance/workspace"
PARA = {
    f"{_LIFE}/areas/people/jane/items.json": json.dumps(
        [
            {"id": "j2", "fact": "Jane lives in Bergen", "timestamp": "2025-05-02", "status": "active",
             "source": "chat", "accessCount": 3, "relatedEntities": ["companies/acme", "?"]},
            {"id": "j1", "fact": "Jane lives in Oslo", "timestamp": "2025-03-01", "supersededBy": "j2"},
            {"id": "j0", "fact": "Jane drinks mead", "timestamp": "2024-01-01", "status": "superseded"},
            {"id": "j3", "fact": "Jane is 7 feet tall", "status": "retracted"},
            {"id": "j4"},
        ]
    ),
    f"{_LIFE}/areas/people/jane/summary.md": "# Jane\n\nShe lives in Bergen.\n",
    f"{_LIFE}/projects/site/summary.md": "# Site\n\nThe site is built with Hugo.\n\n```\nmake\n```\n",
    f"{_FINANCE}/projects/budget/items.json": '{"facts": [{"fact": "The budget is 5,000 euros."}]}',
    f"{_FINANCE}/areas/x/items.json": "no list",
    "memory/agents/finance/SOUL.md": "You are careful.\n",
    "memory/global/daily/2025-05-03.md": "# 2025-05-03\n\n- 09:30 Met Jane\n",
    "memory/global/TACIT.md": "- Prefers short answers\n",
}  # fmt: skip
MEMFS = {
    "system/human.md": "---\ndescription: The user\n---\n\nThe user lives in Bergen.\n",
    "system/persona.md": "---\ndescription: Me\n---\n\nI am careful.\n",
    "notes/site.md": "The site is built with Hugo.\n",
}
SAMPLES: dict[str, Files] = {
    "para": PARA,
    "mem0": {"export.json": MEM0},
    "claude-memory": {"port.md": AUTO, "MEMORY.md": "- [port](port.md)\n"},
    "okf": {"playbooks/stale.md": OKF, "tables/orders.md": ORDERS, "index.md": "# Index\n"},
    "agent-memory": {"memory/2026-04-05.md": DAILY, "USER.md": USER},
    "notes": {"drinks/coffee.md": NOTE},
}


def read(name: str) -> tuple[list[ForeignMemory], list[SkippedMemory]]:
    found = list(MEMORY_FORMATS[name].read(SAMPLES[name], parse_yaml))
    kept = [memory for memory in found if isinstance(memory, ForeignMemory)]
    return kept, [memory for memory in found if isinstance(memory, SkippedMemory)]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_format_is_recognised_by_its_files(name: str) -> None:
    assert format_of(SAMPLES[name], parse_yaml, "sample") == name


def test_other_files_are_refused_with_the_list_of_formats() -> None:
    with pytest.raises(InvalidInput, match="was recognised") as refused:
        format_of({"a.json": "{}", "b.md": "Some text.\n"}, parse_yaml, "sample")
    assert "mem0" in (refused.value.hint or "")
    with pytest.raises(InvalidInput, match="is not a format"):
        format_of({}, parse_yaml, "sample", "zotero")


def test_a_para_tree_keeps_places_dates_chains_and_whose_it_is() -> None:
    kept, skipped = read("para")
    rows = [(memory.statement, memory.entity, memory.timestamp, memory.replaces, memory.record) for memory in kept]
    jane, finance = "areas/people/jane", {"details": {"agent": "finance"}}
    of_jane = {"related_entities": ["areas/companies/acme", "?"], "details": {"source": "chat"}}
    assert rows == [
        ("The budget is 5,000 euros.", "@finance/projects/budget", None, None, finance),
        ("Jane lives in Bergen", jane, "2025-05-02T00:00:00Z", "j1", {**of_jane, "valid_from": "2025-05-02T00:00:00Z"}),
        ("Jane lives in Oslo", jane, "2025-03-01T00:00:00Z", None, {"valid_from": "2025-03-01T00:00:00Z"}),
        ("Jane drinks mead", jane, "2024-01-01T00:00:00Z", None, {"valid_to": "2024-01-01T00:00:00Z"}),
        ("Prefers short answers", None, None, None, {}),
        ("The site is built with Hugo.", "projects/site", None, None, {}),
    ]
    assert [memory.place.rpartition("/")[2] for memory in skipped] == [
        "items.json", "items.json#4", "items.json#5", "SOUL.md", "summary.md:5",
    ]  # fmt: skip
    [message] = MEMORY_FORMATS["para"].messages(PARA)
    assert (message.text, message.timestamp) == ("- 09:30 Met Jane", "2025-05-03T09:30:00Z")


def test_of_lettas_repository_the_pages_are_read_but_not_how_it_is_to_behave() -> None:
    assert format_of(MEMFS, parse_yaml, "sample") == "agent-memory"
    found = list(MEMORY_FORMATS["agent-memory"].read(MEMFS, parse_yaml))
    assert [memory.place for memory in found if isinstance(memory, SkippedMemory)] == ["system/persona.md"]
    statements = [memory.statement for memory in found if isinstance(memory, ForeignMemory)]
    assert statements == ["The site is built with Hugo.", "The user lives in Bergen."]


def test_memories_of_mem0_keep_id_time_tags_and_user() -> None:
    [memory], [skipped] = read("mem0")
    assert (memory.statement, memory.key, memory.timestamp) == ("Mara likes rye bread", "m1", "2025-02-03T11:05:06Z")
    assert memory.record == {"tags": ["food"], "confidence": 0.9, "details": {"user_id": "mara"}}
    assert skipped.reason == "it has no text"


def test_a_page_of_auto_memory_says_its_description_and_its_body() -> None:
    [memory], skipped = read("claude-memory")
    lead = "The development server listens on port 8123."
    assert memory.statement == f"{lead} Port 8000 is taken by the proxy. See proxy."
    assert memory.quote == "Port 8000 is taken by the proxy. See [[proxy]]."
    assert (memory.timestamp, memory.record["category"], skipped) == ("2026-01-02T03:04:05Z", "project", [])


def test_a_concept_keeps_sources_trust_end_and_links() -> None:
    kept, skipped = read("okf")
    first, second, third = kept
    assert first.statement == "How to treat an alert about stale orders."
    assert second.statement == "Trigger: The alert fires after 30 minutes; see the orders table."
    assert second.entity == "resources/stale-orders" and second.timestamp == "2025-12-01T08:00:00Z"
    assert second.record["related_entities"] == ["resources/orders"]
    assert second.record["valid_to"] == "2025-12-01" and second.record["tags"] == ["oncall"]
    assert second.record["details"] == {
        "generated_by": "writer/1",
        "verified_by": ["human:mara"],
        "review_by": "2026-03-01",
        "sources": [{"resource": "https://example.org/runbook", "title": "Runbook"}],
    }
    assert third.entity == "resources/orders" and third.record == {}
    assert [memory.place for memory in skipped] == ["playbooks/stale.md:18"]


def test_lists_of_agents_keep_their_days_and_leave_out_what_is_retired() -> None:
    kept, skipped = read("agent-memory")
    assert [(memory.statement, memory.timestamp) for memory in kept] == [
        ("Speak German.", "2026-01-01T00:00:00Z"),
        ("The build needs libfoo 3.", "2026-04-05T00:00:00Z"),
    ]
    assert [memory.reason for memory in skipped] == ["it is marked as retired"]


def test_notes_with_links_give_observations_relations_and_text() -> None:
    kept, _ = read("notes")
    assert [memory.statement for memory in kept] == [
        "Coffee: Pour over needs a fine filter",
        "Coffee relates to Tea.",
        "Coffee: buy beans (open)",
        "Coffee with oat milk is fine.",
    ]
    assert kept[0].record["category"] == "method" and kept[0].record["tags"] == ["drinks", "brewing"]
    assert kept[3].record["related_entities"] == ["resources/milk"]


@pytest.mark.parametrize("name", MEMORY_FORMATS)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1, null]",
        '{"type": "entity"}',
        "---\ntype: [\n---\n",
        "---\n- a\n---\n\n- [x]\n",
        "\x00",
        '{"nodes": 3, "edges": [1]}',
    ],
)
def test_no_reader_fails_on_odd_files(name: str, text: str) -> None:
    files = {"a.json": text, "b.jsonl": text, "c.md": text, "memory/2026-01-01.md": text}
    list(MEMORY_FORMATS[name].read(files, parse_yaml))
    assert MEMORY_FORMATS[name].fits(files, parse_yaml) in (True, False)


@pytest.mark.parametrize(
    ("user", "memory", "statement", "entity"),
    [
        ("greta", "Is allergic to walnuts", "Greta is allergic to walnuts", "areas/people/greta"),
        ("greta.lund", "User's sister lives in Kiel", "Greta Lund's sister lives in Kiel", "areas/people/greta-lund"),
        ("greta", "The user likes to hike", "Greta likes to hike", "areas/people/greta"),
        ("greta", "Greta has a boat", "Greta has a boat", "areas/people/greta"),
        ("greta", "Favourite colour is blue", "Greta: Favourite colour is blue", "areas/people/greta"),
        ("u-4711", "Is allergic to walnuts", "Is allergic to walnuts", None),
        ("default_user", "Is allergic to walnuts", "Is allergic to walnuts", None),
    ],
)
def test_a_memory_of_mem0_names_its_owner(user: str, memory: str, statement: str, entity: str | None) -> None:
    text = json.dumps({"results": [{"id": "a1", "memory": memory, "user_id": user}]})
    [other_memory] = list(mem0.read({"export.json": text}, lambda text, place: None))
    assert isinstance(other_memory, ForeignMemory)
    assert (other_memory.statement, other_memory.entity, other_memory.quote) == (statement, entity, memory)


def statements(name: str, files: Files) -> list[str]:
    found = MEMORY_FORMATS[name].read(files, parse_yaml)
    return [memory.statement for memory in found if isinstance(memory, ForeignMemory)]


def test_openclaw_marks_a_directive_on_the_line_above_it() -> None:
    page = (
        "# USER.md\n\n_Update this as you go._\n\n- **Name:**\n- **Timezone:** Europe/Oslo\n\n"
        "<!-- observed: 2026-05-10 | status: superseded -->\n\n- Prefer long answers.\n\n"
        "<!-- observed: 2026-07-27 | status: active -->\n\n- Prefer short answers.\n"
        "<!-- observed: 2026-07-28 | status: active -->\n- Never use emoji.\n\n"
        "<!-- observed: YYYY-MM-DD | status: active -->\n\n- Prefer ...\n"
    )
    found = list(MEMORY_FORMATS["agent-memory"].read({"USER.md": page}, parse_yaml))
    kept = {memory.statement: memory.timestamp for memory in found if isinstance(memory, ForeignMemory)}
    assert kept == {
        "Timezone: Europe/Oslo": None,
        "Prefer short answers.": "2026-07-27T00:00:00Z",
        "Never use emoji.": "2026-07-28T00:00:00Z",
    }
    reasons = [memory.reason for memory in found if isinstance(memory, SkippedMemory)]
    assert "it is marked as superseded" in reasons and len(found) == 7


def test_of_codex_the_lists_for_its_own_look_ups_are_left_out() -> None:
    registry = (
        "# Task Group: boat\n\nscope: building the boat\n\n## Task 1\n\n### rollout_summary_files\n\n"
        "- rollout_summaries/a.md (cwd=/boat, thread_id=t)\n\n### keywords\n\n- clang, cmake\n\n"
        "## Reusable knowledge\n\n- The boat builds only with clang 17.\n"
    )
    summary = "thread_id: t\nupdated_at: 2026-02-03T10:00:00Z\n\n# Built\n\n- cmake needs the path of clang.\n"
    files = {"MEMORY.md": registry, "rollout_summaries/a.md": summary}
    found = MEMORY_FORMATS["agent-memory"].read(files, parse_yaml)
    kept = {memory.statement: memory.timestamp for memory in found if isinstance(memory, ForeignMemory)}
    assert kept == {
        "The boat builds only with clang 17.": None,
        "cmake needs the path of clang.": "2026-02-03T10:00:00Z",
    }


def test_claude_code_says_when_a_memory_was_changed_and_in_which_session() -> None:
    page = (
        "---\nname: sync\ndescription: The sync is dead.\nmetadata: \n  node_type: memory\n  type: project\n"
        "  originSessionId: c3a4\n  modified: 2026-08-02T13:50:25.379Z\n---\n\nSince July.\n"
    )
    [found] = MEMORY_FORMATS["claude-memory"].read({"sync.md": page}, parse_yaml)
    assert isinstance(found, ForeignMemory)
    assert (found.timestamp or "")[:10] == "2026-08-02" and found.record["details"] == {"session": "c3a4"}


def test_a_page_with_a_permalink_is_basic_memorys_though_it_has_a_type() -> None:
    page = "---\ntitle: Venv\ntype: note\npermalink: venv\n---\n\n**Python:**\n- See [[Setup]] first.\n"
    files = {"venv.md": page}
    assert format_of(files, parse_yaml, "sample") == "notes"
    assert statements("notes", files) == ["Venv: See Setup first."]


@pytest.mark.parametrize(
    "document",
    (
        {"provider": "letta", "archival_memories": [{"id": "a", "content": "Mara rows."}]},
        json.dumps({"agents": [], "blocks": [{"label": "human", "value": "\nMara rows.\n"}]}),
        {"core_memory": [{"label": "human", "value": "Mara rows."}]},
    ),
)
def test_letta_writes_its_memories_in_three_ways(document: object) -> None:
    files = {"agent.af": json.dumps(document)}
    assert format_of(files, parse_yaml, "sample") == "mem0"
    assert statements("mem0", files) == ["Mara rows."]


def test_addresses_names_of_lists_and_quote_marks_are_no_statements() -> None:
    page = (
        "---\ntype: Note\ntitle: Pier\n---\n\n# Citations\n- https://example.org/a\n\n"
        "> [!note]\n> The pier is oak.\n\n**Right order:**\n"
    )
    assert statements("okf", {"pier.md": page, "index.md": "# I\n"}) == ["Citations: The pier is oak."]


def _read(name: str, files: Files) -> list[ForeignMemory]:
    found = MEMORY_FORMATS[name].read(files, parse_yaml)
    return [memory for memory in found if isinstance(memory, ForeignMemory)]


def test_lines_without_words_and_code_marks_of_a_block_are_no_statements() -> None:
    value = "# About\n---\n***\n- \n```\n- Name: Ana\nLikes tea"
    found = _read("mem0", {"agent.af": json.dumps({"blocks": [{"label": "human", "value": value}]})})
    assert [memory.statement for memory in found] == ["Name: Ana", "Likes tea"]


def test_properties_without_a_value_pictures_and_quoted_tables_of_notes() -> None:
    page = "---\nrole: null\nplace: ~\nend:\nowner: Ana\n---\nThe plan ![[plan.png]] is in [[Archive]].\n\n"
    table = "> [!note] Ports\n> | host | port |\n> | --- | :-: |\n> | [[Pier\\|quay]] | `a|b` |\n"
    found = _read("notes", {"Tide.md": page + table, "Pier.md": "[[Tide]]"})
    assert [memory.statement for memory in found if memory.title == "Tide"] == [
        "Tide's owner is Ana",
        "Tide: The plan plan.png is in Archive.",
        "Tide: Ports",
        "Tide: host: quay, port: `a|b`",
    ]
    assert [memory.record.get("related_entities") for memory in found if memory.title == "Tide"] == [
        None,
        ["resources/archive"],
        None,
        ["resources/pier"],
    ]


@pytest.mark.parametrize("line", ["[" * 30_000, "![[" * 10_000, "[[a#" * 10_000, "|-|-" + " " * 30_000 + "x"])
def test_the_time_for_marks_that_nothing_closes_does_not_explode(line: str) -> None:
    files = {"a.md": f"[[b]] k | z\n{line}\nend"}
    assert format_of(files, parse_yaml, "a.md") == "notes"
    assert _read("notes", files) == []
