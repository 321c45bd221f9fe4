"""The text beside a recall's JSON: from what is at hand where that is enough, and never less exact than it says."""

from __future__ import annotations

from clawmem.index.search.channels import FactFilter
from clawmem.index.tables.background import exact_counter
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.serving.recall.recall import recall
from clawmem.serving.recall.result import brief
from clawmem.vault.vault import Vault


def kept(vault: Vault, caller: Caller, *texts: str, **more: object) -> None:
    """Keep facts."""
    remember(vault, [draft_from_record({"fact": text, **more}, caller.now) for text in texts], caller)


def test_what_people_said_is_told_within_its_own_count(vault: Vault, caller: Caller) -> None:
    kept(vault, caller, "The pear trees stand by the wall", "Pears ripen in September")
    message = brief(recall(vault, "pear", caller, FactFilter(), 10), 4000)
    assert message is not None
    assert len(message.facts) == 2
    assert message.text.count("\n- ") == 2
    assert exact_counter()(message.text) <= message.tokens
    assert message.counted_by == "upper bound"


def test_what_needs_a_closer_look_is_left_to_the_full_text(vault: Vault, caller: Caller) -> None:
    kept(vault, caller, "The pear trees stand by the wall")
    found = recall(vault, "pear", caller, FactFilter(), 10)
    assert brief(found, 5) is None
    kept(vault, caller, "Pear prices doubled abroad", trust="external")
    assert brief(recall(vault, "pear", caller, FactFilter(), 10), 4000) is None
