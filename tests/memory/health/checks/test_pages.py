"""Doctor on what entities go by."""

from __future__ import annotations

from clawmem.memory.health.checks.pages import alias_problems
from clawmem.memory.health.checks.problem import WARNING


def test_an_alias_that_is_a_path_leads_to_one_entity_alone() -> None:
    entities = {"areas/people/jane", "areas/people/janet", "archives/otters", "resources/otters", "projects/x"}
    aliases = {
        "areas/people/jane": ("areas/people/jane", "JD"),
        "areas/people/janet": ("JD", "Areas/people/jane"),
        "archives/otters": ("projects/otters", "areas/otters"),
        "resources/otters": ("projects/otters",),
        "projects/x": (),
    }
    found = list(alias_problems(aliases, entities))
    assert {(problem.severity, problem.check) for problem in found} == {(WARNING, "alias")}
    assert [(problem.path, problem.message.partition(":")[0]) for problem in found] == [
        (
            "life/areas/people/janet/summary.md",
            "The alias 'areas/people/jane' of areas/people/janet leads to areas/people/jane itself",
        ),
        (
            "life/archives/otters/summary.md",
            "The alias 'projects/otters' of archives/otters and resources/otters could mean any of them",
        ),
    ]
