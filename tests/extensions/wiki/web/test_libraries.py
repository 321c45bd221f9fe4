"""The JavaScript libraries in the package are those of the registry that `pins.json` names, each with its licence."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from clawmem.extensions.wiki.web.notes import LIBRARIES
from clawmem.extensions.wiki.web.render_site import library_files

NOTICE = Path(__file__).parents[4] / "NOTICE"


def test_every_file_has_its_pinned_hash_and_every_package_a_licence() -> None:
    pins = json.loads((LIBRARIES / "pins.json").read_text("utf-8"))
    files = {path.removeprefix("libraries/"): content for path, content in library_files()}
    files |= {path.name: path.read_bytes() for path in LIBRARIES.glob("*.svg")}  # which pages contain
    assert {path.name for path in LIBRARIES.iterdir()} == {"pins.json", *files}
    for name, pin in pins.items():
        assert pin["integrity"].startswith("sha512-") and pin["files"].keys() == pin["sha256"].keys()
        for file, expected in pin["sha256"].items():
            assert hashlib.sha256(files[file]).hexdigest() == expected, file
        assert b"ermission" in files[f"{name}.LICENSE.txt"] and b"hereby granted" in files[f"{name}.LICENSE.txt"]
        assert f"{name} {pin['version']}" in NOTICE.read_text("utf-8")
