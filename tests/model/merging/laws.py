"""What must hold of every merge of whole vaults, each law for one random seed."""

from __future__ import annotations

from collections import Counter

from clawmem.model.facts.codec import parse_items
from clawmem.model.facts.fact import Fact
from clawmem.model.kinds import PROPOSAL_FILE, file_kind
from clawmem.model.lifecycle import chain
from clawmem.model.merging.fields import MergePolicy
from clawmem.model.merging.tree import Files, MergedTree, merge_trees
from clawmem.model.proposals.proposal import parse_proposal
from clawmem.model.records.event import parse_events
from clawmem.model.records.layout import is_owned
from tests.model.merging.histories import ANYTHING, LEDGER, NOTE, ORDERLY, Life, Step, first_vault, record_of

# Of what Jane sees there is one thing at a time.
SINGLE = frozenset({"sees"})
REVIEW = MergePolicy(single=SINGLE)


def lives(
    seed: int, clones: int, doing: tuple[Step, ...] = ANYTHING, few_ids: bool = False
) -> tuple[Files, list[Files]]:
    """A vault with some past, and what became of it on some machines."""
    past = Life(first_vault(), seed).live(seed % 12, doing)
    return past, [Life(past, seed * 7 + number + 1, few_ids).live(1 + seed % 13, doing) for number in range(clones)]


def merged(base: Files, ours: Files, theirs: Files, policy: MergePolicy = REVIEW) -> MergedTree:
    """The merge of whole vaults given as they are."""
    paths = sorted({*base, *ours, *theirs})
    full = [{path: side.get(path) for path in paths} for side in (base, ours, theirs)]
    return merge_trees(full[0], full[1], full[2], policy)


def there(files: Files) -> dict[str, bytes]:
    """The files that exist."""
    return {path: data for path, data in files.items() if data is not None}


def facts(files: Files) -> dict[str, tuple[Fact, str]]:
    """Return the facts by id with their files; raise if an id occurs twice."""
    found = [
        (fact, path)
        for path, data in there(files).items()
        if path.endswith("items.json")
        for fact in parse_items(data, path)
    ]
    assert max(Counter(fact.id for fact, _ in found).values(), default=1) == 1
    return {fact.id: (fact, path) for fact, path in found}


def statements(*sides: Files) -> Counter[str]:
    return Counter(fact.fact for side in sides for fact, _ in facts(side).values())


def told(files: Files) -> dict[str, tuple[str, str]]:
    """Return the contents of the vault, without order."""
    found = facts(files)
    return {key: (record_of(fact, found), path) for key, (fact, path) in found.items()}


def events(files: Files) -> list[str]:
    return [event.id for event in parse_events(there(files)[LEDGER], LEDGER)]


def assert_sound(files: Files) -> None:
    """Check that all files parse, all chains are valid and no conflict markers are left."""
    items = [fact for fact, _ in facts(files).values()]
    assert chain.chain_problems(items) == ()
    for path, data in there(files).items():
        assert is_owned(path)
        assert b"<<<<<<<" not in data and b">>>>>>>" not in data
        if file_kind(path) is PROPOSAL_FILE:
            parse_proposal(data, path)
    times = [event.timestamp for event in parse_events(there(files)[LEDGER], LEDGER)]
    assert times == sorted(times)


def assert_nothing_lost(base: Files, sides: list[Files], result: MergedTree) -> None:
    """Every fact and event of every side is there, unless a side took out what no other one touched."""
    after = facts(result.files)
    new_names = {(other_id.side, other_id.old): other_id.new for other_id in result.renamed}
    taken_out = {key for side in sides for key in facts(base).keys() - facts(side).keys()}
    for name, side in zip(("ours", "theirs"), sides, strict=False):
        for fact_id, (fact, _) in facts(side).items():
            key = new_names.get((name, fact_id), fact_id)
            assert key in after or fact_id in taken_out, f"{fact_id} ({fact.fact}) of {name} is lost"
            if fact_id not in taken_out:
                texts = {other_fact.fact for other_fact, _ in after.values()}
                before = facts(base).get(fact_id)
                assert fact.fact in texts or (before and before[0].fact == fact.fact), fact.fact
    assert set(events(result.files)) == {event for side in sides for event in events(side)}
    notes = there(result.files)[NOTE].decode().splitlines()
    for side in sides:
        assert set(there(side)[NOTE].decode().splitlines()) <= set(notes)
        pages = " ".join(data.decode() for path, data in there(result.files).items() if path.endswith("summary.md"))
        written = [
            line
            for path, data in there(side).items()
            if path.endswith("summary.md")
            for line in data.decode().splitlines()
        ]
        assert all(line in pages for line in written if line.startswith("Jane"))


def either_side_may_be_named_first(seed: int, few_ids: bool) -> None:
    """The merge is the same whichever side is ours, and loses nothing of either."""
    base, (record, other) = lives(seed, 2, ANYTHING, few_ids)
    first, second = merged(base, record, other), merged(base, other, record)
    assert first.files == second.files
    assert sorted(first.conflicts) == sorted(second.conflicts)
    assert_sound(first.files)
    assert_nothing_lost(base, [record, other], first)


def once_is_enough(seed: int) -> None:
    """What is merged with itself, with its past, or a second time, stays as it is."""
    base, (record, other) = lives(seed, 2)
    assert there(merged(base, record, record).files) == there(record)
    assert there(merged(base, record, base).files) == there(record)
    both = merged(base, record, other).files
    # What was merged once and comes back from elsewhere is not merged again.
    assert there(merged(record, both, record).files) == there(both)
    assert there(merged(both, both, both).files) == there(both)


def any_order_will_do(seed: int, clones: int) -> None:
    """Machines merged from the first to the last say the same as from the last to the first."""
    base, sides = lives(seed, clones, ORDERLY)
    forward = sides[0]
    for side in sides[1:]:
        forward = merged(base, forward, side).files
    backward = sides[-1]
    for side in reversed(sides[:-1]):
        backward = merged(base, side, backward).files
    assert_sound(forward)
    assert told(forward) == told(backward)
    assert sorted(events(forward)) == sorted(events(backward))
    assert sorted(there(forward)[NOTE].splitlines()) == sorted(there(backward)[NOTE].splitlines())


def machines_that_meet_in_turn_end_alike(seed: int, clones: int) -> None:
    """Each goes on from where the shared branch was when it last met it, as with pushes to one host."""
    shared, _ = lives(seed, 1)
    known = [shared] * clones
    for turn in range(clones * 2):
        me = (seed >> turn) % clones
        mine = Life(known[me], seed + turn).live(1 + (seed + turn) % 5, ANYTHING)
        shared = there(merged(known[me], mine, shared).files)
        assert_sound(shared)
        known[me] = shared
    met = [merged(record, record, shared).files for record in known]
    assert all(there(record) == there(shared) for record in met)


def every_policy_is_safe(seed: int, name: str, newer: str) -> None:
    """Under every conflict policy, every fact is kept and every chain is valid."""
    base, (record, other) = lives(seed, 2)
    result = merged(base, record, other, MergePolicy(name, newer, SINGLE))
    assert_sound(result.files)
    missing = {*facts(record), *facts(other)} - facts(result.files).keys()
    assert all(key in facts(base) for key in missing)
