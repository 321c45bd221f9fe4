"""`clawmem org connect|disconnect|status|query|promote|withdraw|pull|review`."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Annotated, Any

from clawmem.errors import DONE, PARTIAL, IncompleteAnswer, InvalidInput, Refused
from clawmem.extensions.hub.organisation import (
    OrganisationStatus,
    ask_organisation,
    connect_organisation,
    disconnect_organisation,
    organisation_folder,
    organisation_status,
    promote_to_organisation,
    withdraw_from_organisation,
    withdraw_what_ended,
)
from clawmem.extensions.hub.organisation_pull import PullResult, retract_copies
from clawmem.extensions.hub.organisation_pull import pull as pull_act
from clawmem.extensions.hub.organisation_search import facts_as_recalled, query_organisation
from clawmem.extensions.hub.postgres.organisation import MOST_COUNTED, Promotion, decide_promotion, identity, promotions
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import FACT, REASON, Parameter
from clawmem.faces.parts.words import HUB_FACT, data_of, said
from clawmem.memory.facts.gates import gate_fact
from clawmem.model.facts.reach import ORGANISATION
from clawmem.model.language.text import counted
from clawmem.model.proposals.quarantine import reviewer_needed

LIST, APPROVE, REJECT = "list", "approve", "reject"
_SHOWN = attrgetter("status", "scope", "vault", "fact", "asked_by", "claim")
_DIGITS = 18  # of the largest number that the hub has
_STATUSES = ("pending", "approved", "rejected", "withdrawn")
_DECIDED = {
    "approved": "approved: it is shared with the scope",
    "rejected": "rejected",
    "withdrawn": "withdrawn: the scope does not see it any more",
}


def connect(
    call: Call,
    url: Annotated[
        str,
        Parameter(
            "The address of a hub, such as postgresql://ana@hub.example/clawmem, or -; or the folder of a vault."
        ),
    ],
) -> Answer:
    """Store the address of a hub, or the folder of another vault, on this machine.

    It must answer there. The address has no password: that is read from ~/.pgpass, a service file or PGPASSWORD. `-`
    stands for the PG variables of the environment. A folder is a vault with a work tree, on this machine or a shared
    file system; of a bare repository or a remote behind a network, connect a clone."""
    runtime = call.runtime
    address, who = connect_organisation(runtime.vault(), url, runtime.resolved)
    data = {"address": address, "org": who.org, "name": who.name, "role": who.role}
    return Answer(data, [f"connected to {who.name} ({who.org}) at {address} as {who.role}"], is_report=True)


def disconnect(
    call: Call, retract: Annotated[bool, Parameter("Retract the facts that were pulled.", ("--retract",))]
) -> Answer:
    """Remove the address from this machine.

    Facts that were pulled stay, labelled; with --retract, they are retracted in one commit."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    had = disconnect_organisation(vault)
    retracted, commit = retract_copies(vault, caller) if retract else ((), None)
    lines = ["disconnected" if had else "the vault was connected to no organisation"]
    lines += [f"retracted {counted(len(retracted), 'pulled fact')}"] if retract else []
    return Answer({"disconnected": had, "retracted": list(retracted), "commit": commit}, lines, is_report=True)


def status(call: Call) -> Answer:
    """Show the organisation, your rights and your promotions.

    Facts of this vault that were withdrawn here are withdrawn there. Exit code 4: the organisation could not be
    asked."""
    vault = call.runtime.vault()
    found = organisation_status(vault)
    withdrawn: tuple[str, ...] = ()
    if found.problem is None and found.promotions:
        withdrawn = withdraw_what_ended(vault, call.runtime.caller())
        found = organisation_status(vault) if withdrawn else found
    if found.problem is not None:
        words = f"{found.problem.message} {found.problem.hint}".strip()
        data = {"address": found.address, "reachable": False, "problem": words}
        return Answer(data, [f"organisation  {found.address}"], (IncompleteAnswer(words),), PARTIAL)
    return Answer(_status_data(found), _status_lines(found), _withdrawn_notice(withdrawn))


def query(
    call: Call,
    question: Annotated[str, Parameter("The question, or - for stdin.", stdin=True)],
    limit: Annotated[int | None, Parameter("The maximum number of facts.", ("--limit", "-n"), least=1, most=1000)],
) -> Answer:
    """Find facts of the organisation for a question.

    Those of this vault are among them. You see what your role reads."""
    asked = question.strip()
    if not asked:
        raise InvalidInput("The question is empty.", "Example: clawmem org query 'which port does the gateway use?'")
    vault = call.runtime.vault()
    most = limit or vault.settings.whole("defaults.limit")
    found = query_organisation(vault, call.runtime.caller(), asked, most, facts_as_recalled)
    data = found.data()
    lines = found.lines()
    return Answer(data, lines, found.notices(), talk=() if lines else ("Nothing was found.",))


