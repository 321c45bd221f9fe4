"""Add predicates and phrases to the predicate catalog. Its comments and layout are kept."""

from __future__ import annotations

from typing import Any

from clawmem.errors import ClawmemError, Refused
from clawmem.memory.yaml_edit import with_items, with_section
from clawmem.model.facts.catalog import (
    Catalog,
    Predicate,
    canonical_predicate,
    catalog_from_mapping,
    catalog_to_mapping,
)
from clawmem.model.language.text import one_line
from clawmem.model.proposals.proposal import CatalogEntry
from clawmem.model.records.layout import CATALOG
from clawmem.vault.strict_yaml import parse_yaml


def with_catalog_entry(text: str, entry: CatalogEntry) -> str:
    """Return the text of the catalog with a new predicate, or with new phrases for a known one.

    Raise Refused if nothing is new, or if a phrase belongs to another predicate.
    """
    catalog = catalog_from_mapping(parse_yaml(text, CATALOG) or {})
    known = catalog.predicates.get(entry.predicate.name)
    if known is None:
        _refuse_taken(catalog, entry.predicate.name, (entry.predicate.name, *entry.predicate.phrases))
        described = entry.predicate._replace(description=one_line(entry.description))
        return _check_result(with_section(text, described.name, _entries(entry)), catalog, described)
    missing = [phrase for phrase in entry.predicate.phrases if canonical_predicate(catalog, phrase) is None]
    _refuse_taken(catalog, known.name, entry.predicate.phrases)
    if not missing:
        raise Refused(
            f"The catalog has the predicate '{known.name}' and these phrases already.", "Reject the proposal."
        )
    wanted = known._replace(phrases=(*known.phrases, *missing))
    return _check_result(with_items(text, wanted.name, "phrases", missing), catalog, wanted)


def _refuse_taken(catalog: Catalog, name: str, phrases: tuple[str, ...]) -> None:
    for phrase in phrases:
        owner = canonical_predicate(catalog, phrase)
        if owner not in (None, name):
            raise Refused(
                f"'{phrase}' belongs to the predicate '{owner}' now.", f"Reject the proposal, or edit {CATALOG}."
            )


def _check_result(text: str, before: Catalog, wanted: Predicate) -> str:
    """Return the text if it parses to the old catalog with only this predicate changed, else raise Refused."""
    expected = catalog_to_mapping(Catalog({**before.predicates, wanted.name: wanted}))
    try:
        found = catalog_to_mapping(catalog_from_mapping(parse_yaml(text, CATALOG) or {}))
    except ClawmemError:
        found = {}
    if found != expected:
        raise Refused(f"'{wanted.name}' cannot be added safely to {CATALOG} as it is laid out.", "Edit it by hand.")
    return text


def _entries(entry: CatalogEntry) -> dict[str, Any]:
    predicate = entry.predicate
    rows: dict[str, Any] = {"description": entry.description, "phrases": list(predicate.phrases)}
    rows |= {"value": predicate.value} if predicate.value != "text" else {}
    rows |= {"cardinality": "single"} if predicate.single else {}
    rows |= {"replaces": True} if predicate.replaces else {}
    rows |= {"conflict": predicate.conflict} if predicate.conflict else {}
    rows["questions"] = list(predicate.questions)
    return {key: value for key, value in rows.items() if value != []}
