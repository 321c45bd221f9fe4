"""`requirements-dev.txt` fits `pyproject.toml`: what `make lock` wrote is what a change of dependencies asks for."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "requirements-dev.txt"
EXTRAS = ("dev", "documents", "hub", "llm", "semantic")
MACHINES = [
    {"python_full_version": f"{version}.0", "python_version": version, "platform_machine": machine,
     "sys_platform": "linux", "platform_python_implementation": "CPython", "implementation_name": "cpython"}
    for version, machine in product(("3.11", "3.12", "3.13"), ("x86_64", "aarch64"))
]  # fmt: skip


def pins(text: str) -> dict[Requirement, list[str]]:
    """Each line that pins a version, with its hashes."""
    lines = re.sub(r"^ *#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    return {Requirement(line.partition(" --hash")[0]): re.findall(r"--hash=(\S+)", line) for line in lines}


def wanted() -> list[Requirement]:
    """What pyproject.toml asks for, for the tests, `make lint` and a build."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project = settings["project"]
    groups = [project["dependencies"], settings["build-system"]["requires"]]
    groups += [project["optional-dependencies"][extra] for extra in EXTRAS]
    asked = [Requirement(text) for group in groups for text in group]
    return [requirement for requirement in asked if requirement.name != project["name"]]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: " ".join(list(machine.values())[1:3]))
def test_each_dependency_is_pinned_once_and_within_its_range(machine: dict[str, str]) -> None:
    locked: dict[str, list[str]] = {}
    for pin in pins(LOCK.read_text("utf-8")):
        if pin.marker is None or pin.marker.evaluate(machine):
            locked.setdefault(canonicalize_name(pin.name), []).append(str(pin.specifier).removeprefix("=="))
    assert {name: versions for name, versions in locked.items() if len(versions) != 1} == {}
    missing = [str(requirement) for requirement in wanted() if canonicalize_name(requirement.name) not in locked]
    assert missing == [], "run `make lock`"
    outside = [
        f"{requirement}: {version}"
        for requirement in wanted()
        for version in locked[canonicalize_name(requirement.name)]
        if version not in requirement.specifier
    ]
    assert outside == [], "run `make lock`"


def test_each_pin_is_exact_and_has_hashes_and_no_address() -> None:
    """Where a package comes from is a setting of the machine."""
    text = LOCK.read_text("utf-8")
    assert "://" not in text and "--index" not in text and "--find-links" not in text
    for pin, hashes in pins(text).items():
        assert pin.url is None and [part.operator for part in pin.specifier] == ["=="], pin
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in hashes), pin


@pytest.mark.parametrize(
    ("program", "refusal"),
    [("-m uv pip install --quiet", "Hash mismatch"), ("-m pip install", "DO NOT MATCH THE HASHES")],
    ids=["uv", "pip"],
)
def test_a_file_whose_hash_differs_is_refused(tmp_path: Path, program: str, refusal: str) -> None:
    """The words of the lock are the words that uv and pip check."""
    pin = next(text for text in LOCK.read_text("utf-8").split("\n") if text.startswith("iniconfig=="))
    version = pin.removeprefix("iniconfig==").rstrip(" \\")
    with ZipFile(tmp_path / f"iniconfig-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(
            f"iniconfig-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: iniconfig\nVersion: {version}\n"
        )
        wheel.writestr(
            f"iniconfig-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"iniconfig-{version}.dist-info/RECORD", "")
    arguments = ["--no-index", "--find-links", str(tmp_path), "--target", str(tmp_path / "site"), "--no-deps"]
    lines = re.search(r"^iniconfig==(?:.*\\\n)+.*\n", LOCK.read_text("utf-8"), flags=re.MULTILINE)
    assert lines is not None
    (tmp_path / "lock.txt").write_text(lines[0])
    process = subprocess.run(
        [sys.executable, *program.split(), "--require-hashes", *arguments, "-r", str(tmp_path / "lock.txt")],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.returncode != 0
    assert refusal in process.stderr, process.stderr
