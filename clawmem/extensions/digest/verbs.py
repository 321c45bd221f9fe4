"""`clawmem digest file|status`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from clawmem.errors import DONE, PARTIAL
from clawmem.extensions.digest.digest import (
    BY_READER,
    DigestedSource,
    DigestResult,
    add_document,
    digest,
    digestion,
    queue_of,
)
from clawmem.extensions.digest.phases import PROPOSED
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import FILE, OF_ENTITY, Parameter
from clawmem.faces.parts.records_of_work import PROJECT_OF_NEW, SCOPE_OF_NEW, WORKFLOW_OF_NEW
from clawmem.faces.parts.words import said
from clawmem.heartbeat.queue import QueueRun, answer_tasks
from clawmem.model.language.text import counted
from clawmem.model.progress import OnProgress
from clawmem.model.records.digestion import PHASES, Claim, DigestionItem
from clawmem.work.session_end_records import WorkScope

_NOUNS = {"claims": "claim", "links": "link"}
_NO_CLAIM = "{}: no sentence states a claim that can be understood alone. The text is in the ledger."
_UNREAD = (
    "{} read by rules only, which find little: `recall` finds the rest in the text, and `clawmem learn pending` gives"
    " it to a reader"
)


def file(
    call: Call,
    file: Annotated[str, FILE],
    title: Annotated[
        str | None, Parameter("The title of the document; the default is the name of the file.", ("--title",))
    ],
    entity: Annotated[
        str | None, OF_ENTITY._replace(help="The entity of claims that name none; the default is made from the title.")
    ],
    workflow: Annotated[str | None, WORKFLOW_OF_NEW],
    scope: Annotated[str | None, SCOPE_OF_NEW],
    project: Annotated[str | None, PROJECT_OF_NEW],
) -> Answer:
    """Store the text of a file in the ledger, and reduce it to claims at once: about five for 2,000 words, each with
    its evidence and its links. What is not sure enough becomes a proposal. The same text again changes nothing. PDF,
    DOCX, PPTX, HTML, EPUB and mail need the extra `documents`."""
    from clawmem.faces.parts.reading import document_or_text
    from clawmem.faces.parts.records_of_work import work_scope

    vault, caller = call.runtime.vault(), call.runtime.caller()
    of = work_scope(call, workflow, scope, project) if workflow or scope or project else WorkScope()
    name = "stdin" if file == "-" else file.rsplit("/", 1)[-1]
    found = document_or_text(call, file, name)
    document = None if isinstance(found, str) else found
    text = found if isinstance(found, str) else found.text
    added = add_document(vault, text, title or name, caller, of, entity, scope, document)
    with call.progress() as report:
        result = _digested(call, added.key, report)
    answer = _answer(result, DigestedSource(added.key, added.item))
    return answer._replace(notices=[*answer.notices, *document.notices]) if document else answer


def _digested(call: Call, only: str, report: OnProgress | None) -> DigestResult:
    """Let the model read a source, and the rules what it did not read."""
    vault, caller, model = call.runtime.vault(), call.runtime.caller(), call.runtime.model()
    asked = answer_tasks(vault, caller, model, [digestion(only)]) if model else QueueRun()
    outcome = digest(vault, caller, only, report=report)
    read = {source.key: source for result in asked.of("digest") for source in result.sources}
    problems = (*([asked.problem] if asked.problem else []), *outcome.problems)
    sources = (*(other for other in read.values()), *(source for source in outcome.sources if source.key not in read))
    return DigestResult(sources, (*asked.commits, *outcome.commits), problems)


def status(call: Call) -> Answer:
    """Show each source with its phase, and what its claims became."""
    queue = queue_of(call.runtime.vault())
    rows = [(key, item.phase, _words(item), item.title) for key, item in queue.items()]
    talk = () if rows else ("Nothing was digested yet.",)
    table = Table(("source", "phase", "claims", "title"), rows)
    return Answer({"sources": [_data(key, item) for key, item in queue.items()]}, table, talk=talk)


def _answer(result: DigestResult, added: DigestedSource) -> Answer:
    sources = {source.key: source for source in (added, *result.sources)}.values()
    items = [source.item for source in sources]
    lines = []
    for source in sources:
        lines.append(f"{source.key}  {source.item.phase}: {_words(source.item)}  {source.item.title}")
        lines += [f"{claim.became or PROPOSED}: {claim.text}" for claim in source.claims]
    again = "The next heartbeat tries again."
    notices = [f"{each.message} {again} {each.hint}".strip() for each in result.problems]
    data = {"sources": [_data(*source) for source in sources], "commits": list(result.commits)}
    talk = [_NO_CLAIM.format(item.title) for item in items if item.counts.get("claims") == 0]
    unread = sum(item.by != BY_READER for item in items)
    talk += [_UNREAD.format(counted(unread, "text"))] if unread and not result.problems else []
    return Answer(data, lines, notices, PARTIAL if result.problems else DONE, talk)


def _data(key: str, item: DigestionItem, claims: Sequence[Claim] = ()) -> dict[str, Any]:
    found = [{"claim": claim.text, "became": claim.became or PROPOSED} for claim in claims]
    about = {"session": item.session, "by": item.by, "error": item.error, "counts": dict(item.counts)}
    known = {"source": key, "title": item.title, "phase": item.phase, "failures": item.failures}
    return known | said({**about, "claims": found or None})


def _words(item: DigestionItem) -> str:
    if item.error:
        return f"failed {item.failures} times: {item.error}"
    counts = item.counts or {"claims": len(item.claims)}
    return ", ".join(counted(number, _NOUNS.get(name, name), name) for name, number in counts.items())


_SOURCE = {
    "source": str, "title": str, "phase": set(PHASES), "failures": int, "session?": str, "by?": {"model", "rules"},
    "error?": str, "counts?": {str: int}, "claims?": [{"claim": str, "became": str}],
}  # fmt: skip
_DIGESTED = {"sources": [_SOURCE], "commits": [str]}

VERB = {
    "file": Command(
        file,
        _DIGESTED,
        ("clawmem digest file report.md --entity projects/website",),
        ("sources",),
    ),
    "status": Command(status, {"sources": [_SOURCE]}, ("clawmem digest status",), ("sources",)),
}
