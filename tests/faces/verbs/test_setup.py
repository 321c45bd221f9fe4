"""`clawmem setup` on real files: no configuration, other people's entries, broken files, links, no right to write."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import clawmem as clawmem_package
from clawmem.setup.harnesses import HARNESSES
from clawmem.setup.texts import SHELLS
from clawmem.setup.wire import harness_problems
from clawmem.vault.exchange.create import create_vault
from clawmem.vault.state.heartbeat_state import LOCK, LOG
from clawmem.vault.vault import Vault
from tests.at_terminal import at_terminal
from tests.command_server import CommandServer
from tests.conftest import NOW, Command, Result
from tests.setup.test_cron import CRONTAB, through_cron
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("without_vectors")

OTHERS = """\
{
  // my own
  "theme": "dark",
  "hooks": {
    "SessionStart": [{"hooks": [{"type": "command", "command": "true"}]}], // keep
  },
  "mcpServers": {"other": {"command": "other"}},
  "mcp": {"other": {"type": "local"}, "servers": {"x": {}}},
}
"""
PLAIN = """\
{
  "mine": "// my own",
  "theme": "dark",
  "hooks": {
    "SessionStart": [{"hooks": [{"type": "command", "command": "true"}], "id": "// keep"}]
  },
  "permissions": {"allow": ["Bash(ls:*)", "mcp__clawmem__why"], "deny": ["WebFetch"]},
  "mcpServers": {"other": {"command": "other"}}
}
"""
REFUSE_COMMENTS = ("claude-code", "codex")
JSON_FILES = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "opencode": ".config/opencode/opencode.json",
    "cursor": ".cursor/mcp.json",
    "openclaw": ".openclaw/openclaw.json",
}
Setup = Callable[..., Result]


def test_a_person_without_a_vault_gets_one(clawmem: Command, environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()

    def run(*words: str, **env: str) -> Result:
        return clawmem(*words, cwd=tmp_path / "elsewhere", env=env)

    root = Path(environment["HOME"]) / ".clawmem"
    assert run("setup", "cursor", CLAWMEM_AGENT="kit").code == 10, "an agent makes no vault"
    dry = run("setup", "cursor", "--dry-run")
    assert (dry.code, f"A new vault would be made in {root}." in dry.out) == (0, True), dry.err
    assert run("setup", "cursor", "--dry-run", CLAWMEM_AGENT="kit").code == 10
    assert run("setup", "cursor", CLAWMEM_VAULT=str(tmp_path / "none")).code == 10
    assert not root.exists()
    made = run("setup", "cursor")
    assert made.code == 0, made.err
    assert f"A new vault is ready in {root}." in made.out
    assert run("remember", "Jane prefers tea.").code == 0
    assert "A new vault" not in run("setup", "cursor").out


@pytest.fixture
def home(environment: dict[str, str]) -> Path:
    return Path(environment["HOME"])


@pytest.fixture
def setup(clawmem: Command, vault_root: Path, tmp_path: Path) -> Setup:
    """Run setup where no harness is installed."""
    place = tmp_path / "bin"
    place.mkdir()
    git = shutil.which("git")
    assert git
    (place / "git").symlink_to(git)

    def run(*words: str, **env: str) -> Result:
        record = {"CLAWMEM_VAULT": str(vault_root), "PATH": str(place), "SHELL": "/bin/bash", **env}
        return clawmem("setup", *words, env=record)

    return run


def others(harness: str) -> str:
    """A file of settings as a person wrote it, with comments where the harness reads them."""
    return PLAIN if harness in REFUSE_COMMENTS else OTHERS


def files(home: Path) -> dict[str, bytes]:
    """Every file of the home, without the state of git and of clawmem."""
    found = (path for path in home.rglob("*") if path.is_file())
    return {str(path.relative_to(home)): path.read_bytes() for path in found if ".config/clawmem" not in str(path)}


@pytest.mark.parametrize("harness", HARNESSES)
def test_without_any_configuration(
    setup: Setup, home: Path, harness: str, vault: Vault, environment: dict[str, str]
) -> None:
    before, folders = files(home), {path for path in home.rglob("*") if path.is_dir()}
    result = setup(harness)
    assert result.code == 0, result.err
    assert files(home) != before
    assert [*harness_problems(vault, {**environment, "SHELL": "/bin/bash"}, home)] == []
    again = setup(harness)
    assert (again.code, again.out.strip()) == (0, f"{harness} is set up already")
    assert setup(harness, "--remove").code == 0
    assert files(home) == before
    left = {path for path in home.rglob("*") if path.is_dir()} - folders
    assert not [
        path for path in left if ".local" not in str(path) and path.name != ".config" and "clawmem" not in str(path)
    ]


@pytest.mark.parametrize("harness", JSON_FILES)
def test_other_peoples_entries_and_comments_stay_also_what_changes_meanwhile(
    setup: Setup, home: Path, harness: str
) -> None:
    path = home / JSON_FILES[harness]
    path.parent.mkdir(parents=True)
    path.write_text(others(harness))
    before = files(home)
    assert setup(harness, "--dry-run").code == 0
    assert files(home) == before
    assert setup(harness).code == 0
    text = path.read_text()
    assert "clawmem" in text and "// my own" in text and "// keep" in text
    path.write_text(path.read_text().replace('"dark"', '"light"'))
    assert setup(harness).code == 0  # again, after the change
    path.write_text(path.read_text().replace("// my own", "// our own"))
    result = setup(harness, "--remove")
    assert result.code == 0
    assert path.read_text() == others(harness).replace('"dark"', '"light"').replace("// my own", "// our own")
    path.write_text(others(harness))
    assert files(home) == before


def test_a_receipt_names_no_file_or_program_of_others(setup: Setup, home: Path, tmp_path: Path) -> None:
    """A receipt is a file like any other, and who can write it does not choose what --remove writes or runs."""
    assert setup("cursor").code == 0
    receipt = home / ".local/state/clawmem/setup/cursor.json"
    record = json.loads(receipt.read_text())
    own = next(value for path, value in record["files"].items() if path.endswith("mcp.json"))
    (home / ".bashrc").write_text("mine\n")
    (tmp_path / "empty").mkdir()
    other = {"before": None, "after": hashlib.sha256(b"mine\n").hexdigest(), "steps": [{"kind": "file"}]}
    record["files"][str(home / ".bashrc")] = other
    mcp = next(path for path in record["files"] if path.endswith("mcp.json"))
    record["files"][mcp] = {**own, "after": "other", "steps": [], "vendor": ["touch", str(tmp_path / "ran")]}
    record["folders"].append(str(tmp_path / "empty"))
    receipt.write_text(json.dumps(record))
    result = setup("cursor", "--remove", PATH=os.environ["PATH"])
    assert result.code == 0 and result.err.count("is no file that setup writes for cursor here") == 2, result
    assert (home / ".bashrc").read_text() == "mine\n"
    assert (tmp_path / "empty").is_dir() and not (tmp_path / "ran").exists()
    assert not (home / ".cursor/hooks.json").exists(), "the rest is taken out"
    assert [*json.loads(receipt.read_text())["files"]] == [mcp, str(home / ".bashrc")]


@pytest.mark.parametrize("harness", ["claude-code", "opencode"])
def test_a_broken_file_changes_nothing(setup: Setup, home: Path, harness: str) -> None:
    path = home / JSON_FILES[harness]
    path.parent.mkdir(parents=True)
    path.write_text('{\n  "hooks": {,\n}\n')
    before = files(home)
    result = setup(harness)
    assert result.code == 2
    assert "line 2" in result.err and "nothing was changed" in result.err
    assert files(home) == before


def test_a_link_stays_a_link(setup: Setup, home: Path) -> None:
    real = home / "dotfiles/settings.json"
    real.parent.mkdir()
    real.write_text(PLAIN)
    link = home / ".claude/settings.json"
    link.parent.mkdir()
    link.symlink_to(real)
    assert setup("claude-code").code == 0
    assert link.is_symlink() and "clawmem" in real.read_text()
    assert setup("claude-code", "--remove").code == 0
    assert link.is_symlink() and real.read_text() == PLAIN


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root may write everywhere")
def test_without_the_right_to_write_nothing_changes(
    vault_root: Path, environment: dict[str, str], home: Path, tmp_path: Path
) -> None:
    path = home / ".cursor/mcp.json"
    path.parent.mkdir()
    path.write_text(OTHERS)
    path.chmod(0o444)
    path.parent.chmod(0o555)
    before = files(home)
    command = ["clawmem", "setup", "cursor"]
    words = [sys.executable, "-m", *command]
    if os.geteuid() == 0:
        words = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *words]
    env = {**environment, "CLAWMEM_VAULT": str(vault_root)}
    process = subprocess.run(words, env=env, capture_output=True, text=True, cwd=tmp_path)
    assert (process.returncode, "may not be written" in process.stderr) == (1, True), process.stderr
    assert files(home) == before


def test_a_file_that_somebody_else_wrote_stays(setup: Setup, home: Path) -> None:
    mine = home / ".claude/commands/recall.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine\n")
    config = home / ".claude.json"
    config.write_text('{"mcpServers": {"clawmem": {"command": "other"}}}')
    result = setup("claude-code")
    assert result.code == 0
    assert result.err.count("was left as it is") == 2
    assert setup("claude-code", "--remove").code == 0
    assert mine.read_text() == "mine\n"
    assert "other" in config.read_text()


CODEX = """\
#!/bin/sh
config="$HOME/.codex/config.toml"
case "$1 $2" in
  "mcp add") name=$3; shift 4; printf '\\n[mcp_servers.%s]\\ncommand = "%s"\\n' "$name" "$*" >> "$config";;
  "mcp remove") sed -i '/^\\[mcp_servers.clawmem\\]/,$d' "$config";;
  *) exit 3;;
