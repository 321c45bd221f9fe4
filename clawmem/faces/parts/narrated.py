"""The answer to a question as text, for the verbs that have --narrative."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from clawmem.errors import DONE
from clawmem.faces.parts.command import Call
from clawmem.index.search.lookup import PlacedFact
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event
from clawmem.model.settings.settings import SYNTHESIZE
from clawmem.serving.narrative import check_model_set, narrate
from clawmem.vault.vault import Vault


class Narrated(NamedTuple):
    """The text, the data for JSON, the notices and the exit code."""

    text: str
    data: dict[str, Any]
    notices: tuple[str, ...]
    exit_code: int


def narrated(
    call: Call, vault: Vault, caller: Caller, question: str, facts: Iterable[PlacedFact], events: Sequence[Event] = ()
) -> Narrated:
    """Let the model of the settings answer a question. Raise Refused if none is set."""
    narrative = narrate(vault, caller, check_model_set(call.runtime.model(SYNTHESIZE)), question, facts, events)
    data: dict[str, Any] = {
        "text": narrative.text,
        "sentences": [{"text": sentence.text, "facts": list(sentence.cites)} for sentence in narrative.sentences],
    }
    failed = narrative.problem
    if failed:
        data["problem"] = failed.message
    why = [f"{failed.message} {failed.hint}".strip()] if failed else []
    if not narrative.text and not failed:
        why = ["the model found no answer in what was found"]
    return Narrated(narrative.text, data, (*narrative.notices, *why), failed.exit_code if failed else DONE)
