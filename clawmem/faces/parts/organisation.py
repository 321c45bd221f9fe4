"""Facts of the organisation in words and as JSON."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, TypeVar

from clawmem.errors import InvalidInput
from clawmem.faces.parts.parameters import Parameter
from clawmem.model.facts.labels import change_labels
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import one_line, visible

if TYPE_CHECKING:
    from clawmem.bridge.organisation_search import OrganisationHits
    from clawmem.bridge.organisation_vault import FoundFacts
    from clawmem.faces.parts.filters import PointInTime
    from clawmem.index.hub.search import HubFact, HubHit
    from clawmem.index.tables.store import Index
    from clawmem.model.records.caller import Caller
    from clawmem.serving.context.units import ContextResult
    from clawmem.serving.recall.brief import Brief
    from clawmem.vault.vault import Vault

    Text = TypeVar("Text", bound=Brief | ContextResult)

ORG = Parameter(
    "Ask the organisation, too: its facts are labelled, come after your own that have as many words of the question,"
    " and take no room from them. The filters are for your own facts only.",
    ("--org",),
)
_ORIGIN = {"org": str, "vault": str, "scopes": [str], "author": str, "commit": str, "path": str, "line": int}

HUB_FACT = {
    "id": str,
    "fact": str,
    "entity": str,
    "category": str,
    "status": str,
    "timestamp": str,
    "source": str,
    "trust": (str, None),
    "confidence": (float, None),
    "score?": float,
    "origin": _ORIGIN,
}
"""The shape of a fact of the organisation."""

OF_ORGANISATION = {"org": str, "facts": [HUB_FACT], "problem?": str}
"""The shape of the organisation's part of an answer."""


def hub_fact_data(org: str, found: HubFact) -> dict[str, Any]:
    """A fact of the organisation as callers of --json get it."""
    fact = found.fact
    return {
        "id": fact.id,
        "fact": fact.fact,
        "entity": found.entity,
        "category": fact.category,
        "status": fact.status,
        "timestamp": fact.timestamp,
        "source": fact.source,
        "trust": fact.trust,
        "confidence": fact.confidence,
        "origin": {
            "org": org,
            "vault": found.vault,
            "scopes": list(found.scopes),
            "author": found.author,
            "commit": found.commit,
            "path": found.path,
            "line": found.line,
        },
    }


def hit_data(org: str, hit: HubHit) -> dict[str, Any]:
    """The same of a fact that was found, with its score."""
    return {**hub_fact_data(org, hit.found), "score": round(hit.score, 4)}


def hit_line(org: str, hit: HubHit) -> str:
    """A found fact as one line: its id, the day, the author, the statement, and where it is from."""
    from clawmem.bridge.organisation_search import author_name, origin_words

    found = hit.found
    labels = "".join(f", {change_label}" for change_label in change_labels(found.fact))
    text = visible(one_line(f"{author_name(found)}: {found.fact.fact}"))
    origin = visible(one_line(origin_words(org, found)))
    return f"{found.fact.id}  organisation  {day_of(found.fact.timestamp)}  {text}  ({origin}{labels})"


def hits_data(found: OrganisationHits) -> dict[str, Any]:
    """The organisation's part of an answer as callers of --json get it."""
    problem = {"problem": found.problem.message} if found.problem else {}
    return {"org": found.org, "facts": [hit_data(found.org, hit) for hit in found.hits], **problem}


def asked_beside(
    here: PointInTime, question: str | None, limit: int, shown: Collection[str], as_of: str | None
) -> OrganisationHits:
    """What the organisation has for a question beside the vault's own facts, of which some are `shown`.

    Raise InvalidInput without a question, and for another time than now, of which the organisation knows nothing."""
    from clawmem.bridge.organisation_search import beside_own  # only where the organisation is asked

    if not question:
        raise InvalidInput("--org needs a question.", "Example: clawmem context 'deploy the gateway' --org")
    if as_of or here.data:
        raise InvalidInput(
            "The organisation answers for the present time only.", "Leave out --org, or --as-of and --at."
        )
    return beside_own(here.vault, here.caller, question, limit, shown, search_facts)


def search_facts(vault: Vault, index: Index, caller: Caller, question: str, limit: int) -> FoundFacts:
    """The shared facts of another vault for a question, found and ranked as `recall` does it there."""
    from clawmem.bridge.organisation_vault import FoundFacts
    from clawmem.index.search.channels import FactFilter
    from clawmem.index.search.lookup import PlacedFact
    from clawmem.serving.recall.recall import RecallQuery, check_question, recall_in

    check_question(question)
    result = recall_in(vault, index, RecallQuery(question, caller._replace(agent=None), FactFilter(), limit))
    facts = tuple((PlacedFact(hit.fact, hit.entity), hit.score, hit.channels) for hit in result.found)
    return FoundFacts(facts, result.notices)


def joined(result: Text, budget: int, beside: OrganisationHits) -> tuple[Text, tuple[str, ...]]:
    """A text for a prompt with the lines of the organisation that fit, and a remark if some do not."""
    from clawmem.bridge.organisation_search import left_out_notice, with_organisation

    text = with_organisation(result.text, result.tokens, result.counted_by, budget, beside.org, beside.hits)
    own: Any = result
    return own._replace(text=text.text, tokens=text.tokens, counted_by=text.counted_by), left_out_notice(text)