esac
"""


def test_the_command_of_the_vendor_is_used_where_there_is_one(setup: Setup, home: Path, tmp_path: Path) -> None:
    for name in ("sh", "sed", "printf"):
        found = shutil.which(name)
        assert found
        (tmp_path / "bin" / name).symlink_to(found)
    program = tmp_path / "bin/codex"
    program.write_text(CODEX)
    program.chmod(0o755)
    config = home / ".codex/config.toml"
    config.parent.mkdir()
    config.write_text('# mine\nmodel = "m"\n')
    before = files(home)
    result = setup("codex")
    assert result.code == 0 and "changed by `codex mcp add`" in result.out and "trusted" in result.err
    assert "--agent codex" in config.read_text() and ">>>" not in config.read_text()
    assert setup("codex").code == 0
    assert config.read_text().count("mcp_servers.clawmem") == 1
    assert setup("codex", "--remove").code == 0
    assert files(home) == before
    assert setup("codex").code == 0
    config.write_text("# ours\n" + config.read_text())
    assert setup("codex", "--remove").code == 0
    assert config.read_text().startswith("# ours\n# mine\n") and "clawmem" not in config.read_text()
    program.write_text("#!/bin/sh\nexit 5\n")
    result = setup("codex")
    assert result.code == 0 and "edited directly" in result.err
    assert ">>> clawmem >>>" in config.read_text()


def test_a_policy_that_limits_the_agent_is_named(setup: Setup, home: Path, vault_root: Path) -> None:
    assert "everything" not in setup("cursor").err
    policy = vault_root / "governance/access.yaml"
    policy.parent.mkdir(exist_ok=True)
    policy.write_text("people: {ada: {role: owner}}\nrules: [{role: owner, may: all}]\n")
    assert "governance/access.yaml does not let cursor see everything" in setup("cursor").err
    policy.write_text("people: {cursor: {role: owner}}\nrules: [{role: owner, may: all}]\n")
    assert "everything" not in setup("cursor").err


def test_a_dry_run_says_what_would_be_edited(setup: Setup, home: Path) -> None:
    (home / ".codex").mkdir(exist_ok=True)
    result = setup("codex", "--dry-run")
    assert "codex was not found" in result.err and "would be edited directly" in result.err


def test_the_heartbeat_is_scheduled_when_a_person_wants_it(
    setup: Setup, clawmem: Command, vault_root: Path, environment: dict[str, str], home: Path, tmp_path: Path
) -> None:
    table, others = home / "table", "5 4 * * * others\n"
    table.write_text(others)
    crontab = tmp_path / "bin" / "crontab"
    crontab.write_text(f"#!/bin/sh\nif [ $1 = -l ]; then exec /bin/cat {table}; fi\n/bin/cat > {table}\n")
    crontab.chmod(0o755)
    unasked = setup("claude-code")
    assert "when a session ends" in unasked.err and "--schedule` runs it every 15 minutes" in unasked.err
    assert table.read_text() == others
    around = {**environment, "CLAWMEM_VAULT": str(vault_root), "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    with at_terminal(["setup", "claude-code"], vault_root, around) as asked:
        asked.until("every 15 minutes as well, by crontab?")
        asked.press("y\r")
        assert asked.ended() == 0, asked.shown
    assert table.read_text().startswith(others) and "clawmem' 'heartbeat'" in table.read_text()
    assert "when a session ends" not in setup("claude-code").err
    assert setup("claude-code", "--remove").code == 0
    assert table.read_text() == others
    assert setup("codex", "--schedule").code == 0 and "heartbeat" in table.read_text()


def test_the_list_and_what_doctor_finds(setup: Setup, clawmem: Command, home: Path) -> None:
    assert setup("codex").code == 0
    rows = {harness["harness"]: harness["state"] for harness in setup("--list", "--json").data["harnesses"]}
    assert rows["codex"] == "set up" and rows["cursor"] == "not set up"
    (home / ".codex/hooks.json").unlink()
    rollout = home / ".codex/sessions/2027/01/01/rollout-x.jsonl"
    rollout.parent.mkdir(parents=True)
    rollout.write_text("{}\n")
    os.utime(rollout, (2_000_000_000, 2_000_000_000))
    items = [
        problem["message"] for problem in clawmem("doctor", "--json").data["problems"] if problem["check"] == "harness"
    ]
    assert len(items) == 2
    assert "is gone" in items[0] + items[1] and "until you trust them" in items[0] + items[1]
    rows = {harness["harness"]: harness["state"] for harness in setup("--list", "--json").data["harnesses"]}
    assert rows["codex"] == "incomplete"


def test_doctor_names_a_setup_of_an_earlier_version(setup: Setup, clawmem: Command, home: Path) -> None:
    assert setup("claude-code").code == 0
    path = home / ".claude/settings.json"
    settings = json.loads(path.read_text())
    del settings["hooks"]["Stop"]
    path.write_text(json.dumps(settings))
    assert f"claude-code: {path} is not what this version sets up." in clawmem("doctor").out
    assert setup("claude-code").code == 0
    assert "Stop" in path.read_text()
    assert "this version" not in clawmem("doctor").out


def test_wrong_words(setup: Setup) -> None:
    assert setup("emacs").code == 2
    assert setup().code == 2
    assert setup("cursor", "--remove").out.strip() == "cursor is not set up; nothing was removed"


@pytest.mark.parametrize("shell", [other_shell if other_shell != "sh" else "dash" for other_shell in SHELLS])
def test_the_functions_work_in_a_shell(
    shell: str,
    clawmem: Command,
    command_server: CommandServer,
    vault_root: Path,
    environment: dict[str, str],
    tmp_path: Path,
) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell}")
    script = clawmem("aliases", "sh" if shell == "dash" else shell).out
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/clawmem").write_text(command_server.program())
    (tmp_path / "bin/clawmem").chmod(0o755)
    load = script + "\nremember 'Ada keeps bees.' --quiet\nrecall 'what does Ada keep?'\nmemory 'bees'\n"
    path = f"{tmp_path / 'bin'}:{environment['PATH']}"
    env = {**environment, "PATH": path, "CLAWMEM_VAULT": str(vault_root), "CLAWMEM_AGENT": "sandbox"}
    process = subprocess.run([program, "-c", load], env=env, capture_output=True, text=True, cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert "sandbox: Ada keeps bees." in process.stdout
    assert "<clawmem-context>" in process.stdout


def test_the_plugin_of_openclaw_asks_and_hands_over(
    setup: Setup, clawmem: Command, home: Path, vault_root: Path
) -> None:
    """The plugin in node, without OpenClaw: what it does at a prompt and after a turn."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    clawmem("remember", "The pier is made of oak.", env={"CLAWMEM_VAULT": str(vault_root)})
    setup("openclaw")
    plugin = home / ".openclaw/extensions/clawmem/index.js"
    script = """
        const plugin = (await import(process.argv[1])).default;
        const hooks = {};
        plugin.register({ on: (event, handler) => (hooks[event] = handler) });
        const context = { sessionId: "s1" };
        const given = await hooks.before_prompt_build({ prompt: "What is the pier made of?", messages: [] }, context);
        const messages = [
          { role: "user", content: "old", timestamp: 1 },
          { role: "user", content: "The pier has a light.", timestamp: 1795409203079 },
          { role: "assistant", content: [{ type: "text", text: "Noted." }], timestamp: 1795409203080 },
        ];
        await hooks.agent_end({ messages }, context);
        console.log(given.prependContext);
    """
    env = {**os.environ, "HOME": str(home), "CLAWMEM_VAULT": str(vault_root)}
    process = subprocess.run(
        [node, "--input-type=module", "-e", script, str(plugin)], env=env, capture_output=True, text=True, timeout=60
    )
    assert process.returncode == 0, process.stderr
    assert "oak" in process.stdout
    found = clawmem("recall", "pier light", "--in", "events", "--json", env={"CLAWMEM_VAULT": str(vault_root)})
    texts = [event["text"] for event in found.data["events"]]
    assert texts[0] == "The pier has a light." and "old" not in texts


