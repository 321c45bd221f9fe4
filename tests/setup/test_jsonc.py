"""One entry of a JSON file is edited, and every other byte stays."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.setup.jsonc import Broken, depth_of, parse, value_at, with_entry, without_entry

VALUE = {"command": "clawmem", "args": ["mcp"]}
PATH = ("mcp", "servers", "clawmem")
FILES = [
    "{}", "{\n}\n", '{"a": {}}', '{"mcp": {}}', '{"mcp": {"servers": {}}}',
    '{"mcp": {"servers": {"other": {"x": [1]}}}}\n',
    '// mine\n{\n  /* more */\n  "a": 1, // one\n  "mcp": {"x": true,},\n}\n', '{"a": "}\\"{"}', '\ufeff{"a": 1}',
    '{"mcp": {"servers": {"é": "\\u00e9"}}, "z": null}',
]  # fmt: skip
KEYS = st.text("abc", min_size=1, max_size=2)
DOCUMENTS = st.dictionaries(
    KEYS, st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda strategy: st.lists(strategy, max_size=2)
                       | st.dictionaries(KEYS, strategy, max_size=3)), max_size=4)  # fmt: skip


@pytest.mark.parametrize("text", FILES)
def test_an_entry_comes_and_goes(text: str) -> None:
    before = parse(text).value
    depth = depth_of(text, PATH[:-1])
    changed = with_entry(text, PATH, VALUE, append=False)
    assert value_at(changed, PATH) == VALUE
    assert all(line in changed for line in ("// mine", "/* more */", "// one") if line in text)
    back = without_entry(changed, PATH, VALUE, append=False, made=depth)
    assert parse(back).value == before
    assert without_entry(back, PATH, VALUE, append=False, made=depth) == back


@pytest.mark.parametrize(
    "text", ['{"hooks": {"E": [{"x": 1}]}}', '{"hooks": {"E": []}}', "{}", '{"hooks": {"E": [1, 2,]}}']
)
def test_an_item_of_a_list_comes_and_goes(text: str) -> None:
    path = ("hooks", "E")
    depth = depth_of(text, path)
    changed = with_entry(with_entry(text, path, VALUE, append=True), path, {"later": 1}, append=True)
    assert value_at(changed, path)[-2:] == [VALUE, {"later": 1}]
    back = without_entry(changed, path, VALUE, append=True, made=depth)
    assert value_at(back, path)[-1] == {"later": 1}


def test_an_entry_that_somebody_changed_stays() -> None:
    changed = with_entry("{}", PATH, VALUE, append=False).replace('"clawmem",', '"mine",')
    assert without_entry(changed, PATH, VALUE, append=False, made=0) == changed


@pytest.mark.parametrize(
    "text", ["{", '{"a": 1,, }', "{a: 1}", '{"a" 1}', '{"a": 1} x', "[" * 500, '{"a": tru}', '{"a": "\n"}']
)
def test_what_is_not_json_is_named(text: str) -> None:
    with pytest.raises(Broken):
        parse(text)


@pytest.mark.parametrize("text", ["[]", '{"mcp": []}', '{"mcp": {"servers": 3}}', '"x"'])
def test_something_else_at_the_path(text: str) -> None:
    with pytest.raises(TypeError):
        with_entry(text, PATH, VALUE, append=False)


@given(DOCUMENTS, st.sampled_from([None, 1, 2]), st.lists(KEYS, min_size=1, max_size=3))
def test_any_document(document: dict[str, object], indent: int | None, path: list[str]) -> None:
    text = json.dumps(document, indent=indent)
    try:
        depth = depth_of(text, path[:-1])
        if value_at(text, path) is not None or depth_of(text, path) == len(path):
            return
        changed = with_entry(text, path, VALUE, append=False)
    except TypeError:
        return
    assert value_at(changed, path) == VALUE
    assert json.loads(without_entry(changed, path, VALUE, append=False, made=depth)) == document
