"""`clawmem publish`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Annotated, Any

from clawmem.errors import DONE, PARTIAL, InvalidInput
from clawmem.extensions.hub.contract import Line, numbered_lines, read_line
from clawmem.extensions.hub.contract_export import Published
from clawmem.extensions.hub.contract_export import publish as act
from clawmem.extensions.hub.contract_plan import OUTCOMES, REFUSED, STORED, LineAnswer
from clawmem.faces.parts.command import Answer, Call, Command, Feed
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.parts.reading import opened
from clawmem.model.facts.fact import TRUSTS
from clawmem.model.language.text import check_choice, counted


def publish(
    call: Call,
    file: Annotated[str, Parameter("Lines of the contract, or - for stdin.", completes="file")],
    trust: Annotated[
        str, Parameter("The highest trust of the claims: {choices}.", ("--trust",), default="external", choices=TRUSTS)
    ],
) -> Feed:
    """Each line is a JSON object with entity, claim, source, confidence, timestamp and author; `clawmem schema
    contract` prints the schema. Each line gets one line as its answer: stored, changed, known, waits (for review) or
    refused. A line that comes again adds nothing. Exit code 4 if a line was refused."""
    check_choice(trust, "trust level", TRUSTS)
    vault, caller = call.runtime.vault(), call.runtime.caller()
    count: Counter[str] = Counter()
    last: list[Published] = []

    def records() -> Iterator[dict[str, Any]]:
        with opened(call, file) as o:
            for published in act(vault, _lines(o), caller, trust):
                count.update(answer.outcome for answer in published.answers)
                last[:] = [published._replace(commit=published.commit or (last[0].commit if last else None))]
                yield from ({key: value for key, value in answer._asdict().items() if value is not None}
                            for answer in published.answers)  # fmt: skip

    def end() -> Answer:
        text = ", ".join(
            f"{count[outcome]} {outcome}" for outcome in OUTCOMES if count[outcome] or outcome in (STORED, REFUSED)
        )
        commit = last[0].commit if last else None
        items = [f"{counted(count.total(), 'line')}: {text}"]
        items += [] if commit else ["nothing changed; no commit was made"]
        notices = last[0].notices if last else ()
        return Answer({}, (), notices, PARTIAL if count[REFUSED] else DONE, talk=items)

    return Feed(records(), _words, end)


def _lines(o: IO[bytes]) -> Iterator[Line | LineAnswer]:
    for number, data in numbered_lines(o):
        try:
            yield read_line(number, data)
        except InvalidInput as problem:
            yield LineAnswer(number, REFUSED, reason=problem.message)


def _words(record: Mapping[str, Any]) -> str:
    parts: Iterable[Any] = (record["line"], record["outcome"], record.get("id", "-"), record.get("entity", "-"))
    reason = record.get("reason")
    return "\t".join(map(str, parts)) + (f"\t{reason}" if reason else "")


VERB = Command(
    publish,
    {"line": int, "outcome": set(OUTCOMES), "id?": str, "entity?": str, "reason?": str},
    ("clawmem publish claims.jsonl", "clawmem publish - < claims.jsonl"),
)
