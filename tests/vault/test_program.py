"""Programs that a person allowed: what ends one."""

import sys
from pathlib import Path

import pytest

from clawmem.errors import Refused
from clawmem.programs import read_program, run_allowed


def test_a_program_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    (tmp_path / "slow").write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    with pytest.raises(Refused, match=r"The program slow took more than 0\.5 seconds, and was ended"):
        run_allowed(read_program("slow", tmp_path), b"", 0.5)
