"""Fetch the JavaScript libraries that sites contain, from the npm registry, as `pins.json` names them.

    python scripts/fetch_libraries.py

A package whose SHA-512 differs from its pin is refused. The hash is the `dist.integrity` that the registry publishes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "clawmem" / "extensions" / "wiki" / "web" / "vendor"


def main() -> None:
    """Write each pinned file and its SHA-256."""
    pins = json.loads((FOLDER / "pins.json").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as place:
        for name, pin in pins.items():
            package = fetch(f"{name}@{pin['version']}", Path(place))
            actual = "sha512-" + base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode()
            if actual != pin["integrity"]:
                sys.exit(f"{name} {pin['version']} has {actual}, and the pin says {pin['integrity']}")
            with tarfile.open(package) as archive:
                for target, source in pin["files"].items():
                    member = archive.extractfile(source)
                    assert member is not None, source
                    content = member.read()
                    (FOLDER / target).write_bytes(content)
                    pin.setdefault("sha256", {})[target] = hashlib.sha256(content).hexdigest()
    (FOLDER / "pins.json").write_text(json.dumps(pins, indent=2) + "\n", "utf-8")


def fetch(package: str, place: Path) -> Path:
    """Return the file of a package, fetched by npm."""
    done = subprocess.run(
        ["npm", "pack", "--silent", "--pack-destination", str(place), package],
        check=True,
        capture_output=True,
        text=True,
    )
    return place / done.stdout.split()[-1]


if __name__ == "__main__":
    main()
