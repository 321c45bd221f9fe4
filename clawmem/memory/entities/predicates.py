"""The predicate catalog as a text that people write: entries and phrases are added, every comment stays."""

from __future__ import annotations

import json
from typing import Any

from clawmem.errors import ClawmemError, Refused
from clawmem.model.facts.catalog import (
    Catalog,
    Predicate,
    canonical_predicate,
    catalog_from_mapping,
    catalog_to_mapping,
)
from clawmem.model.proposals.proposal import CatalogEntry
from clawmem.model.records.layout import CATALOG
from clawmem.vault.strict_yaml import parse_yaml


def with_entry(text: str, entry: CatalogEntry) -> str:
    """The catalog's text with a new predicate at its end, or with the phrases that a known one lacks.

    Raises Refused where it says that already, or where a phrase belongs to another predicate.
    """
    catalog = catalog_from_mapping(parse_yaml(text, CATALOG) or {})
    known = catalog.predicates.get(entry.predicate.name)
    if known is None:
        _refuse_taken(catalog, entry.predicate.name, (entry.predicate.name, *entry.predicate.phrases))
        return _checked(_appended(text, entry), catalog, entry.predicate)
    missing = [one for one in entry.predicate.phrases if canonical_predicate(catalog, one) is None]
    _refuse_taken(catalog, known.name, entry.predicate.phrases)
    if not missing:
        raise Refused(
            f"The catalog has the predicate '{known.name}' and these phrases already.", "Reject the proposal."
        )
    wanted = known._replace(phrases=(*known.phrases, *missing))
    return _checked(_extended(text, wanted, missing), catalog, wanted)


def _refuse_taken(catalog: Catalog, name: str, phrases: tuple[str, ...]) -> None:
    for phrase in phrases:
        owner = canonical_predicate(catalog, phrase)
        if owner not in (None, name):
            raise Refused(
                f"'{phrase}' belongs to the predicate '{owner}' now.", f"Reject the proposal, or edit {CATALOG}."
            )


def _checked(text: str, before: Catalog, wanted: Predicate) -> str:
    """The text, where it reads back as the catalog before with just this predicate."""
    expected = catalog_to_mapping(Catalog({**before.predicates, wanted.name: wanted}))
    try:
        found = catalog_to_mapping(catalog_from_mapping(parse_yaml(text, CATALOG) or {}))
    except ClawmemError:
        found = {}
    if found != expected:
        raise Refused(f"'{wanted.name}' cannot be added safely to {CATALOG} as it is laid out.", "Edit it by hand.")
    return text


def _appended(text: str, entry: CatalogEntry) -> str:
    one = entry.predicate
    rows: list[tuple[str, Any]] = [("description", entry.description), ("phrases", list(one.phrases))]
    rows += [("value", one.value)] if one.value != "text" else []
    rows += [("cardinality", "single")] if one.single else []
    rows += [("replaces", True)] if one.replaces else []
    rows.append(("questions", list(one.questions)))
    # JSON's texts and lists are YAML's, too, and need no thought about what must be quoted.
    lines = [f"  {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in rows if value != []]
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}{one.name}:\n" + "\n".join(lines) + "\n"


def _extended(text: str, wanted: Predicate, missing: list[str]) -> str:
    import yaml  # only where a catalog is edited

    node = yaml.compose(text, Loader=yaml.SafeLoader)
    entry = _value(node, wanted.name)
    phrases = _value(entry, "phrases") if entry is not None else None
    added = [json.dumps(one, ensure_ascii=False) for one in missing]
    if isinstance(phrases, yaml.SequenceNode) and phrases.value and phrases.flow_style:
        place = phrases.value[-1].end_mark.index
        return text[:place] + "".join(f", {one}" for one in added) + text[place:]
    if isinstance(phrases, yaml.SequenceNode) and phrases.value:
        last = phrases.value[-1]
        indent = " " * (last.start_mark.column - 2)
        return (
            text[: last.end_mark.index] + "".join(f"\n{indent}- {one}" for one in added) + text[last.end_mark.index :]
        )
    if phrases is None and isinstance(entry, yaml.MappingNode) and entry.value and not entry.flow_style:
        first = entry.value[0][0].start_mark
        line = f"phrases: [{', '.join(added)}]\n{' ' * first.column}"
        return text[: first.index] + line + text[first.index :]
    return text


def _value(node: Any, name: str) -> Any:
    pairs = node.value if node is not None and node.id == "mapping" else ()
    return next((value for key, value in pairs if key.value == name), None)