def test_a_list_of_allowed_plugins_gets_ours_and_loses_it_again(setup: Setup, home: Path) -> None:
    config = home / ".openclaw/openclaw.json"
    config.parent.mkdir()
    config.write_text('{"plugins": {"allow": ["other"]}}\n')
    setup("openclaw")
    assert '"clawmem"' in config.read_text().partition("allow")[2].partition("]")[0]
    setup("openclaw", "--remove")
    assert config.read_text() == '{"plugins": {"allow": ["other"]}}\n'


@pytest.mark.parametrize("harness", REFUSE_COMMENTS[:1])
def test_a_file_that_the_harness_would_refuse_is_left_alone(setup: Setup, home: Path, harness: str) -> None:
    path = home / JSON_FILES[harness]
    path.parent.mkdir(parents=True)
    path.write_text(OTHERS)
    before = files(home)
    result = setup(harness)
    assert result.code == 2 and "not plain JSON (line 2)" in result.err and "nothing was changed" in result.err
    assert files(home) == before


def test_every_tool_that_reads_or_adds_is_allowed_by_name(setup: Setup, home: Path) -> None:
    tools = json.loads((Path(clawmem_package.__file__).parent / "faces/mcp/tools.json").read_text())
    harmless = [tool["name"] for tool in tools if not tool["annotations"]["destructiveHint"]]
    settings = home / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text(PLAIN)
    result = setup("claude-code", "--json")
    assert sorted(json.loads(result.out)["data"]["granted"]) == sorted(harmless)
    allowed = json.loads(settings.read_text())["permissions"]
    assert allowed["deny"] == ["WebFetch"] and allowed["allow"][0] == "Bash(ls:*)"
    assert sorted(allowed["allow"][1:]) == sorted(f"mcp__clawmem__{name}" for name in harmless)
    assert setup("claude-code", "--remove").code == 0
    assert settings.read_text() == PLAIN


