"""What somebody may plant in a vault before handing it over: each plant puts one thing into a copy of a vault."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from clawmem.vault.commit.pending import PendingCommit, _seal

STATUS = ("status",)
DOCTOR = ("doctor",)
FULL = ("doctor", "--full")
FIX = ("doctor", "--fix")
REMEMBER = ("remember", "The boat is red.")
SUPERSEDE = ("supersede", "{fact}", "Jane lives in Rome.")
NOTE = ("note", "A note.")
HEARTBEAT = ("heartbeat",)
RECALL = ("recall", "Jane")
CONTEXT = ("context", "Jane")
LOG = ("log",)
DIFF = ("diff",)
PAST = ("list", "--at", "HEAD")
BACKUP = ("backup", "{folder}/made.clawmem")
REDACT = ("redact", "--pattern", "cello", "--yes")
CONFIG = ("config", "set", "vault.name", "q")
SYNC = ("sync",)
EVERY_VERB = (
    STATUS,
    DOCTOR,
    FULL,
    FIX,
    REMEMBER,
    SUPERSEDE,
    NOTE,
    HEARTBEAT,
    RECALL,
    CONTEXT,
    LOG,
    DIFF,
    PAST,
    BACKUP,
    REDACT,
    CONFIG,
    SYNC,
)
LOCAL = (STATUS, DOCTOR, REMEMBER, LOG, NOTE)
SIGNING = (REMEMBER, CONFIG, BACKUP)
MEETING = (SYNC, REMEMBER)
HISTORY = (LOG, DIFF, STATUS, REMEMBER)
FILES = (RECALL, STATUS, FIX, REMEMBER, SYNC)
READS = (RECALL, CONTEXT, REMEMBER)


class Scene(NamedTuple):
    """A vault to be spoilt, a folder outside with what is precious, a program that leaves a mark, and where."""

    root: Path
    outside: Path
    program: Path
    environment: Mapping[str, str]

    @property
    def git_dir(self) -> Path:
        """git's folder of the vault."""
        return self.root / ".git"

    @property
    def state(self) -> Path:
        """clawmem's own folder."""
        return self.git_dir / "clawmem"

    def config(self, text: str) -> None:
        """Add to git's configuration; `PROGRAM` and `OUTSIDE` are filled in."""
        text = text.replace("PROGRAM", str(self.program)).replace("OUTSIDE", str(self.outside))
        with (self.git_dir / "config").open("a") as file:
            file.write(f"{text}\n")

    def git(self, *arguments: str) -> None:
        """Plain git in the vault."""
        subprocess.run(["git", *arguments], cwd=self.root, env=self.environment, check=True, capture_output=True)


class Plant(NamedTuple):
    """What is planted, the verbs that could fall for it, and, where a verb is to refuse it, the words that name it."""

    name: str
    put: Callable[[Scene], None]
    verbs: tuple[tuple[str, ...], ...]
    refused: str | None = None


def _config(name: str, text: str, verbs: tuple[tuple[str, ...], ...] = LOCAL) -> Plant:
    return Plant(name, lambda scene: scene.config(text), verbs)


def _filter(name: str, key: str, attributes: str) -> Plant:
    def put(scene: Scene) -> None:
        scene.config(f'[filter "x"]\n\t{key} = PROGRAM\n\trequired = true')
        (scene.root / attributes).parent.mkdir(exist_ok=True)
        (scene.root / attributes).write_text("* filter=x\n")
        _touch_all(scene)

    return Plant(name, put, (STATUS, FULL, FIX, *LOCAL, SUPERSEDE, SYNC))


def _touch_all(scene: Scene) -> None:
    """Make git read every file again."""
    for path in scene.root.rglob("*.*"):
        if ".git" not in path.parts and path.is_file():
            os.utime(path, (1, 1))
    (scene.root / "MEMORY.md").write_text("# Mine\n")


def _remote(name: str, text: str, refused: str | None = None) -> Plant:
    return Plant(name, lambda scene: scene.config(text), MEETING, refused)


def _url(name: str, url: str, more: str = "") -> Plant:
    def put(scene: Scene) -> None:
        scene.git("remote", "set-url", "origin", url.replace("PROGRAM", str(scene.program)))
        scene.config(more)

    return Plant(name, put, MEETING)