def promote(
    call: Call,
    fact: Annotated[str, FACT],
    scope: Annotated[str, Parameter("The scope at the organisation.", ("--scope", "-s"), default=ORGANISATION)],
) -> Answer:
    """Share a fact with a broader scope.

    It must pass the gates of the wiki, and your role must have the right to promote there. Where the organisation
    reviews promotions, it waits for a person. So does a fact that an agent stated or that reads as an order, where
    others read the scope."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    gated = gate_fact(vault, caller, fact)
    result = promote_to_organisation(vault, caller, gated.placed, gated.results, scope)
    waits = result.status == "pending"
    data = {
        "fact": gated.placed.fact.id,
        "promotion": result.number,
        "status": result.status,
        "scope": result.scope,
        "new": result.is_new,
    }
    before = "" if result.is_new else " before"
    words = f"waits for review as promotion {result.number}" if waits else f"is shared with the scope {result.scope}"
    why = reviewer_needed(gated.placed.fact) if waits else None
    line = f"{gated.placed.fact.id} {words}{f', asked for{before}' if before else ''}{f': {why}' if why else ''}"
    return Answer(data, [line], _withdrawn_notice(result.withdrawn))


def withdraw(call: Call, fact: Annotated[str, FACT], reason: Annotated[str | None, REASON]) -> Answer:
    """Take a promoted fact back from every scope. The vault keeps it."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    placed = gate_fact(vault, caller, fact).placed
    number = withdraw_from_organisation(vault, caller, placed.fact, reason)
    line = f"{placed.fact.id}: {counted(number, 'promotion')} withdrawn"
    return Answer({"fact": placed.fact.id, "withdrawn": number}, [line])


def pull(
    call: Call,
    yes: Annotated[bool, Parameter("Redact copies whose origin was redacted, without a question.", ("--yes",))],
) -> Answer:
    """Bring facts of the organisation into this vault.

    They are those that were promoted out of other vaults and that your role reads, in one commit. The copies are
    labelled and read-only, below resources/organisation/. They keep their origin and their author, and are retracted
    when it was withdrawn there. If an origin was redacted, its copy is redacted here, which rewrites history, after a
    question or with --yes. Exit code 4: copies wait for that."""
    vault, caller = call.runtime.vault(), call.runtime.caller()
    pull = pull_act(vault, caller, yes)
    number = counted(len(pull.to_redact), "fact")
    asks = f"{number} redacted at the origin; the copies here: {', '.join(pull.to_redact)}"
    if pull.to_redact and call.confirmed([asks], "Rewrite history?"):
        again = pull_act(vault, caller, may_redact=True)
        pull = again._replace(
            added=pull.added, changed=pull.changed, retracted=pull.retracted, commit=pull.commit or again.commit
        )
    notices = [*pull.notices, *_withdrawn_notice(pull.withdrawn)]
    notices += [f"{name} was left out: {reason}" for name, reason in pull.refused]
    if pull.to_redact:
        notices.append(
            IncompleteAnswer(
                f"{number} redacted at the origin: the words are still in the history of this vault."
                " `clawmem org pull --yes` rewrites it."
            )
        )
    data = data_of(pull, refused=[{"fact": name, "reason": reason} for name, reason in pull.refused])
    lines = [
        f"{pull.org}: {len(pull.added):,} new, {len(pull.changed):,} changed, {len(pull.retracted):,} retracted,"
        f" {len(pull.redacted):,} redacted"
    ]
    return Answer(data, lines, notices, PARTIAL if pull.to_redact else DONE)


def review(
    call: Call,
    action: Annotated[str, Parameter("{choices}.", default=LIST, choices=(LIST, APPROVE, REJECT))],
    promotion: Annotated[str | None, Parameter("The number of the promotion.")],
    status: Annotated[
        str, Parameter("List those that are {choices}.", ("--status",), default="pending", choices=_STATUSES)
    ],
    reason: Annotated[str | None, REASON],
) -> Answer:
    """List promotions, or approve or reject one.

    The list has those that you may decide and those that you asked for. To reject an approved one takes the fact away
    from the scope again."""
    for word, choices in ((action, (LIST, APPROVE, REJECT)), (status, _STATUSES)):
        if word not in choices:
            raise InvalidInput(f"'{word}' is not a choice of `org review`.", f"Choose from {', '.join(choices)}.")
    vault = call.runtime.vault()
    if (folder := organisation_folder(vault)) is not None:
        raise Refused("The organisation is a vault with a queue of its own.", f"`clawmem --vault {folder} review`.")
    if action == LIST:
        who, found = ask_organisation(vault, lambda hub: (identity(hub), promotions(hub, status)))
        data = {"org": who.org, "promotions": [each._asdict() for each in found]}
        rows = [(str(each.number), *_SHOWN(each)) for each in found]
        table = Table(("promotion", "status", "scope", "vault", "fact", "asked by", "says"), rows)
        return Answer(data, table, talk=() if found else (f"No promotion is {status}.",))
    if promotion is None or not (promotion.isascii() and promotion.isdigit()) or len(promotion) > _DIGITS:
        raise InvalidInput("Name a promotion by its number.", "`clawmem org review` lists them.")
    number = int(promotion)
    decided = ask_organisation(vault, lambda hub: decide_promotion(hub, number, action == APPROVE, reason))
    return Answer({"promotion": number, "status": decided}, [f"promotion {number} is {_DECIDED[decided]}"])