def test_cursor_and_opencode_grant_only_where_a_person_keeps_a_list(setup: Setup, home: Path) -> None:
    (home / ".cursor").mkdir()
    assert "allowed without" not in (asked := setup("cursor")).out and "asks before each tool" in asked.err
    assert not (home / ".cursor/permissions.json").exists()
    rules = home / ".cursor/permissions.json"
    rules.write_text('{"mcpAllowlist": ["other:*"]}\n')
    assert "allowed without a question: recall," in setup("cursor").out
    assert "clawmem:recall" in json.loads(rules.read_text())["mcpAllowlist"]
    assert setup("cursor", "--remove").code == 0
    assert rules.read_text() == '{"mcpAllowlist": ["other:*"]}\n'
    config = home / ".config/opencode/opencode.json"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('{"permission": {"*": "ask"}}\n')
    assert setup("opencode").code == 0
    assert [*json.loads(config.read_text())["permission"].items()] == [("*", "ask"), ("clawmem_*", "allow")]
    assert setup("opencode", "--remove").code == 0
    assert config.read_text() == '{"permission": {"*": "ask"}}\n'


READER = """\
#!{python}
import json, os, subprocess, sys
if "-p" not in sys.argv:
    sys.exit(1)
task = sys.stdin.read()
with open({log!r}, "a") as log:
    inside = subprocess.run([{python!r}, "-m", "clawmem", "hook", "UserPromptSubmit", "--harness", "claude-code",
                             "--vault", {vault!r}], input='{{"prompt": "where does Jane live?"}}',
                            capture_output=True, text=True)
    print(json.dumps([sys.argv[1:], os.listdir(), inside.stdout]), file=log)
if "<facts>" in task:
    print(json.dumps({{"judgements": [{{"fact": "f1", "worth": 0.4, "reason": "A home.", "t": ["town"]}}]}}))
elif "<events>" not in task:
    print({trial!r})
else:
    lines = [line for line in task.splitlines() if "I live in Lisbon" in line]
    facts = [{{"e": int(line.split()[0]), "q": "I live in Lisbon", "s": "The user lives in Lisbon."}} for line in lines]
    print(json.dumps({{"facts": facts}}))
"""


