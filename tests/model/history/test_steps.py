"""A history with merges becomes a line of steps: each commit is in one, and each step contains the one before."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from clawmem.model.history.steps import CommitInfo, steps_between


@st.composite
def histories(draw: st.DrawFn) -> list[CommitInfo]:
    """Commits, parents before children, all of which lead to the last one."""
    count = draw(st.integers(1, 14))
    made: list[CommitInfo] = []
    for number in range(count):
        known = [info.commit for info in made]
        parents = draw(st.lists(st.sampled_from(known), min_size=1, max_size=2, unique=True)) if known else []
        made.append(CommitInfo(f"c{number}", tuple(parents), "Ada <a@b>", number, ""))
    wanted = ancestors(made, f"c{count - 1}")
    return [info for info in made if info.commit in wanted]


def ancestors(commits: list[CommitInfo], of: str) -> set[str]:
    """A commit and all before it."""
    known = {commit_info.commit: commit_info for commit_info in commits}
    found: set[str] = set()
    waiting = [of]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += known[name].parents
    return found


@settings(max_examples=40)
@given(histories(), st.data())
def test_each_commit_is_in_one_step_and_each_step_contains_the_one_before(
    commits: list[CommitInfo], data: st.DataObject
) -> None:
    old = data.draw(st.sampled_from([None, *(commit_info.commit for commit_info in commits)]))
    known = ancestors(commits, old) if old else set()
    new = [commit_info for commit_info in commits if commit_info.commit not in known]
    steps = steps_between(old, new)
    taken = [info.commit for step in steps for info in (*step.merged, step.commit)]
    assert sorted(taken) == sorted(info.commit for info in new)
    reached, before = set(known), old
    for step in steps:
        assert step.before == before
        assert before is None or before in step.commit.parents
        reached |= {info.commit for info in (*step.merged, step.commit)}
        assert reached == ancestors(commits, step.commit.commit)
        before = step.commit.commit
    if new:
        assert before == commits[-1].commit