def _link(name: str, place: str, target: str, verbs: tuple[tuple[str, ...], ...] = FILES) -> Plant:
    """A link in the place of a file of git's folder, to a file or folder outside."""

    def put(scene: Scene) -> None:
        path, led_to = scene.git_dir / place, scene.outside / target
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, led_to, symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(path)
        elif path.exists():
            shutil.copyfile(path, led_to)
            path.unlink()
        path.symlink_to(led_to)

    return Plant(name, put, verbs, place.rsplit("/", 1)[-1])


def _hard_link(name: str, place: str, verbs: tuple[tuple[str, ...], ...] = FILES) -> Plant:
    def put(scene: Scene) -> None:
        path = scene.git_dir / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            shutil.copyfile(path, scene.outside / "precious")
            path.unlink()
        path.hardlink_to(scene.outside / "precious")

    return Plant(name, put, verbs, place.rsplit("/", 1)[-1])


def _pipe(name: str, place: str, verbs: tuple[tuple[str, ...], ...] = FILES, refused: bool = True) -> Plant:
    def put(scene: Scene) -> None:
        path = scene.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        if place == ".gitignore":
            _touch_all(scene)

    return Plant(name, put, verbs, place.rsplit("/", 1)[-1] if refused else None)


def _socket(scene: Scene) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(scene.state)  # the path of a socket has a length that is soon reached
        try:
            made.bind("access.log")
        finally:
            os.chdir(here)