def reader(tmp_path: Path, vault_root: Path, trial: str = '{"works": true}') -> Path:
    """Put a program with the name of Claude Code on the PATH, which reads as a model would; return its log."""
    log = tmp_path / "asked.jsonl"
    program = tmp_path / "bin/claude"
    program.write_text(READER.format(python=sys.executable, log=str(log), vault=str(vault_root), trial=trial))
    program.chmod(0o755)
    return log


@pytest.mark.parametrize(
    ("harness", "why"),
    [("claude-code", "the program `claude` is not found"), ("cursor", "it has no program that reads")],
)
def test_a_reader_that_is_not_there_is_no_success(setup: Setup, home: Path, harness: str, why: str) -> None:
    result = setup(harness, "--learn")
    assert result.code == 14 and f"{harness} is wired, but nobody reads what is said: {why}." in result.err
    wired = [path for path in home.rglob("*.json") if path.is_file()]
    assert wired, "the rest is wired"
    assert any(f"note: {path}: added\n" in result.err for path in wired)
    assert result.err.index("note: ") < result.err.index("error: ")


def test_the_program_of_the_harness_reads_after_it_was_tried(
    setup: Setup, clawmem: Command, home: Path, tmp_path: Path, vault_root: Path
) -> None:
    env = {"CLAWMEM_VAULT": str(vault_root), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    clawmem("remember", "Jane lives in Oslo.", env=env)
    asked = reader(tmp_path, vault_root, "I cannot do that.")
    without = setup("claude-code")
    assert "setup claude-code --learn" in without.err and "20 calls and 100,000 tokens a day" in without.err
    assert not asked.exists(), "without a terminal and --learn nobody is asked"
    refused = setup("claude-code", "--learn")
    assert refused.code == 14 and "cannot read" in refused.err
    assert clawmem("config", "get", "llm.preset", env=env).out.strip() != "claude"
    reader(tmp_path, vault_root)
    result = setup("claude-code", "--learn", "--json")
    assert (result.code, result.data["reader"]) == (0, "claude")
    assert clawmem("config", "get", "llm.preset", env=env).out.strip() == "claude"

    lines = [{"type": "user", "uuid": "u1", "sessionId": "s1", "timestamp": "2026-03-02T10:00:00Z",
              "message": {"role": "user", "content": "I live in Lisbon."}}]  # fmt: skip
    (tmp_path / "s1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    call = {"session_id": "s1", "cwd": str(tmp_path), "transcript_path": str(tmp_path / "s1.jsonl")}
    clawmem("hook", "SessionEnd", "--harness", "claude-code", given=json.dumps(call).encode(),
            env={**env, "CLAWMEM_SEED": "2"})  # fmt: skip
    for _ in range(300):
        marks: dict[str, dict[str, str]] = {
            mark["event"]: mark for mark in clawmem("status", "--json", env=env).data["hooks"]
        }
        if "reading" in marks:
            break
        time.sleep(0.1)
    assert marks["reading"]["outcome"] == "done", marks["reading"]["message"]
    assert "The user lives in Lisbon." in clawmem("list", env=env).out
    calls = [json.loads(line) for line in asked.read_text().splitlines()]
    assert len(calls) == 4, "two trials, one reading, and what was typed before"
    assert all("--no-session-persistence" in words and not files and not other for words, files, other in calls)
    status = clawmem("status", env=env).out
    assert "1 message kept, 1 taught a fact; none is unread\n" in status
    assert (
        "reader    claude: today 0 cents, 4 of 20 calls, " in status and "; claude read 1 message, 1 fact, " in status
    )
    assert setup("claude-code", "--remove").code == 0
    assert clawmem("config", "get", "llm.preset", env=env).out.strip() != "claude"
    assert clawmem("config", "get", "llm.model", env=env).out.strip() == ""


def test_openclaw_reads_with_its_own_models(
    setup: Setup, clawmem: Command, home: Path, tmp_path: Path, vault_root: Path
) -> None:
    env = {"CLAWMEM_VAULT": str(vault_root), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    reader(tmp_path, vault_root).unlink(missing_ok=True)
    program = tmp_path / "bin/openclaw"
    source = (tmp_path / "bin/claude").read_text().replace('"-p" not in', '"--prompt" not in')
    program.write_text(source.replace("sys.stdin.read()", "sys.argv[sys.argv.index('--prompt') + 1]"))
    program.chmod(0o755)
    result = setup("openclaw", "--learn", "--json")
    assert (result.code, result.data["reader"]) == (0, "openclaw"), result.err
    record = {"role": "user", "content": "I live in Lisbon.", "session": "s1"}
    clawmem("ingest", "-", given=json.dumps(record), env=env)
    assert "1 fact added" in clawmem("heartbeat", "--only", "learn", env=env).out
    assert "The user lives in Lisbon." in clawmem("list", env=env).out
    assert setup("openclaw", "--remove").code == 0
    assert clawmem("config", "get", "llm.model", env=env).out.strip() == ""


def test_without_a_harness_llm_reads_if_a_person_wants_it(
    setup: Setup, clawmem: Command, home: Path, tmp_path: Path, vault_root: Path
) -> None:
    env = {"CLAWMEM_VAULT": str(vault_root), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    nobody = setup("shell", "--learn")
    assert nobody.code == 14 and "nobody reads what is said: neither `llm` nor `ollama` is found" in nobody.err
    reader(tmp_path, vault_root)
    program = tmp_path / "bin/llm"
    program.write_text((tmp_path / "bin/claude").read_text().replace('"-p" not in', '"prompt" not in'))
    program.chmod(0o755)
    assert "`clawmem setup shell --learn` lets llm read" in setup("shell").err
    result = setup("shell", "--learn")
    assert result.code == 0 and "llm answered, and reads in the heartbeat" in result.out, result.err
    clawmem("ingest", "-", given=json.dumps({"role": "user", "content": "I live in Lisbon."}), env=env)
    assert "1 fact added" in clawmem("heartbeat", "--only", "learn", env=env).out
    assert "the model that is set reads" in setup("shell", "--learn").out
    assert setup("shell", "--remove").code == 0
    assert clawmem("config", "get", "llm.model", env=env).out.strip() == ""


def test_the_limits_of_a_day_are_those_of_a_machine(clawmem: Command, tmp_path: Path, vault_root: Path) -> None:
    env = {"CLAWMEM_VAULT": str(vault_root), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    (tmp_path / "bin").mkdir()
    asked = reader(tmp_path, vault_root)

    def learn(text: str, env: dict[str, str]) -> int:
        clawmem("ingest", "-", given=json.dumps({"role": "user", "content": text}), env=env)
        clawmem("heartbeat", "--only", "learn", env=env)
        return len(asked.read_text().splitlines())

    for key, value in (("llm.preset", "claude"), ("llm.model", "command"), ("llm.daily_calls", "1")):
        assert clawmem("config", "set", key, value, env=env).code == 0
    assert learn("I live in Lisbon, it is warm.", env) == 1
    assert learn("I live in Lisbon, it is loud.", env) == 1, "a second call would be one too many"
    assert "1 of 1 calls" in clawmem("status", env=env).out

    copy = tmp_path / "copy"
    subprocess.run(["git", "clone", "-q", vault_root, copy], check=True)
    there = {**env, "CLAWMEM_VAULT": str(copy)}
    assert clawmem("config", "trust", "--yes", env=there).code == 0
    for key, value in (("llm.preset", "claude"), ("llm.model", "command"), ("llm.daily_calls", "1")):
        assert clawmem("config", "set", key, value, env=there).code == 0
    assert learn("I live in Lisbon, by the sea.", there) == 2, "another machine has calls of its own"


def test_each_harness_is_read_by_its_own_program(
    setup: Setup, clawmem: Command, home: Path, tmp_path: Path, vault_root: Path
) -> None:
    env = {"CLAWMEM_VAULT": str(vault_root), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    asked = reader(tmp_path, vault_root)

    def keep(agent: str | None, text: str) -> None:
        given = json.dumps({"role": "user", "content": text, "session": agent})
        assert clawmem("ingest", "-", *(("--agent", agent) if agent else ()), given=given, env=env).code == 0

    assert setup("claude-code", "--learn").code == 0
    keep("codex", "I live in Lisbon, said to Codex.")
    status = clawmem("status", env=env)
    assert "nobody reads the sessions of codex, 1 message so far: `clawmem setup codex --learn`" in status.err
    program = tmp_path / "bin/codex"
    source = (tmp_path / "bin/claude").read_text().replace('"-p" not in', '"exec" not in')
    program.write_text(source.replace(str(asked), str(tmp_path / "codex.jsonl")))
    program.chmod(0o755)
    assert "nobody reads the sessions of codex: each is kept" in setup("codex").err
    added = setup("codex", "--learn")
    assert added.code == 0 and "codex answered, and reads its own sessions; others are read as before" in added.out
    keep("claude-code", "I live in Lisbon, said to Claude.")
    keep(None, "I live in Lisbon, said to nobody.")
    tried = len(asked.read_text().splitlines()), len((tmp_path / "codex.jsonl").read_text().splitlines())
    assert clawmem("heartbeat", "--only", "learn", env=env).code == 0
    read = clawmem("status", env=env)
    assert "none is unread" in read.out and "nobody reads" not in read.err and "reader    claude, codex" in read.out
    assert len(asked.read_text().splitlines()) == tried[0] + 1, "one question about two messages"
    assert len((tmp_path / "codex.jsonl").read_text().splitlines()) == tried[1] + 1
    assert setup("claude-code", "--remove").code == 0
    assert clawmem("config", "get", "llm.preset", env=env).out.strip() == "codex", "the other program reads on"
    assert setup("codex", "--remove").code == 0
    assert clawmem("config", "get", "llm.model", env=env).out.strip() == ""


def test_a_session_is_read_by_its_own_vendor_only(clawmem: Command, tmp_path: Path, vault_root: Path) -> None:
    """Whether the agent is named, or the file of a session shows it."""
    env = {"CLAWMEM_VAULT": str(vault_root), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    (tmp_path / "bin").mkdir()
    asked = reader(tmp_path, vault_root)
    (tmp_path / "talk.txt").write_text("I live in Porto.\n")
    clawmem("ingest", str(tmp_path / "talk.txt"), "--agent", "codex", env=env)
    meta = {"type": "session_meta", "payload": {"id": "c1", "cwd": "/x"}, "timestamp": "2026-03-02T10:00:00Z"}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "I live in Lisbon."}]}
    line = {"type": "response_item", "payload": said, "timestamp": "2026-03-02T10:00:01Z"}
    (tmp_path / "rollout.jsonl").write_text(f"{json.dumps(meta)}\n{json.dumps(line)}\n")
    assert clawmem("ingest", str(tmp_path / "rollout.jsonl"), "--json", env=env).data["format"] == "codex"
    clawmem("config", "set", "llm.preset", "claude", env=env)
    assert clawmem("heartbeat", "--only", "learn", env=env).code == 0
    assert not asked.exists(), "what was said to Codex is not shown to Claude Code"
    assert "nobody reads the sessions of codex, 2 messages" in clawmem("status", env=env).err
    pending = clawmem("learn", "pending", env=env).out + clawmem("learn", "pending", "--agent", "codex", env=env).out
    assert "Lisbon" in pending and "Porto" in pending
    assert clawmem("learn", "pending", "--agent", "claude-code", env=env).out.strip() == ""


BAD = {
    "killed": "os.path.exists({pid!r}) and sys.exit(1); open({pid!r}, 'w').write(str(os.getpid())); time.sleep(600)",
    "unauthorised": "sys.exit('Invalid API key. Please run /login')",
    "babbling": "print('I cannot read this.')",
}


@pytest.mark.parametrize("fault", BAD)
def test_a_reader_that_fails_holds_nobody_up_and_loses_nothing(
    fault: str, clawmem: Command, tmp_path: Path, vault_root: Path
) -> None:
    env = {"CLAWMEM_VAULT": str(vault_root), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    (tmp_path / "bin").mkdir()
    pid, program = tmp_path / "pid", tmp_path / "bin/claude"
    program.write_text(f"#!{sys.executable}\nimport os, sys, time\n{BAD[fault].format(pid=str(pid))}\n")
    program.chmod(0o755)
    for key, value in (("llm.preset", "claude"), ("llm.model", "command")):
        assert clawmem("config", "set", key, value, env=env).code == 0

    def end(session: str, text: str) -> None:
        line = {"type": "user", "uuid": session, "sessionId": session, "timestamp": "2026-03-02T10:00:00Z",
                "message": {"role": "user", "content": text}}  # fmt: skip
        (tmp_path / f"{session}.jsonl").write_text(json.dumps(line) + "\n")
        call = {"session_id": session, "cwd": str(tmp_path), "transcript_path": str(tmp_path / f"{session}.jsonl")}
        result = clawmem("hook", "SessionEnd", "--harness", "claude-code", given=json.dumps(call), env=env)
        assert (result.code, result.err) == (0, "")

    def reading() -> dict[str, str]:
        marks: dict[str, dict[str, str]] = {
            mark["event"]: mark for mark in clawmem("status", "--json", env=env).data["hooks"]
        }
        return marks.get("reading", {"outcome": ""})

    def unread() -> int:
        return int(clawmem("status", "--json", env=env).data["learning"]["reading"]["unread"])

    # Two sessions end at once; the hook of each has returned before the program answers.
    end("s1", "I live in Lisbon, by the sea.")
    end("s2", "The weather is fine.")
    if fault == "killed":
        assert wait_until(lambda: pid.exists() and pid.read_text().isdigit())
        assert reading()["outcome"] == "", "both hooks ended while the program still reads"
        assert wait_until(lambda: unread() == 2)
        os.kill(int(pid.read_text()), signal.SIGKILL)
    assert wait_until(lambda: reading()["outcome"] in ("failed", "done"))
    assert wait_until(lambda: unread() == 2), "the messages wait"
    assert clawmem("list", env=env).out.strip() == ""

    # The reader of the second hook may still be at work, so it may be the one that reads with the mended program.
    reader(tmp_path, vault_root)
    assert clawmem("heartbeat", "--only", "learn", env=env).code == 0
    assert wait_until(lambda: unread() == 0)
    assert "The user lives in Lisbon." in clawmem("list", env=env).out


ODD = 'it\'s 100% "mine" & $HOME `x` \\%'


@pytest.fixture
def odd(tmp_path: Path, environment: dict[str, str]) -> Vault:
    """A vault at a path that cron and the shell would each misread."""
    return create_vault(tmp_path / ODD / "vault", environment, NOW)


def _as_cron_does(line: str, home: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["/usr/bin/env", "-i", f"HOME={home}", "PATH=/usr/bin:/bin", "/bin/sh", "-c", through_cron(line)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        start_new_session=True,
        timeout=120,
        check=False,
    )


def test_the_line_runs_as_cron_runs_it_from_any_path(odd: Vault, clawmem: Command, environment: dict[str, str]) -> None:
    assert clawmem("note", "We decided to use Postgres for billing.", "--vault", str(odd.root)).code == 0
    shown = clawmem("cron", "show", "--json", "--vault", str(odd.root), env={"PATH": environment["PATH"]})
    (entry,) = shown.data["entries"]
    assert entry["installed"] is False
    line = entry["text"]
    first = _as_cron_does(line, environment["HOME"])
    log = (odd.state / LOG).read_text()
    assert (first.returncode, first.stdout, first.stderr) == (0, b"", b""), log
    assert " commits; `clawmem log" in log
    assert all(row[:2] == "20" and row[19] == "Z" for row in log.splitlines()), log
    head = odd.head()
    assert _as_cron_does(line, environment["HOME"]).returncode == 0
    assert odd.head() == head
    assert (odd.state / LOG).read_text() == log


def test_a_run_that_overlaps_waits_and_leaves_a_line_in_the_log(
    odd: Vault, clawmem: Command, environment: dict[str, str]
) -> None:
    where = ("--vault", str(odd.root))
    assert clawmem("config", "set", "lock.wait_seconds", "0.2", *where).code == 0
    line = clawmem("cron", "show", "--json", *where).data["entries"][0]["text"]
    descriptor = os.open(odd.state / LOCK, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        assert _as_cron_does(line, environment["HOME"]).returncode == 11
    finally:
        os.close(descriptor)
    log = (odd.state / LOG).read_text()
    assert "the heartbeat did not run" in log
    assert "gave up after 0.2 seconds" in log
    assert _as_cron_does(line, environment["HOME"]).returncode == 0


def test_a_vault_that_is_gone_is_no_secret_to_cron(vault: Vault, clawmem: Command, environment: dict[str, str]) -> None:
    line = clawmem("cron", "show", "--json").data["entries"][0]["text"]
    vault.root.rename(vault.root.with_name("elsewhere"))
    assert _as_cron_does(line, environment["HOME"]).returncode != 0


def test_install_show_and_remove(clawmem: Command, environment: dict[str, str], tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "crontab"
    tool.parent.mkdir()
    tool.write_text(CRONTAB)
    tool.chmod(0o755)
    around = {"PATH": f"{tool.parent}:{environment['PATH']}"}
    dry = clawmem("cron", "install", "--every", "15m", "--dry-run", env=around)
    first, entry = dry.out.split("\n", 1)
    assert first == "would be installed in crontab: the heartbeat runs every 15 minutes"
    assert entry.startswith("*/15 * * * * cd / && ")
    assert not (Path(environment["HOME"]) / "table").exists()
    assert clawmem("cron", "install", "--every", "15m", env=around).out == dry.out.replace("would be ", "")
    assert clawmem("cron", "install", "--every", "15m", env=around).out.startswith("crontab has it already\n")
    assert clawmem("cron", "show", env=around).out == entry
    assert clawmem("cron", "remove", env=around).out.startswith("removed from crontab: */15")
    assert clawmem("cron", "remove", env=around).out == "nothing is installed, so nothing was removed\n"


def test_what_cannot_be_is_refused(clawmem: Command) -> None:
    assert clawmem("cron", "install", "--every", "7m").code == 2
    assert clawmem("cron", "install", "--every", "30m", "--at", "03:30").code == 2
    missing = clawmem("cron", "install", env={"PATH": "/nowhere"})
    assert missing.code == 1
    assert "*/15 * * * * cd / && " in missing.err