def _status_data(found: OrganisationStatus) -> dict[str, Any]:
    assert found.who is not None
    own = found.own
    return {
        "address": found.address,
        "reachable": True,
        "org": found.who.org,
        "name": found.who.name,
        "role": found.who.role,
        "review": found.who.review,
        "rights": {scope: list(may) for scope, may in found.who.rights.items()},
        "readable": found.readable,
        "promoted": found.promoted,
        **({"vault": said(own._asdict())} if own else {}),
        "promotions": [{"fact": fact, "scope": scope, "status": state} for fact, scope, state in found.promotions],
    }


def _status_lines(found: OrganisationStatus) -> Iterator[str]:
    who, own = found.who, found.own
    assert who is not None
    yield f"organisation  {who.name} ({who.org}) at {found.address}"
    yield f"role          {who.role}"
    for scope, may in who.rights.items():
        yield f"  {scope}: {', '.join(may)}"
    waits = "wait where its review.routes say so" if found.is_vault else "wait for review"
    yield f"promotions    {waits if who.review else 'are shared at once, but those by agents and orders'}"
    yield f"facts         {_counted_to(found.readable)} readable, {_counted_to(found.promoted)} of them promoted"
    if found.is_vault:
        yield f"this vault    {counted(len(found.promotions), 'promotion')}"
    elif own is None:
        yield "this vault    not at the hub, or not readable for this role"
    else:
        yield f"this vault    {own.vault}, scope {own.scope}, taken in {own.taken_at or 'never'}"
    for fact, scope, state in found.promotions:
        yield f"  {fact}  {state} in {scope}"


def _counted_to(number: int) -> str:
    return f"{number:,}{' or more' if number == MOST_COUNTED else ''}"


def _withdrawn_notice(withdrawn: tuple[str, ...]) -> tuple[str, ...]:
    return (f"withdrawn at the organisation, as here: {', '.join(withdrawn)}",) if withdrawn else ()


VERB = {
    "connect": Command(
        connect,
        {"address": str, "org": str, "name": str, "role": str},
        ("clawmem org connect postgresql://ana@hub.example/clawmem", "clawmem org connect ~/acme"),
        person="decides which data leaves this machine",
    ),
    "disconnect": Command(
        disconnect,
        {"disconnected": bool, "retracted": [str], "commit": (str, None)},
        ("clawmem org disconnect",),
        person="decides which data leaves this machine",
    ),
    "status": Command(
        status,
        (
            {
                "address": str,
                "reachable": bool,
                "org": str,
                "name": str,
                "role": str,
                "review": bool,
                "rights": {str: [str]},
                "readable": int,
                "promoted": int,
                "vault?": {"vault": str, "scope": str, "taken_at?": str},
                "promotions": [{"fact": str, "scope": str, "status": str}],
            },
            {"address": str, "reachable": bool, "problem": str},
        ),
        ("clawmem org status",),
    ),
    "query": Command(
        query,
        {"org": str, "facts": [HUB_FACT]},
        ("clawmem org query 'which port does the gateway use?'",),
        ("facts",),
    ),
    "promote": Command(
        promote,
        {"fact": str, "promotion": (int, str), "status": str, "scope": str, "new": bool},
        ("clawmem org promote fact_1a2b --scope organisation",),
    ),
    "withdraw": Command(
        withdraw,
        {"fact": str, "withdrawn": int},
        ("clawmem org withdraw fact_1a2b --reason 'It holds for this team only.'",),
    ),
    "pull": Command(
        pull,
        {"org": str, "...": PullResult, "refused": [{"fact": str, "reason": str}]},
        ("clawmem org pull",),
    ),
    "review": Command(
        review,
        (
            {
                "org": str,
                "promotions": [{"...": Promotion, "gates": {str: str}}],
            },
            {"promotion": int, "status": str},
        ),
        ("clawmem org review", "clawmem org review approve 12"),
        ("promotions",),
        person=lambda record: "" if record["action"] == LIST else "decides for the organisation",
    ),
}
