"""The JSON in what a model wrote, whatever stands around it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmem.llm.client import Reply
from clawmem.llm.loop import check_reply, json_documents, without_reasoning

GREEN = '{"colour": "green"}'
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["colour"],
    "properties": {"colour": {"type": "string"}},
}


def checked(text: str, cut: bool = False) -> Any:
    return check_reply(Reply(text, None, None, cut, 0), SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        GREEN,
        f"<think>Grass is green. Or {{blue}}?</think>\n{GREEN}",
        f'<think>\nMaybe {{"colour": "blue"}}?\n</think>\n\n{GREEN}',
        f"Grass is green.\n</think>\n{GREEN}",
        f"<thinking>Hm.</thinking>```json\n{GREEN}\n```",
        f"<reasoning>Hm.</reasoning> Here you are: {GREEN}",
        f"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{GREEN}",
        f"Certainly! Here is the answer:\n\n{GREEN}\n\nTell me if you need more.",
        f"Here:\n```json\n{GREEN}\n```\nThat is all.",
        f"```\n{GREEN}\n```",
        f'First I thought {{"colour": "blue"}}, but it is {GREEN}.',
        f'The form is {{"colour": ...}}; my answer: {GREEN}',
        f"  \n{GREEN}\n<think>Was that right?</think>",
    ],
)
def test_the_answer_is_found(text: str) -> None:
    assert checked(text).value == {"colour": "green"}


def test_a_tag_in_a_string_is_part_of_it() -> None:
    text = json.dumps({"colour": "</think> green <think>"})
    assert checked(text).value == {"colour": "</think> green <think>"}


@pytest.mark.parametrize(
    ("text", "cut", "message"),
    [
        ("<think>It goes on and on", True, "All of its tokens went into reasoning (llm.max_tokens, llm.effort)."),
        ("", True, "All of its tokens went into reasoning"),
        ("", False, "The answer is empty."),
        (f'{{"facts": [{GREEN}, {GREEN}, {{"col', True, "was cut off"),
        ('Here: {"colour": 5}', False, "The answer has the wrong form at colour"),
        ("I cannot help with that.", False, "is not one JSON document"),
    ],
)
def test_no_answer_is_made_of_a_part(text: str, cut: bool, message: str) -> None:
    answer = checked(text, cut)
    assert answer.value is None
    assert message in answer.problem


@settings(max_examples=30)
@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda strategy: st.lists(strategy) | st.dictionaries(st.text(), strategy),
    )
)
def test_a_document_alone_is_read_as_it_is(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert json_documents(text) == [value]
    if isinstance(value, dict):
        assert json.loads(without_reasoning(text)) == value


@settings(max_examples=30)
@given(st.dictionaries(st.text(), st.text()), st.text(alphabet=st.characters(exclude_characters="{}[]`<>|")))
def test_words_around_a_document_change_nothing(value: dict[str, str], words: str) -> None:
    assert json_documents(f"{words}\n{json.dumps(value)}\n{words}")[-1] == value


@pytest.mark.soak
@pytest.mark.parametrize("unit", ["<think>", "</think>", "{", '{"a":', "```\n", "<|channel|>final", "[{"])
def test_the_search_takes_linear_time(unit: str) -> None:
    text = "x " + unit * (1_000_000 // len(unit))
    started = time.process_time()
    json_documents(without_reasoning(text))
    assert time.process_time() - started < 5
