"""One readable file of each kind, and one that cannot be read. A kind without an entry here fails `test_kinds.py`."""

from __future__ import annotations

from clawmem.model.kinds import ROOMS, all_kinds

CONFLICT = b"<<<<<<< ours\nA boat.\n=======\nA ship.\n>>>>>>> theirs\n"
FACT = (
    b'[\n{"id": "fact_%08x", "fact": "The boat is blue.", "timestamp": "2026-11-20T08:00:00Z", "source": "hand"}\n]\n'
)
SUMMARY = b'---\ntitle: "Boat"\n---\n\n# Boat\n\n<!-- clawmem:begin -->\n<!-- clawmem:end -->\n'
EVENT = b'{"id": "evt_1", "timestamp": "2026-11-20T08:00:00Z", "role": "user", "text": "Hello."}\n'
PROPOSAL = (
    b'{"id": "prop_0000abcd", "kind": "conflict", "status": "open", "says": "Which?", "why": "Two values.",'
    b' "created": "2026-11-20T08:00:00Z", "does": "retract",'
    b' "targets": [{"id": "fact_00000001", "fact": "The boat is blue."}]}\n'
)
OUTCOMES = b'{"changed": "2026-11-20", "outcomes": {"recalled": 1}}\n'
REDACTIONS = b'{"redactions": [\n  {"at": "2026-11-20T08:00:00Z", "by": "a person", "commits": 1, "base": "02ab"}\n]}\n'
SUITE = (
    b"description: Boats\ntests:\n  - description: The boat is blue.\n    vars: {question: Which colour?}\n"
    b"    assert: [{type: contains, value: blue}]\n"
)
RUN = (
    b'{"id": "run_1", "timestamp": "2026-11-20T08:00:00Z", "suite": "boats", "commit": null, "version": "0.1.0",'
    b' "checksum": "00", "scores": []}\n'
)
GRANT = b'{"id": "grant_1", "timestamp": "2026-11-20T08:00:00Z", "who": "jane", "may": ["health"]}\n'
FAILURE = b'{"id": "fail_1", "timestamp": "2026-11-20T08:00:00Z", "mode": "loop"}\n'
PRINCIPLE = b"no-tar:\n  rule: No tar.\n  reason: It sticks.\n  check: {regex: tar}\n  good: paint\n  bad: tar\n"