def _note(**what: object) -> Callable[[Scene], None]:
    """A note of an unfinished change whose seal is right."""

    def put(scene: Scene) -> None:
        head = (scene.git_dir / "refs/heads/main").read_text().strip()
        log = subprocess.run(
            ["git", "log", "-1", "--format=%P%n%s"],
            cwd=scene.root,
            env=scene.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        parent, subject = log.stdout.splitlines()
        assert head
        record: dict[str, object] = {"parent": parent, "paths": [], "subject": subject, "consumes": [], **what}
        record = {key: _filled(value, scene) for key, value in record.items()}
        sealed = PendingCommit(parent, tuple(record["paths"]), subject, tuple(record["consumes"]))  # type: ignore[arg-type]
        (scene.state / "pending.json").write_text(json.dumps({**record, "seal": _seal(sealed)}))

    return put


def _filled(value: object, scene: Scene) -> object:
    if isinstance(value, list):
        return [str(other).replace("OUTSIDE", str(scene.outside)) for other in value]
    return value


def _include(scene: Scene) -> None:
    (scene.outside / "more").write_text(f'[filter "x"]\n\tclean = {scene.program}\n[core]\n\tpager = {scene.program}\n')
    scene.config("[include]\n\tpath = OUTSIDE/more")
    (scene.root / ".gitattributes").write_text("* filter=x\n")
    _touch_all(scene)


def _include_if(scene: Scene) -> None:
    (scene.git_dir / "more").write_text(f"[core]\n\tsshCommand = {scene.program}\n")
    scene.config(f'[includeIf "gitdir:{scene.root}/"]\n\tpath = more')
    scene.git("remote", "set-url", "origin", "ssh://nobody@nowhere.invalid/x")


def _include_pipe(scene: Scene) -> None:
    os.mkfifo(scene.outside / "pipe")
    scene.config("[include]\n\tpath = OUTSIDE/pipe")


def _worktree_config(scene: Scene) -> None:
    scene.config("[extensions]\n\tworktreeConfig = true")
    (scene.git_dir / "config.worktree").write_text(f'[filter "x"]\n\tclean = {scene.program}\n')
    (scene.root / ".gitattributes").write_text("* filter=x\n")
    _touch_all(scene)


def _odd_config(scene: Scene) -> None:
    """Written so that a simple reader does not see it."""
    scene.config('[filter "x"] clean = \\\n"PROGRAM"\n[FILTER.x]\n\tsmudge = PROGRAM ; told\n')
    (scene.root / ".gitattributes").write_text("* filter=x\n")
    _touch_all(scene)


def _partial(scene: Scene) -> None:
    """A clone that is to fetch what it lacks, from a program."""
    scene.config(
        '[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\tpromisor = true\n\tuploadpack = PROGRAM\n'
        "[core]\n\trepositoryformatversion = 1"
    )
    blob = subprocess.run(
        ["git", "rev-parse", "HEAD:life/areas/people/jane/items.json"],
        cwd=scene.root,
        env=scene.environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    (scene.git_dir / "objects" / blob[:2] / blob[2:]).unlink()


def _common_dir(scene: Scene) -> None:
    shutil.copytree(scene.git_dir, scene.outside / "common", symlinks=True)
    (scene.git_dir / "commondir").write_text(f"{scene.outside}/common\n")


def _git_file(scene: Scene) -> None:
    other = scene.outside / "project"
    other.mkdir()
    shutil.move(scene.git_dir, other / ".git")
    (scene.root / ".git").write_text(f"gitdir: {other}/.git\n")


def _git_link(scene: Scene) -> None:
    other = scene.outside / "project"
    other.mkdir()
    shutil.move(scene.git_dir, other / ".git")
    (scene.root / ".git").symlink_to(other / ".git")


def _head_outside(scene: Scene) -> None:
    climb = "../" * 12
    (scene.git_dir / "HEAD").write_text(f"ref: refs/heads/{climb}{scene.outside}/tool\n")


def _past_link(scene: Scene) -> None:
    (scene.outside / "many").mkdir()
    for number in range(8):
        (scene.outside / "many" / f"folder{number}").mkdir()
    (scene.state / "at").symlink_to(scene.outside / "many")


def _past_commit_link(scene: Scene) -> None:
    head = (scene.git_dir / "refs/heads/main").read_text().strip()
    (scene.outside / "commit").mkdir()
    (scene.state / "at").mkdir(exist_ok=True)
    (scene.state / "at" / head).symlink_to(scene.outside / "commit")


def _index_outside(scene: Scene) -> None:
    link = scene.state / "index.sqlite"
    shutil.copyfile(link.resolve(), scene.outside / "index-x.sqlite")
    link.unlink()
    link.symlink_to(scene.outside / "index-x.sqlite")


def _index_file_outside(scene: Scene) -> None:
    real = (scene.state / "index.sqlite").resolve()
    shutil.move(real, scene.outside / "real.sqlite")
    real.symlink_to(scene.outside / "real.sqlite")


def _journal(scene: Scene) -> None:
    """A journal of SQLite's that names another file as its own master: SQLite removes that in the end."""
    real = (scene.state / "index.sqlite").resolve()
    name = str(scene.outside / "precious").encode()
    record = (1 << 30).to_bytes(4) + name + len(name).to_bytes(4) + (sum(name) & 0xFFFFFFFF).to_bytes(4)
    header = bytes.fromhex("d9d505f920a163d7") + bytes(8) + (1).to_bytes(4) + (512).to_bytes(4) + (4096).to_bytes(4)
    real.with_name(f"{real.name}-journal").write_bytes(header.ljust(512, b"\0") + record + header[:8])


def _halves(scene: Scene) -> None:
    for number in range(2, 400):
        (scene.state / f"half-{number}-{number}").symlink_to(scene.outside / "precious")


def _nested_remote(scene: Scene) -> None:
    hub = scene.root.parent / "evil.git"
    subprocess.run(["git", "init", "-q", "--bare", str(hub)], env=scene.environment, check=True)
    for name in ("pre-receive", "update", "post-receive", "post-update", "reference-transaction"):
        (hub / "hooks").mkdir(exist_ok=True)
        (hub / "hooks" / name).write_text(f"#!/bin/sh\nexec {scene.program}\n")
        (hub / "hooks" / name).chmod(0o755)
    scene.git("remote", "set-url", "origin", "../evil.git")


def _remote_config(scene: Scene) -> None:
    hub = scene.root.parent / "evil.git"
    subprocess.run(["git", "init", "-q", "--bare", str(hub)], env=scene.environment, check=True)
    (scene.root.parent / "evil.git/objects/info/alternates").write_text(f"{scene.git_dir}/objects\n")
    with (hub / "config").open("a") as file:
        file.write(f"[core]\n\talternateRefsCommand = {scene.program}\n\tfsmonitor = {scene.program}\n")
    scene.git("remote", "set-url", "origin", f"file://{hub}")


def _hooks(scene: Scene) -> None:
    (scene.git_dir / "hooks").mkdir(exist_ok=True)
    for name in (
        "pre-push",
        "post-index-change",
        "reference-transaction",
        "pre-auto-gc",
        "post-checkout",
        "pre-commit",
    ):
        path = scene.git_dir / "hooks" / name
        path.unlink(missing_ok=True)
        path.symlink_to(scene.program)


def _sign(scene: Scene, text: str) -> None:
    settings = scene.root / "clawmem.yaml"
    settings.write_text(settings.read_text() + "\ngit:\n  sign: true\n")
    scene.git("commit", "-qam", "sign")
    scene.config(text)


def _signer(name: str, text: str) -> Plant:
    return Plant(name, lambda scene: _sign(scene, text), SIGNING)


def _global_filter(scene: Scene) -> None:
    """The person's own git has a filter, which the vault names, and the vault tells it what to run."""
    config = Path(scene.environment["HOME"]) / ".gitconfig"
    with config.open("a") as file:
        file.write(f'[filter "lfs"]\n\tclean = {scene.program}\n\tprocess = {scene.program}\n\trequired = true\n')
    (scene.root / ".gitattributes").write_text("* filter=lfs\n")
    _touch_all(scene)


def _tree_link(scene: Scene) -> None:
    jane = scene.root / "life/areas/people/jane"
    shutil.move(jane, scene.outside / "jane")
    jane.symlink_to(scene.outside / "jane")


PLANTS: tuple[Plant, ...] = (
    # Filters and other drivers.
    _filter("filter.clean by .gitattributes", "clean", ".gitattributes"),
    _filter("filter.smudge by .gitattributes", "smudge", ".gitattributes"),
    _filter("filter.process by .gitattributes", "process", ".gitattributes"),
    _filter("filter.clean by info/attributes", "clean", ".git/info/attributes"),
    _filter("filter.process by info/attributes", "process", ".git/info/attributes"),
    _filter("filter.clean by a .gitattributes further down", "clean", "life/.gitattributes"),
    Plant("a filter of the person's own", _global_filter, (STATUS, FIX, REMEMBER)),
    Plant("a filter in an included file", _include, (STATUS, FIX, REMEMBER, LOG)),
    Plant("a filter in config.worktree", _worktree_config, (STATUS, FIX, REMEMBER, LOG)),
    Plant("a filter in a configuration that is oddly written", _odd_config, (STATUS, FIX, REMEMBER, LOG)),
    _config("diff.external", "[diff]\n\texternal = PROGRAM", HISTORY),
    _config("diff.*.textconv", '[diff "x"]\n\ttextconv = PROGRAM\n\tcommand = PROGRAM', HISTORY),
    _config("merge.*.driver", '[merge "clawmem"]\n\tdriver = PROGRAM\n[merge "union"]\n\tdriver = PROGRAM', MEETING),
    # Programs of git's own settings.
    _config("core.fsmonitor", "[core]\n\tfsmonitor = PROGRAM"),
    _config("core.hooksPath", "[core]\n\thooksPath = OUTSIDE/hooks"),
    Plant("hooks", _hooks, (REMEMBER, SYNC, FIX)),
    _config("core.pager", "[core]\n\tpager = PROGRAM\n[pager]\n\tlog = PROGRAM\n\tstatus = PROGRAM", HISTORY),
    _config("core.editor", "[core]\n\teditor = PROGRAM\n[sequence]\n\teditor = PROGRAM"),
    _config("alias", "[alias]\n\tstatus = !PROGRAM\n\tlog = !PROGRAM\n\tcat-file = !PROGRAM", HISTORY),
    _config("core.worktree", "[core]\n\tworktree = OUTSIDE"),
    _config("core.bare", "[core]\n\tbare = true"),
    _config("core.attributesFile", "[core]\n\tattributesFile = OUTSIDE/attributes"),
    _config("trace2", "[trace2]\n\tnormalTarget = OUTSIDE/trace\n\teventTarget = OUTSIDE/trace2"),
    _config("log.showSignature", "[log]\n\tshowSignature = true\n[gpg]\n\tprogram = PROGRAM", HISTORY),
    _config("core.askPass", "[core]\n\taskPass = PROGRAM", MEETING),
    # Signing.
    _signer("gpg.program", "[gpg]\n\tprogram = PROGRAM"),
    _signer("gpg.ssh.program", '[gpg]\n\tformat = ssh\n[gpg "ssh"]\n\tprogram = PROGRAM\n[user]\n\tsigningKey = x'),
    _signer("gpg.x509.program", '[gpg]\n\tformat = x509\n[gpg "x509"]\n\tprogram = PROGRAM'),
    _signer("gpg.ssh.defaultKeyCommand", '[gpg]\n\tformat = ssh\n[gpg "ssh"]\n\tdefaultKeyCommand = PROGRAM'),
    _config("commit.gpgSign", "[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = PROGRAM", SIGNING),
    # On the way to others.
    _url("core.sshCommand", "ssh://nobody@nowhere.invalid/x", "[core]\n\tsshCommand = PROGRAM"),
    Plant("core.sshCommand by includeIf", _include_if, MEETING),
    Plant("a pipe by include.path", _include_pipe, (STATUS, REMEMBER, LOG, SYNC)),
    _url("an ext:: address", "ext::PROGRAM %S", '[protocol "ext"]\n\tallow = always'),
    _url("an address of a helper", "evil://x/y", "[protocol]\n\tallow = always"),
    _remote("an ext:: pushurl", '[protocol]\n\tallow = always\n[remote "origin"]\n\tpushurl = ext::PROGRAM', "origin"),
    _remote("insteadOf", '[protocol]\n\tallow = always\n[url "ext::PROGRAM "]\n\tinsteadOf = /'),
    _remote("pushInsteadOf", '[protocol]\n\tallow = always\n[url "ext::PROGRAM "]\n\tpushInsteadOf = /'),
    _remote("remote.*.uploadpack", '[remote "origin"]\n\tuploadpack = PROGRAM'),
    _remote("remote.*.receivepack", '[remote "origin"]\n\treceivepack = PROGRAM'),
    _remote("remote.*.vcs", '[remote "origin"]\n\tvcs = ext::PROGRAM'),
    _url("credential.helper", "http://127.0.0.1:9/x", "[credential]\n\thelper = !PROGRAM"),
    _url("credential.*.helper", "http://127.0.0.1:9/x", '[credential "http://127.0.0.1:9"]\n\thelper = PROGRAM'),
    _url("http.cookieFile", "http://127.0.0.1:9/x", "[http]\n\tcookieFile = OUTSIDE/precious\n\tsaveCookies = true"),
    _url("core.gitProxy", "git://127.0.0.1:9/x", "[core]\n\tgitProxy = PROGRAM"),
    Plant("a partial clone", _partial, (STATUS, RECALL, FULL, FIX, LOG, REMEMBER, SYNC)),
    Plant("a remote beside the vault with hooks", _nested_remote, (SYNC,), "evil.git"),
    Plant("a remote beside the vault with a configuration", _remote_config, (SYNC,), "evil.git"),
    # Links.
    _link("lock is a link", "clawmem/lock", "precious"),
    _link("access.log is a link", "clawmem/access.log", "precious", READS),
    _link("heartbeat.lock is a link", "clawmem/heartbeat.lock", "precious", (HEARTBEAT,)),
    _link("heartbeat.log is a link", "clawmem/heartbeat.log", "precious", (HEARTBEAT,)),
    _link("sync.lock is a link", "clawmem/sync.lock", "precious", (SYNC,)),
    _link("index.lock is a link", "clawmem/index.lock", "precious", READS),
    _link("vectors.sqlite is a link", "clawmem/vectors.sqlite", "new.sqlite", (HEARTBEAT, RECALL)),
    _link("clawmem's folder is a link", "clawmem", "state"),
    _link("git's index is a link", "index", "index"),
    _link("config is a link", "config", "config"),
    _link("packed-refs is a link", "packed-refs", "packed", (FIX, REDACT)),
    _link("refs is a link", "refs", "refs"),
    _link("a branch is a link", "refs/heads/main", "main"),
    _link("objects is a link", "objects", "objects"),
    _link("objects/pack is a link", "objects/pack", "pack", (FIX, REMEMBER, REDACT)),
    _link("logs is a link", "logs", "logs"),
    _link("the log of HEAD is a link", "logs/HEAD", "precious", (REMEMBER, SYNC)),
    _link("info is a link", "info", "info"),
    _link("HEAD is a link", "HEAD", "head"),
    _link("FETCH_HEAD is a link", "FETCH_HEAD", "precious", (SYNC,)),
    _link("ORIG_HEAD is a link", "ORIG_HEAD", "precious", (SYNC,)),
    Plant("at is a link", _past_link, (PAST, ("list", "--at", "HEAD~1")), "at"),
    Plant("at/COMMIT is a link", _past_commit_link, (PAST,), "/at/"),
    Plant("the index leads outside", _index_outside, READS, "index.sqlite"),
    Plant("the file of the index leads outside", _index_file_outside, READS, "index-"),
    Plant("half-written files are links", _halves, (REMEMBER, HEARTBEAT, CONFIG), "half-"),
    Plant("an entity is a link", _tree_link, (STATUS, FIX, REMEMBER, SUPERSEDE, REDACT)),
    # The same file twice.
    _hard_link("lock is a hard link", "clawmem/lock"),
    _hard_link("access.log is a hard link", "clawmem/access.log", READS),
    _hard_link("vectors.sqlite is a hard link", "clawmem/vectors.sqlite", (HEARTBEAT,)),
    _hard_link("the log of the branch is a hard link", "logs/refs/heads/main", (REMEMBER,)),
    _hard_link("FETCH_HEAD is a hard link", "FETCH_HEAD", (SYNC,)),
    # Where a read would wait for ever.
    _pipe("lock is a pipe", ".git/clawmem/lock"),
    _pipe("access.log is a pipe", ".git/clawmem/access.log", READS),
    _pipe("pending.json is a pipe", ".git/clawmem/pending.json"),
    _pipe("HEAD is a pipe", ".git/HEAD", (RECALL, STATUS, REMEMBER)),
    _pipe("the branch is a pipe", ".git/refs/heads/main", (RECALL, STATUS, REMEMBER)),
    _pipe("config is a pipe", ".git/config", (STATUS, REMEMBER, LOG)),
    _pipe("git's index is a pipe", ".git/index", (STATUS, REMEMBER)),
    _pipe("alternates is a pipe", ".git/objects/info/alternates", (STATUS, REMEMBER, LOG)),
    _pipe("a pack is a pipe", ".git/objects/pack/pack-1.idx", (REMEMBER, LOG)),
    _pipe(".gitignore is a pipe", ".gitignore", (REMEMBER,), refused=True),
    _pipe("a page is a pipe", "life/areas/people/jane/items.json", (STATUS, REMEMBER, FIX, SUPERSEDE), refused=False),
    Plant("access.log is a socket", _socket, READS, "access.log"),
    # Paths that climb out.
    Plant("consumes climbs out", _note(consumes=["../../../outside/precious"]), (REMEMBER, FIX), "pending.json"),
    Plant("consumes is absolute", _note(consumes=["OUTSIDE/precious"]), (REMEMBER, FIX), "pending.json"),
    Plant("paths climb out", _note(paths=["../outside/precious"]), (REMEMBER, FIX), "pending.json"),
    Plant("paths are absolute", _note(paths=["OUTSIDE/precious"]), (REMEMBER, FIX), "pending.json"),
    Plant("a journal of SQLite's names a file", _journal, (RECALL, REMEMBER), "-journal"),
    Plant("HEAD names a branch outside", _head_outside, (STATUS, REMEMBER, DIFF, FIX), "HEAD"),
    Plant("commondir leads outside", _common_dir, (STATUS, REMEMBER, LOG), "commondir"),
    Plant(".git leads to another work tree's", _git_file, FILES, "another work tree"),
    Plant(".git is a link to another work tree's", _git_link, FILES, "another work tree"),
)
