"""The version of the rules for orders: what an older version judged is not believed."""

from __future__ import annotations

import inspect
from pathlib import Path
from zlib import crc32

from clawmem.model.proposals import quarantine
from clawmem.model.safety.injection import find as injection


def test_a_change_of_the_rules_raises_their_version() -> None:
    """A failure means that the rules were edited. If a verdict could change, raise RULES in
    `clawmem/model/proposals/quarantine.py` and VERSION in `clawmem/index/tables/schema.py`. Then put the new numbers
    here."""
    files = sorted(Path(injection.__file__).parent.glob("*.py"))
    sources = [path.read_text(encoding="utf-8") for path in files]
    judging = inspect.getsource(quarantine.quarantined_event)
    assert (quarantine.RULES, crc32("".join([*sources, judging]).encode())) == (3, 3148199624)
