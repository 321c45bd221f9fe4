"""The client where litellm is not there: said in words, before anything is tried."""

from __future__ import annotations

import sys

import pytest

from clawmem.errors import MODEL, ModelFailed
from clawmem.llm.choice import Model
from clawmem.llm.client import check


def test_without_litellm_a_model_cannot_be_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(ModelFailed, match=r"litellm, which calls models, cannot be imported") as failed:
        check(Model("openai/tested"))
    assert failed.value.exit_code == MODEL == 14
    assert "clawmem-vault[llm]" in failed.value.hint
