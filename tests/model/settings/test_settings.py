"""Settings: the table of keys, the template that shows it, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput, NotFound, Refused
from clawmem.model.settings.settings import (
    BY_KEY,
    DEFAULTS,
    FORMAT,
    REMOVED,
    SETTINGS,
    Settings,
    parse_value,
    settings_from_mapping,
)
from clawmem.model.settings.values import Setting

TEMPLATE = Path(__file__).parents[3] / "vault-template" / "clawmem.yaml"


def settings_to_mapping(settings: Settings) -> dict[str, Any]:
    """Return all values, known or not, as the nested mapping that `settings_from_mapping` reads."""
    nested: dict[str, Any] = {}
    for key, value in {**settings.values, **settings.suggested, **settings.unknown}.items():
        *path, last = key.split(".")
        place = nested
        for name in path:
            place = place.setdefault(name, {})
        place[last] = value
    return nested


def some_value(setting: Setting) -> st.SearchStrategy[Any]:
    low, high = setting.low or 0, setting.high or 0
    if setting.kind == "choice":
        return st.sampled_from(setting.choices)
    if setting.kind == "bool":
        return st.booleans()
    if setting.kind == "int":
        return st.integers(int(low), int(high))
    if setting.kind == "float":
        return st.floats(low, high)
    if setting.kind in ("routes", "delegations"):
        return st.sampled_from(("kind:fact scout Ada", "kind:promotion scout Ben"))
    if setting.kind == "pairs":
        return st.sampled_from(("", "example.org/a/b = example.org/c/d", "a = b, c = d"))
    names = st.from_regex(r"[a-z][a-z0-9]{0,20}", fullmatch=True)
    return names.map(lambda name: f"projects/{name}") if setting.kind == "entity" else names


ANY_SETTINGS = st.fixed_dictionaries({}, optional={setting.key: some_value(setting) for setting in SETTINGS})


def nested(flat: dict[str, Any]) -> dict[str, Any]:
    return settings_to_mapping(Settings(flat))


def test_the_template_and_the_table_say_the_same() -> None:
    written = yaml.safe_load(TEMPLATE.read_text(encoding="utf-8"))
    assert written == settings_to_mapping(DEFAULTS)
    assert settings_from_mapping(written) == DEFAULTS


def test_every_value_of_the_template_has_a_comment_before_it() -> None:
    lines = TEMPLATE.read_text(encoding="utf-8").splitlines()
    explained = False
    for line in lines:
        if line.lstrip().startswith("#"):
            explained = True
        elif not line.strip():
            explained = False
        elif not line.endswith(":"):
            assert explained, line


@pytest.mark.parametrize("setting", SETTINGS, ids=[setting.key for setting in SETTINGS])
def test_every_default_fits_its_own_rule(setting: Setting) -> None:
    assert parse_value(setting.key, str(setting.default)) == setting.default
    assert setting.about
    assert DEFAULTS.get(setting.key) == setting.default


def test_an_empty_file_is_all_defaults() -> None:
    assert settings_from_mapping(None) == DEFAULTS
    assert settings_from_mapping({}) == DEFAULTS
    assert settings_from_mapping({"defaults": None, "vault": {"name": None}}) == DEFAULTS


@given(ANY_SETTINGS)
def test_settings_survive_json_and_yaml(flat: dict[str, Any]) -> None:
    settings = settings_from_mapping(nested(flat))
    mapping = settings_to_mapping(settings)
    assert settings_from_mapping(json.loads(json.dumps(mapping))) == settings
    assert settings_from_mapping(yaml.safe_load(yaml.safe_dump(mapping))) == settings
    assert all(settings.suggested.get(key, settings.get(key)) == value for key, value in flat.items())


@given(
    st.sampled_from(SETTINGS).flatmap(
        lambda other_setting: st.tuples(st.just(other_setting), some_value(other_setting))
    )
)
def test_what_is_typed_reads_back(pair: tuple[Setting, Any]) -> None:
    setting, value = pair
    assert parse_value(setting.key, str(value)) == value


def test_dotted_keys_are_read_too() -> None:
    assert settings_from_mapping({"index.keyword": "whoosh"}).get("index.keyword") == "whoosh"


def test_unknown_keys_are_kept_and_named() -> None:
    settings = settings_from_mapping({"theme": "dark", "index": {"stemmer": {"language": "de"}}, "list": [1, 2]})
    assert settings.unknown == {"theme": "dark", "index.stemmer.language": "de", "list": [1, 2]}
    assert settings_to_mapping(settings)["index"]["stemmer"] == {"language": "de"}


def test_typed_readers() -> None:
    assert DEFAULTS.whole("defaults.limit") == 10
    assert DEFAULTS.number("lock.wait_seconds") == 10.0
    assert DEFAULTS.number("context.budget") == 4000.0
    assert DEFAULTS.words("secrets.action") == "refuse"
    assert DEFAULTS.flag("git.sign") is False


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"defaults": {"limit": "ten"}}, "defaults.limit is 'ten', but must be a whole number from 1 to 1,000"),
        ({"defaults": {"limit": 0}}, "defaults.limit is '0'"),
        ({"defaults": {"limit": True}}, "defaults.limit is 'true'"),
        ({"defaults": {"limit": 2.5}}, "defaults.limit is '2.5'"),
        ({"defaults": {"limit": {"a": 1}}}, "defaults.limit is "),
        ({"defaults": {"entity": "../etc"}}, "defaults.entity is '../etc', but must be the name of an entity"),
        ({"lock": {"wait_seconds": float("nan")}}, "lock.wait_seconds is 'nan'"),
        ({"lock": {"wait_seconds": 3601}}, "a number from 0 to 3,600"),
        ({"secrets": {"action": "ignore"}}, "must be refuse or redact"),
        ({"git": {"sign": "maybe"}}, "must be true or false"),
        ({"vault": {"name": 2026}}, "vault.name is '2026', but must be text"),
        ({"vault": {"name": "  "}}, "vault.name"),
        ({"index": "whoosh"}, "'index' contains several settings"),
        ({"format": "one"}, "format is 'one'"),
        ({"format": 0}, "format is '0'"),
    ],
)
def test_a_wrong_value_is_named_with_its_reason(mapping: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        settings_from_mapping(mapping)
    assert words in caught.value.message
    assert caught.value.hint


def test_a_file_that_is_no_mapping_is_invalid() -> None:
    broken: Any = ["format", 1]
    with pytest.raises(InvalidInput, match="keys and values"):
        settings_from_mapping(broken)


def test_a_newer_vault_is_refused_before_anything_else_is_judged() -> None:
    with pytest.raises(Refused, match=f"format {FORMAT + 1}") as caught:
        settings_from_mapping({"format": FORMAT + 1, "defaults": {"limit": "many"}})
    assert "pip install --upgrade" in caught.value.hint


@pytest.mark.parametrize("text", ["true", "Yes", "on", "1"])
def test_words_for_true(text: str) -> None:
    assert parse_value("git.sign", text) is True


@pytest.mark.parametrize("text", ["false", "no", "OFF", "0"])
def test_words_for_false(text: str) -> None:
    assert parse_value("git.sign", text) is False


@pytest.mark.parametrize(
    ("key", "text"), [("git.sign", "perhaps"), ("defaults.limit", "1.5"), ("defaults.limit", ""), ("format", "2"),
                      ("lock.wait_seconds", "inf"), ("vault.name", ""), ("index.keyword", "FTS5")]
)  # fmt: skip
def test_typed_values_that_do_not_fit_are_invalid(key: str, text: str) -> None:
    with pytest.raises(InvalidInput, match=key.replace(".", r"\.")):
        parse_value(key, text)


def test_an_unknown_key_is_not_found_and_the_nearest_is_offered() -> None:
    with pytest.raises(NotFound) as caught:
        parse_value("limit", "5")
    assert "defaults.limit" in caught.value.hint
    with pytest.raises(NotFound):
        DEFAULTS.get("no.such.key")
    assert "no.such.key" not in BY_KEY


def test_a_former_setting_is_read_without_an_error_and_nothing_sets_it() -> None:
    settings = settings_from_mapping({"promotion": {"score": "high", "max_facts": 3}, "access": {"why": True}})
    assert (settings.whole("promotion.max_facts"), settings.unknown) == (
        3,
        {"promotion.score": "high", "access.why": True},
    )
    assert not REMOVED.keys() & BY_KEY.keys()
    with pytest.raises(NotFound, match=r"promotion\.score is no longer a setting; its value is fixed at 0\.6\."):
        parse_value("promotion.score", "0.7")
