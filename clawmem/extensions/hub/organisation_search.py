"""Facts of the organisation for a question, as lines and as JSON beside the vault's own facts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from clawmem.errors import (
    ClawmemError,
    IncompleteAnswer,
    InvalidInput,
    NotFound,
    NotPermitted,
    RemoteFailed,
)
from clawmem.extensions.hub.organisation import ask_organisation, organisation_folder
from clawmem.extensions.hub.organisation_vault import FactSearch, FoundFacts, own_among, search_folder
from clawmem.extensions.hub.postgres.organisation import identity
from clawmem.extensions.hub.postgres.search import HubFact, HubHit, HubQuestion, search_facts
from clawmem.index.refresh import run_query
from clawmem.index.search.channels import FactFilter
from clawmem.index.search.lookup import PlacedFact, by_ids
from clawmem.index.tables.rights import is_restricted
from clawmem.index.tables.store import Index
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import EXTERNAL, RETRACTED
from clawmem.model.facts.fact_words import change_labels
from clawmem.model.facts.pulled import origin_of
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import counted, one_line, visible
from clawmem.model.pages import context_frame as frame
from clawmem.model.pages.tokens import fact_dates, servable, token_bound
from clawmem.model.proposals.quarantine import quarantine_rule
from clawmem.model.records.caller import Caller
from clawmem.model.safety.recalled_text import CLOSING
from clawmem.serving.recall.recall import RecallQuery, check_question, recall_in
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.extensions.hub.postgres.connect import HubConnection
    from clawmem.faces.parts.filters import PointInTime
    from clawmem.serving.context.units import ContextResult
    from clawmem.serving.recall.result import Brief

    Text = TypeVar("Text", bound=Brief | ContextResult)


class OrganisationHits(NamedTuple):
    """What the organisation has for a question, best first, without what the vault has itself.

    `org` is its short name. `left_out` are the ids of facts that read as orders to their reader, `unsearched` says what
    could not be searched. `problem` says why the organisation could not be asked; the rest is then empty."""

    org: str
    hits: tuple[HubHit, ...] = ()
    left_out: tuple[str, ...] = ()
    unsearched: tuple[str, ...] = ()
    problem: ClawmemError | None = None

    def notices(self) -> tuple[str, ...]:
        """Return the remarks: what was left out, and, as an incomplete answer, why the organisation is not in it."""
        if self.problem is not None:
            return (IncompleteAnswer(f"without the organisation: {self.problem.message} {self.problem.hint}".strip()),)
        partly = tuple(IncompleteAnswer(f"a part of the organisation is missing: {text}") for text in self.unsearched)
        if self.left_out:
            return (*partly, f"left out of the organisation because they read as orders: {', '.join(self.left_out)}")
        return partly

    def data(self) -> dict[str, Any]:
        """Return the organisation's part of an answer as callers of --json get it."""
        problem = {"problem": self.problem.message} if self.problem else {}
        facts = [{**_fact_data(self.org, hit.found), "score": round(hit.score, 4)} for hit in self.hits]
        return {"org": self.org, "facts": facts, **problem}

    def statements(self) -> list[str]:
        """Return the statements of the facts."""
        return [hit.found.fact.fact for hit in self.hits]

    def lines(self) -> list[str]:
        """Return each fact as one line: its id, the day, the author, the statement, and where it is from."""
        return [_line(self.org, hit.found) for hit in self.hits]

    def joined(self, result: Text, budget: int) -> tuple[Text, tuple[str, ...]]:
        """Return a text for a prompt with the lines of the organisation that fit, and a remark if some do not."""
        text = with_organisation(result.text, result.tokens, result.counted_by, budget, self.org, self.hits)
        own: Any = result
        more = f"{counted(text.left_out, 'line')} of the organisation did not fit; `clawmem org query` shows them"
        joined = own._replace(text=text.text, tokens=text.tokens, counted_by=text.counted_by)
        return joined, (more,) if text.left_out else ()


class JoinedText(NamedTuple):
    """A text for a prompt with lines of the organisation at its end: the tokens of all of it, how they were counted,
    the number of lines of the organisation in it, and the number of those for which there was no room."""

    text: str
    tokens: int
    counted_by: str
    lines: int
    left_out: int


def query_organisation(vault: Vault, caller: Caller, question: str, limit: int, search: FactSearch) -> OrganisationHits:
    """Return the best facts of the organisation for a question, those of this vault among them.

    `search` finds them where the organisation is a vault. Raise like `ask_organisation` and `ask_folder`."""
    if (folder := organisation_folder(vault)) is not None:
        org, hits, unsearched = search_folder(vault, folder, caller, question, limit, search)
        return _without_orders(org, hits)._replace(unsearched=unsearched)
    if is_restricted(vault):
        raise NotPermitted("A hub does not know the people of this memory.", "Leave out --org.")
    from clawmem.index.vectors.store import asked_apart

    asked = HubQuestion(
        question,
        caller.now,
        limit,
        vault.catalog_or_none() or Catalog({}),
        vault.settings.words("user.name"),
        asked_apart(vault, question),
    )

    def work(connection: HubConnection) -> tuple[str, list[HubHit]]:
        return identity(connection).org, search_facts(connection, asked)

    return _without_orders(*ask_organisation(vault, work))


