"""The wheel is whole: installed elsewhere, without this checkout, `clawmem init` makes the same vault."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

from clawmem import __version__
from tests.needs import needs_local_model

ROOT = Path(__file__).parent.parent
TEMPLATE = ROOT / "vault-template"
LICENCES = ("LICENSE", "LICENSE-APACHE", "NOTICE")
VOCABULARY = ("wordpieces.txt", "priors.bin")
TOKENS = "clawmem/index/tables/cl100k_base.tiktoken.gz"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from a copy of the sources, without the network: the build backend is in the environment."""
    pytest.importorskip("hatchling", reason="the build backend is not installed: pip install -e '.[dev]'")
    folder = tmp_path_factory.mktemp("package")
    sources = folder / "sources"
    sources.mkdir()
    for name in ("pyproject.toml", "README.md", *LICENCES):
        shutil.copy(ROOT / name, sources)
    (sources / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "clawmem.1", sources / "docs")
    for name in ("clawmem", "completions", "vault-template"):
        shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("__pycache__"))
    pip(sources, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(sources))
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel installed in it, and nothing else."""
    site = tmp_path_factory.mktemp("site")
    pip(site, "install", "--no-deps", "--no-index", "--target", str(site), str(wheel))
    return site


def pip(place: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    process = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, process.stderr


def run(site: Path, environment: dict[str, str], *command: str, cwd: Path) -> str:
    """What a command prints when only the installed package can be found, not this checkout."""
    process = subprocess.run(
        command, cwd=cwd, env={**environment, "PYTHONPATH": str(site)}, capture_output=True, text=True, timeout=300
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def template_files() -> list[str]:
    return sorted(path.relative_to(TEMPLATE).as_posix() for path in TEMPLATE.rglob("*") if path.is_file())


def test_the_wheel_holds_the_package_the_template_and_the_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(f"clawmem_vault-{__version__}.dist-info/METADATA").decode()
    modules = [path.relative_to(ROOT).as_posix() for path in (ROOT / "clawmem").rglob("*.py")]
    prompts = [path.relative_to(ROOT).as_posix() for path in (ROOT / "clawmem/llm/prompts").glob("*.txt")]
    assert len(prompts) >= 2
    vocabulary = [f"clawmem/index/vectors/vocabulary/{name}" for name in VOCABULARY]
    assert {*modules, *prompts, *vocabulary, TOKENS} <= set(names)
    assert sorted(name.removeprefix("clawmem/vault-template/") for name in names if "vault-template/" in name) == (
        template_files()
    )
    assert {".gitignore", ".gitattributes", "life/projects/.gitkeep"} <= set(template_files())
    assert all(any(name.endswith(f"licenses/{licence}") for name in names) for licence in LICENCES)
    assert "Name: clawmem-vault\n" in metadata
    assert any(name.endswith("data/share/man/man1/clawmem.1") for name in names)
    assert not [name for name in names if name.startswith("tests/") or "__pycache__" in name]


def test_init_works_from_the_installed_wheel(installed: Path, environment: dict[str, str], tmp_path: Path) -> None:
    python = [sys.executable, "-m", "clawmem"]
    where = run(installed, environment, sys.executable, "-c", "import clawmem; print(clawmem.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed), "the checkout was imported, not the wheel"
    run(installed, environment, *python, "init", "vault", cwd=tmp_path)
    listed = run(installed, environment, "git", "ls-files", cwd=tmp_path / "vault").splitlines()
    assert sorted(listed) == template_files()
    for name in listed:
        assert (tmp_path / "vault" / name).read_bytes() == (TEMPLATE / name).read_bytes()


@pytest.fixture
def used(installed: Path, environment: dict[str, str], tmp_path: Path) -> Path:
    """A vault in which the installed command was used."""
    command = str(installed / "bin" / "clawmem")
    assert os.access(command, os.X_OK)
    run(installed, environment, command, "init", "vault", cwd=tmp_path)
    run(installed, environment, command, "remember", "Jane adopted a puppy.", cwd=tmp_path / "vault")
    return tmp_path / "vault"


def test_the_command_is_installed_and_works_and_the_action_checks_a_vault_that_was_checked_out(
    installed: Path, environment: dict[str, str], used: Path, tmp_path: Path
) -> None:
    command = str(installed / "bin" / "clawmem")
    assert run(installed, environment, command, "--version", cwd=tmp_path) == f"clawmem {__version__}\n"
    assert "Jane adopted a puppy." in run(installed, environment, command, "recall", "Jane", cwd=used)
    git = {"GIT_CONFIG_GLOBAL": os.devnull, **environment}
    subprocess.run(["git", "clone", "--quiet", "vault", "checkout"], cwd=tmp_path, env=git, check=True)
    [*_, step] = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    assert step["env"] == {"CLAWMEM_CHECKED": "${{ inputs.path }}"}
    path = f"{installed / 'bin'}:{environment['PATH']}"
    runner = {**environment, "PYTHONPATH": str(installed), "PATH": path, "HOME": str(tmp_path / "runner")}
    codes = []
    for text in (None, "{{{"):
        if text:
            next((tmp_path / "checkout" / "life").rglob("items.json")).write_text(text)
        process = subprocess.run(
            ["bash", "-e", "-c", step["run"]], cwd=tmp_path, env={**runner, "CLAWMEM_CHECKED": "checkout"},
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        codes.append(process.returncode)
        assert " error" in process.stdout, process.stderr
    assert codes[0] == 0 and codes[1] != 0


@needs_local_model
def test_a_fact_is_found_by_meaning_with_the_installed_wheel(
    installed: Path, environment: dict[str, str], used: Path
) -> None:
    python = [sys.executable, "-m", "clawmem"]
    text = run(installed, environment, *python, "reindex", "--vectors", cwd=used)
    assert "embedded 1 text with multilingual-e5-small" in text
    assert "puppy" in run(installed, environment, *python, "recall", "who has a dog", cwd=used)


def test_the_source_distribution_holds_what_the_wheel_needs(tmp_path: Path) -> None:
    builders = pytest.importorskip("hatchling.builders.sdist", reason="the build backend is not installed")
    built = next(builders.SdistBuilder(str(ROOT)).build(directory=str(tmp_path)))
    with tarfile.open(built) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    vocabulary = {f"clawmem/index/vectors/vocabulary/{name}" for name in VOCABULARY}
    assert {*LICENCES, *vocabulary, TOKENS, "vault-template/clawmem.yaml"} <= names