# By kind: a path, a file that can be read, and one that cannot.
FILES: dict[str, tuple[str, bytes, bytes]] = {
    "settings": ("clawmem.yaml", b"format: 1\nsemantic:\n  model: none\n", b"format: [1\n"),
    "predicate catalog": ("predicates.yaml", b"likes:\n  phrases: [loves]\n", b"likes: {\n"),
    "instructions": ("AGENTS.md", b"# For agents\n", CONFLICT),
    "memory page": ("MEMORY.md", b"# Memory\n", CONFLICT),
    "git settings": (".gitignore", b"*.tmp\n", b"\xff\xfe\n"),
    "index of entities": ("life/index.md", b"# Index\n", CONFLICT),
    "facts": ("life/projects/boat/items.json", FACT % 1, b"[\n{broken\n]\n"),
    "entity summary": ("life/projects/ship/summary.md", SUMMARY, b"---\ntitle: [\n---\n"),
    "daily note": ("daily/2026-11-20.md", b"# 2026-11-20\n\n- 08:00 Sailed.\n", CONFLICT),
    "undated note": ("daily/boats.md", b"# Boats\n", b"Jos\xe9\n"),
    "ledger day": ("ledger/2026-11-20.jsonl", EVENT, b"not json\n"),
    "learning cursor": ("ledger/learned.json", b'{"days": {}, "mentions": {}}\n', b'{"days": 3}\n'),
    "accesses": ("ledger/accesses.json", b'{"fact_00000001": [3, "2026-11-20T08:00:00Z"]}\n', b'{"fact_1": 3}\n'),
    "promotion outcomes": ("ledger/adaptation.json", OUTCOMES, b'{"outcomes": {"recalled": "x"}}\n'),
    "redactions": ("ledger/redactions.json", REDACTIONS, b'{"redactions": 3}\n'),
    "digestion queue": (
        "ledger/digestion.json",
        b'{"document:1": {"title": "Boats", "added": "2026-11-20T08:00:00Z"}}\n',
        b'{"document:1": {"phase": "chew"}}\n',
    ),
    "agent's page": ("agents/cli/TACIT.md", b"# Tacit\n", CONFLICT),
    "agent's daily note": ("agents/cli/daily/2026-11-20.md", b"# 2026-11-20\n\n- Rowed.\n", b"Jos\xe9\n"),
    "agent's undated note": ("agents/cli/daily/boats.md", b"# Boats\n", CONFLICT),
    "session record": ("agents/cli/sessions/s1.json", b'{"id": "s1"}\n', b'{"name": "s1"}\n'),
    "claims of sessions": (
        "agents/cli/claims.json",
        b'{"s1": {"seen": "2026-11-20T08:00:00Z", "claims": [{"kind": "task", "what": "boat"}]}}\n',
        b'{"s1": {"seen": "2026-11-20T08:00:00Z", "claims": [{"kind": "tisk", "what": "boat"}]}}\n',
    ),
    "scratchpad": ("agents/cli/scratchpads/boat.md", b"# Boat\n\n## Goal\n\nPaint it.\n", CONFLICT),
    "failure modes": (
        "governance/failures.yaml",
        b"loop: {guardrail: Stop.}\n",
        b"sinking:\n  signs: [water]\n",
    ),
    "access policy": ("governance/access.yaml", b"people: {jane: {role: owner}}\n", b"people: [jane]\n"),
    "grants": ("governance/grants.jsonl", GRANT, b'{"id": "grant_1"}\n'),
    "failures": ("governance/failures.jsonl", FAILURE, b'{"id": "fail_1"}\n'),
    "principles": ("governance/principles.yaml", PRINCIPLE, b"no-tar:\n  rule: No tar.\n"),
    "guardrails page": ("governance/GUARDRAILS.md", b"# Guardrails\n", CONFLICT),
    "workflow": ("workflows/boats.yaml", b"title: Boats\n", b"title: [Boats\n"),
    "wiki page": ("wiki/areas/boats.md", b"# Boats\n", CONFLICT),
    "eval suite": ("governance/evals/boats.yaml", SUITE, b"description: Boats\ntests: {}\n"),
    "eval runs": ("governance/eval-runs.jsonl", RUN, b'{"id": "run_1"}\n'),
    "task": (
        "tasks/paint-the-boat.md",
        b"---\ntitle: Paint the boat\nstate: open\n---\n\n## Acceptance\n\n- [ ] It is blue.\n",
        b"---\ntitle: Paint the boat\nstate: started\n---\n",
    ),
    "evaluations": (
        "governance/evaluations.jsonl",
        b'{"id": "eval_0000abcd", "at": "2026-11-20T08:00:00Z", "task": "paint", "work": "boat", "found": "fail",'
        b' "verdict": "fail", "reason": "1 of 1 criteria are refuted.", "results": [{"criterion": "rule: exists hull",'
        b' "kind": "rule", "result": "refuted", "evidence": "No file matches hull.", "confidence": 1.0,'
        b' "evaluator": "rule", "cents": 0.0, "milliseconds": 3}], "by": "a person"}\n',
        b'{"id": "eval_0000abcd"}\n',
    ),
    "alignment": (
        "governance/alignment.jsonl",
        b'{"id": "eval_0000abcd", "at": "2026-11-20T09:00:00Z", "task": "paint", "found": "fail",'
        b' "verdict": "fail", "ruling": "reject", "outcome": "agreed", "kinds": {"rule": "agreed"}, "by": "Ada"}\n',
        b'{"id": "eval_0000abcd", "kinds": 3}\n',
    ),
    "proposal": ("review/prop_0000abcd.json", PROPOSAL, b'{"id": "prop_0000abcd"}\n'),
}
for room in ROOMS:
    FILES[f"placeholder in {room}"] = (f"{room}/empty/.gitkeep", b"", b"\xff\n")
    # Nothing reads the other version of a file, so it can always be read.
    FILES[f"other version in {room}"] = (f"{room}/boats.other-0123abcd.json", b"{\n", b"")
    if room not in ("ledger", "wiki"):
        FILES[f"document in {room}"] = (f"{room}/more/about/boats.md", b"# About boats\n", CONFLICT)

READ = [kind.name for kind in all_kinds() if kind.name in FILES and not kind.name.startswith("other version")]
