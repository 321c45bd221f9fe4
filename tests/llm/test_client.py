"""The client where litellm is not there: said in words, before anything is tried. And a call that is not waited for."""

from __future__ import annotations

import sys
import threading
import warnings

import pytest

from clawmem.errors import MODEL, ModelFailed
from clawmem.llm.choice import Model
from clawmem.llm.client import _within, check_model


def test_without_litellm_a_model_cannot_be_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(ModelFailed, match=r"litellm, which calls models, cannot be imported") as failed:
        check_model(Model("openai/tested"))
    assert failed.value.exit_code == MODEL == 14
    assert "clawmem-vault[llm]" in failed.value.hint


def test_a_call_that_is_not_waited_for_changes_nothing_when_it_ends() -> None:
    """What is ignored is so for all threads: put back by a call that ends late, it would fail the one under way."""
    end, ended = threading.Event(), threading.Event()

    def late() -> None:
        end.wait(60)
        warnings.warn("late", stacklevel=1)
        ended.set()

    def meanwhile() -> str:
        end.set()
        assert ended.wait(60)
        late_one.join(60)
        warnings.warn("of the call under way", stacklevel=1)
        return "done"

    before = set(threading.enumerate())
    assert _within(late, 0.01) is None
    (late_one,) = set(threading.enumerate()) - before
    assert _within(meanwhile, 120) == ("done", None)