def _without_orders(org: str, found: Sequence[HubHit]) -> OrganisationHits:
    orders = {hit.found.key for hit in found if quarantine_rule(hit.found.fact._replace(trust=EXTERNAL))}
    return OrganisationHits(
        org,
        tuple(hit for hit in found if hit.found.key not in orders),
        tuple(hit.found.fact.id for hit in found if hit.found.key in orders),
    )


def beside_own(
    vault: Vault, caller: Caller, question: str, limit: int, shown: Collection[str], search: FactSearch
) -> OrganisationHits:
    """Return the same for an answer that has facts of the vault already, whose ids are `shown`.

    Facts of this vault, and pulled ones that are shown or were withdrawn, are left out. An organisation that cannot be
    asked is part of the answer. Raise Refused if the vault is connected to none."""
    try:
        found = query_organisation(vault, caller, question, limit, search)
    except (RemoteFailed, NotPermitted, NotFound) as problem:
        return OrganisationHits("", problem=problem)
    known = run_query(vault, lambda index: by_ids(index, {hit.found.fact.id for hit in found.hits}))
    own = {
        placed.fact.id for placed in known.values() if origin_of(placed.fact) is None or placed.fact.status == RETRACTED
    }
    own |= own_among(vault, found.hits)
    hits = tuple(hit for hit in found.hits if hit.found.fact.id not in own and hit.found.fact.id not in shown)
    return found._replace(hits=hits)


def asked_beside(
    here: PointInTime, question: str | None, limit: int, shown: Collection[str], as_of: str | None
) -> OrganisationHits:
    """Return what the organisation has for a question beside the vault's own facts, of which some are `shown`.

    Raise InvalidInput without a question, and for another time than now, of which the organisation knows nothing."""
    if not question:
        raise InvalidInput("--org needs a question.", "Example: clawmem context 'deploy the gateway' --org")
    if as_of or here.data:
        raise InvalidInput(
            "The organisation answers for the present time only.", "Leave out --org, or --as-of and --at."
        )
    return beside_own(here.vault, here.caller, question, limit, shown, facts_as_recalled)


def facts_as_recalled(vault: Vault, index: Index, caller: Caller, question: str, limit: int) -> FoundFacts:
    """Return the shared facts of another vault for a question, found and ranked as `recall` does it there."""
    check_question(question)
    result = recall_in(vault, index, RecallQuery(question, caller._replace(agent=None), FactFilter(), limit))
    facts = tuple((PlacedFact(hit.fact, hit.entity), hit.score, hit.channels) for hit in result.found)
    return FoundFacts(facts, result.notices)


def organisation_line(org: str, found: HubFact) -> str:
    """Return a fact of the organisation as a line of context: its dates, the scope that shows it, vault and author."""
    fact = found.fact
    remarks = [fact_dates(fact), origin_words(org, found), f"by {author_name(found)}", *change_labels(fact)]
    return f"- {servable(fact.fact)} ({servable(', '.join(remarks))})\n"


def with_organisation(
    text: str, tokens: int, counted_by: str, budget: int, org: str, hits: Sequence[HubHit]
) -> JoinedText:
    """Return a text for a prompt with the lines of the organisation that still fit into its budget, best first.

    The vault's own part is the same as without them, so nothing of it makes room."""
    title = frame.title(frame.FROM_ORGANISATION)
    closing = CLOSING if text.endswith(CLOSING) else ""
    left, kept = budget - tokens - title.tokens, list[str]()
    for hit in hits:
        line = organisation_line(org, hit.found)
        cost = token_bound(line)
        if cost <= left:
            kept.append(line)
            left -= cost
    if not kept:
        return JoinedText(text, tokens, counted_by, 0, len(hits))
    body = text.removesuffix(closing)
    body += "" if body.endswith("\n") or not body else "\n"
    joined = "".join((body, title.text, *kept, closing)).removesuffix("\n")
    how = "upper bound" if counted_by == "upper bound" else "mixed"
    return JoinedText(joined, budget - left, how, len(kept), len(hits) - len(kept))


def origin_words(org: str, found: HubFact) -> str:
    """Return where a fact of the organisation is from: the scope that shows it, and its vault's if that is another."""
    own = f" from {found.scopes[0]}" if len(found.scopes) > 1 else ""
    return f"{org}/{found.scopes[-1]}{own}"


def author_name(found: HubFact) -> str:
    """Return the name of the author without the address."""
    return found.author.partition(" <")[0] or found.author


def _fact_data(org: str, found: HubFact) -> dict[str, Any]:
    """A fact of the organisation as callers of --json get it."""
    fact = found.fact
    keys = ("category", "status", "timestamp", "source", "trust", "confidence")
    origin = {"org": org, "vault": found.vault, "scopes": list(found.scopes)}
    origin |= {key: getattr(found, key) for key in ("author", "commit", "path", "line")}
    about = {key: getattr(fact, key) for key in keys}
    return {"id": fact.id, "fact": fact.fact, "entity": found.entity, **about, "origin": origin}


def _line(org: str, found: HubFact) -> str:
    labels = "".join(f", {change_label}" for change_label in change_labels(found.fact))
    text = visible(one_line(f"{author_name(found)}: {found.fact.fact}"))
    origin = visible(one_line(origin_words(org, found)))
    return f"{found.fact.id}  organisation  {day_of(found.fact.timestamp)}  {text}  ({origin}{labels})"
