"""`clawmem setup` and `clawmem cron install|show|remove`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from clawmem.errors import PERSON_RUNS, ClawmemError, InvalidInput, ModelFailed, NotPermitted, NoVault
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import DRY_RUN, Parameter
from clawmem.model.harness import HANDED_IN
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import check_choice
from clawmem.model.records.access import Person
from clawmem.model.records.layout import ACCESS
from clawmem.setup import cron as beside
from clawmem.setup.cron import (
    CRONTAB,
    USUAL_INTERVAL,
    Schedule,
    ScheduleEntry,
    daily_schedule,
    find_crontab_entry,
    has_crontab,
    install_crontab,
    interval_schedule,
    remove_crontab,
)
from clawmem.setup.harnesses import HARNESSES, SHELL, own_command, wiring

if TYPE_CHECKING:
    from clawmem.setup.wire import WireResult

_NOBODY = "nobody reads {} is kept and searched, and only orders and corrections become facts; {}"
_FOR_ALL = ("llm", "ollama")  # the programs that read where no harness is
_AT_THE_END = "the heartbeat runs when a session ends, if the last one is older than 15 minutes"


def setup(
    call: Call,
    harness: Annotated[str | None, Parameter("{choices}.", metavar="[HARNESS]", choices=HARNESSES)],
    learn: Annotated[
        bool,
        Parameter(
            "Let the harness's own program read what is said; without it, setup asks on a terminal.", ("--learn",)
        ),
    ],
    schedule: Annotated[
        bool,
        Parameter("Schedule the heartbeat every 15 minutes; without it, setup asks on a terminal.", ("--schedule",)),
    ],
    remove: Annotated[bool, Parameter("Take everything out again.", ("--remove",))],
    listed: Annotated[bool, Parameter("List the harnesses, and what is set up.", ("--list",))],
    dry_run: Annotated[bool, DRY_RUN._replace(help="Show what would be changed; change nothing.")],
) -> Answer:
    """The harness gets an MCP server, hooks, a skill and slash commands, and runs the server's tools without asking;
    other entries of its files stay. A person who has no vault gets one in ~/.clawmem. --remove restores every file byte
    for byte, unless somebody changed it since: then exactly these entries go."""
    from clawmem.learning.by_model.read import restore_reader
    from clawmem.setup.wire import WireResult, receipt_of, unwire, wire

    if listed:
        return _list(call)
    if harness is None:
        raise InvalidInput("The harness is missing.", f"Name one of {', '.join(HARNESSES)}, or use --list.")
    check_choice(harness, "harness", HARNESSES)
    runtime = call.runtime
    receipt = receipt_of(harness, runtime.home(), runtime.environment)
    if remove:
        if not receipt.exists:
            return _answer(harness, WireResult(()), f"{harness} is not set up; nothing was removed")
        wanted = wiring(harness, runtime.home(), runtime.environment, ("clawmem",), None, receipt.viewer)
        former, scheduled = receipt.settings, receipt.scheduled
        result = unwire(wanted, receipt, runtime.environment, dry_run)
        if former and not dry_run:
            restore_reader(runtime.vault(), harness, former)
        if scheduled:
            remove_crontab(runtime.vault(), runtime.environment, dry_run)
        return _answer(harness, result, f"{harness}: nothing to remove", dry_run)
    made, planned = _vault_made(call, dry_run)
    _check_agent(call, harness, schedule)
    receipt.viewer = _viewer(call, harness, planned) or receipt.viewer
    wanted = _wiring(call, harness, planned, receipt.viewer)
    result = wire(wanted, receipt, runtime.environment, stamp(runtime.now()), dry_run)
    try:
        reader = _Reader() if dry_run else _reader(call, harness, receipt, learn)
    except ClawmemError as problem:
        for line in (*made, *(f"{file.path}: {file.did}" for file in result.files)):
            problem.add_note(line)
        raise
    # The schedule names the folder of the reader's program, so it comes after it.
    lines, notices = ((), ()) if dry_run else _upkeep(call, harness, receipt, schedule)
    notices = (*notices, *(() if planned else _limits(call, harness, receipt.viewer)))
    reader = reader._replace(lines=(*made, *reader.lines, *lines), notices=(*reader.notices, *notices))
    return _answer(harness, result, f"{harness} is set up already", dry_run, wanted.granted, reader)


def _viewer(call: Call, harness: str, planned: Path | None) -> str | None:
    """Return for whom alone the harness is to read. Raise InvalidInput for a shell, whose commands name nobody,
    and for a harness that hands in what is said by `ingest`, which stores it for everybody."""
    viewer = None if planned else call.runtime.vault().viewer
    name = next(iter(viewer.names), None) if viewer else None
    if name and harness == SHELL:
        raise InvalidInput("A shell reads for whom its variables say.", f"Write `export CLAWMEM_VIEWER={name}` there.")
    if name and harness in HANDED_IN:
        hint = f"Run `clawmem setup {harness} --vault FOLDER` with a memory of {name}'s own, or wire another harness."
        raise InvalidInput(f"{harness} hands in what is said, which would be for everybody and not for {name}.", hint)
    return name


def _limits(call: Call, harness: str, viewer: str | None) -> tuple[str, ...]:
    """Return a notice where the policy of a shared memory does not let the harness's agent see everything."""
    from clawmem.index.tables.rights import read_access

    if viewer:
        return (f"the tools and hooks of {harness} answer {viewer} alone, and store what is said there for {viewer}",)
    rules, moment = read_access(call.runtime.vault()), stamp(call.runtime.now())
    person = Person(id=harness) if rules is None else rules.policy.people.get(harness, Person(id=harness))
    if rules is None or rules.policy.sees_everything(rules.grants, person, moment):
        return ()
    return (
        f"{ACCESS} does not let {harness} see everything, so it can neither remember nor learn here: give it a role in"
        " `people` that may see `all`",
    )


def _check_agent(call: Call, harness: str, schedule: bool) -> None:
    """Raise NotPermitted if an agent names another memory for a harness than the user's default, or a schedule, which
    runs outside of its shell."""
    runtime = call.runtime
    agent = runtime.agent()
    if agent is None:
        return
    root = runtime.vault().root
    if root != runtime.default_vault_folder():
        raise NotPermitted(f"Only a person makes {root} the memory of {harness}, and {agent} is an agent.", PERSON_RUNS)
    if schedule:
        raise NotPermitted(f"Only a person schedules the heartbeat, and {agent} is an agent.", PERSON_RUNS)


def _vault_made(call: Call, dry_run: bool) -> tuple[tuple[str, ...], Path | None]:
    """Create the default vault of a person who has none and names none. Return a line that says so, and with `dry_run`
    the folder in which it would be."""
    from clawmem.vault.exchange.create import create_vault

    runtime = call.runtime
    try:
        runtime.vault()
    except NoVault:
        root = runtime.new_vault_folder(None)
        if runtime.agent() is not None or root != runtime.default_vault_folder():
            raise
        if dry_run:
            return (f"A new vault would be made in {root}.",), root
        create_vault(root, runtime.environment, runtime.now())
        return (f"A new vault is ready in {root}.",), None
    return (), None


def _upkeep(call: Call, harness: str, receipt: Any, wanted: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Schedule the heartbeat if a person wants it; return lines and notices that say when it runs."""
    runtime = call.runtime
    vault, environment = runtime.vault(), runtime.environment
    if find_crontab_entry(vault, environment) and not receipt.scheduled:
        return (), ()
    wanted = wanted or receipt.scheduled
    without = "the heartbeat runs when you call `clawmem heartbeat`" if harness == SHELL else _AT_THE_END
    if not wanted and not has_crontab(environment):
        return (), (without,)
    if not wanted and not call.answered([without], f"Run it every 15 minutes as well, by {CRONTAB}?"):
        return (), (f"{without}; `clawmem setup {harness} --schedule` runs it every 15 minutes as well",)
    entry = install_crontab(vault, environment, interval_schedule(USUAL_INTERVAL), dry_run=False)
    receipt.scheduled = True
    receipt.write(receipt.at or stamp(runtime.now()))
    return (f"the heartbeat runs every 15 minutes by {entry.by}",), ()


class _Reader(NamedTuple):
    """Who reads what is said on this machine, with the lines and notices that say so."""

    name: str | None = None
    lines: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def _reader(call: Call, harness: str, receipt: Any, learn: bool) -> _Reader:
    """Let the harness's own program read what is said, if a person wants it and it answers; else say how to."""
    from clawmem.learning.by_model.read import MORE, preset_of, try_reader
    from clawmem.llm.choice import reads_sessions_of

    vault = call.runtime.vault()
    path = call.runtime.environment.get("PATH")
    programs = [text for text in _FOR_ALL if shutil.which(text, path=path)] if harness == SHELL else []
    preset = preset_of(harness) or next(iter(programs), None)
    name = vault.settings.words("llm.model") or None
    if name and (harness == SHELL or (not learn and reads_sessions_of(vault.settings, harness))):
        return _Reader(name, (f"the model that is set reads: {name}",) if learn else ())
    if preset == "ollama":  # it reads with a model that somebody names
        says = "`clawmem config set llm.preset ollama` and `clawmem config set llm.model command/NAME` let ollama read"
        return _Reader(None, (), (_NOBODY.format("what is said: it", says),))
    if preset is None or shutil.which(preset, path=path) is None:
        if learn:
            why = "neither `llm` nor `ollama` is found" if harness == SHELL else "it has no program that reads"
            why = why if preset is None else f"the program `{preset}` is not found"
            raise ModelFailed(
                f"{harness} is wired, but nobody reads what is said: {why}.",
                f"Run `clawmem setup {harness} --learn` where `{preset}` is installed."
                if preset
                else "Set `llm.model`, or let the agent call `learn_pending` and `learn_apply`.",
            )
        by_agent = "let the agent call `learn_pending` and `learn_apply`"
        return _Reader(name, (), (_NOBODY.format("what is said: it", by_agent),))
    calls, tokens = vault.settings.whole("llm.daily_calls"), vault.settings.whole("llm.daily_tokens")
    most = f"at most {calls} calls and {tokens:,} tokens a day, with the login that you have"
    if not learn and not call.answered([f"{preset} can read what is said and store the facts: {most}."], "Let it?"):
        whose = f"the sessions of {harness}: each" if name else "what is said: it"
        by = f"`clawmem setup {harness} --learn` lets {preset} read: {most}"
        return _Reader(None, (), (_NOBODY.format(whose, by),))
    tried = try_reader(vault, call.runtime.caller(), preset)
    if tried.problem is not None:
        raise type(tried.problem)(
            f"{harness} is wired, but {preset} cannot read: {tried.problem.message}",
            f"{tried.problem.hint} Then run `clawmem setup {harness} --learn`.".strip(),
        )
    own = " its own sessions; others are read as before" if MORE in tried.former else " after each session"
    own = " in the heartbeat" if harness == SHELL else own
    receipt.settings = {**tried.former, **receipt.settings}
    receipt.write(receipt.at or stamp(call.runtime.now()))
    return _Reader(preset, (f"{preset} answered, and reads{own}: {most}",))


def _wiring(call: Call, harness: str, planned: Path | None, viewer: str | None) -> Any:
    """Return what is written into the harness's files for the vault, or for one that is `planned` in a folder."""
    runtime = call.runtime
    if planned is None:
        runtime.vault().check_writable(lasting=True)
    root = planned or runtime.vault().root
    program = own_command(runtime.environment)
    return wiring(harness, runtime.home(), runtime.environment, program, str(root), viewer)


def _answer(
    harness: str,
    result: WireResult,
    nothing: str,
    dry_run: bool = False,
    granted: tuple[str, ...] = (),
    reader: _Reader | None = None,
) -> Answer:
    would = "would be " if dry_run else ""
    lines = [f"{file.path}: {would}{file.did}" for file in result.files] or [nothing]
    if granted and result.files:
        lines.append(f"{would}allowed without a question: {', '.join(granted)}")
    lines += ["dry run; nothing was changed"] if dry_run else []
    reader = reader or _Reader()
    files = [file._asdict() for file in result.files]
    data = {"harness": harness, "files": files, "granted": list(granted), "reader": reader.name}
    return Answer(data, [*lines, *reader.lines], [*result.notices, *reader.notices])


def _list(call: Call) -> Answer:
    from clawmem.setup.wire import receipt_of

    runtime = call.runtime
    rows = []
    for harness in HARNESSES:
        wanted = wiring(harness, runtime.home(), runtime.environment, ("clawmem",), None)
        receipt = receipt_of(harness, runtime.home(), runtime.environment)
        program = shutil.which(wanted.program, path=runtime.environment.get("PATH"))
        gone = [path for path in receipt.files if not Path(path).exists()]
        state = ("incomplete" if gone else "set up") if receipt.exists else "not set up"
        rows.append({"harness": harness, "program": program, "found": bool(program) or wanted.folder.is_dir(),
                     "state": state, "since": receipt.at or None, "files": list(receipt.files)})  # fmt: skip
    table = [[row["harness"], row["state"], row["program"] or ("no program" if row["found"] else "-")] for row in rows]
    return Answer({"harnesses": rows}, Table(("harness", "state", "program"), table))  # type: ignore[arg-type]


def install(
    call: Call,
    each: Annotated[
        str | None, Parameter(f"How often: 5m to 30m, 1h to 12h, 1d (default: {USUAL_INTERVAL}).", ("--every",))
    ],
    hour: Annotated[str | None, Parameter("Once a day at HH:MM, local time.", ("--at",))],
    dry_run: Annotated[bool, _DRY_RUN],
) -> Answer:
    """Add the heartbeat of this vault to the crontab of this user; other lines stay."""
    runtime = call.runtime
    vault, environment = runtime.vault(), runtime.environment
    vault.check_writable()
    when = _schedule(each, hour)
    entry = beside.install_crontab(vault, environment, when, dry_run)
    did = "would be installed" if dry_run else "installed"
    first = f"{did} in {entry.by}: the heartbeat runs {when.words}" if entry.changed else f"{entry.by} has it already"
    return Answer(_data(call, entry), [first, entry.text])


def show(call: Call) -> Answer:
    """Show the installed schedule, or the one that would be installed."""
    vault, environment = call.runtime.vault(), call.runtime.environment
    line = beside.find_crontab_entry(vault, environment)
    wanted = beside.crontab_line(vault, environment, interval_schedule(USUAL_INTERVAL))
    entry = ScheduleEntry(CRONTAB, beside.entry_marker(vault), line or wanted, line is not None)
    notices = [] if line else ["nothing is installed; `clawmem cron install` would add this line"]
    return Answer({"entries": [_data(call, entry)]}, [entry.text], notices)


def remove(call: Call, dry_run: Annotated[bool, _DRY_RUN]) -> Answer:
    """Remove the heartbeat of this vault; other lines stay."""
    vault, environment = call.runtime.vault(), call.runtime.environment
    gone = beside.remove_crontab(vault, environment, dry_run)
    if gone is None:
        return Answer({"removed": []}, ["nothing is installed, so nothing was removed"])
    did = "would be removed from" if dry_run else "removed from"
    return Answer({"removed": [_data(call, gone)]}, [f"{did} {gone.by}: {gone.text}"])


def _schedule(each: str | None, hour: str | None) -> Schedule:
    if each and hour:
        raise InvalidInput("--every and --at cannot be combined.", "Use one of them.")
    return daily_schedule(hour) if hour else interval_schedule(each or USUAL_INTERVAL)


def _data(call: Call, entry: ScheduleEntry) -> dict[str, Any]:
    _, log, _ = beside.heartbeat_command(call.runtime.vault(), call.runtime.environment)
    return {**entry._asdict(), "log": log}


_DRY_RUN = DRY_RUN._replace(help="Show what would be done; change nothing.")
_ENTRY = {"by": {CRONTAB}, "name": str, "text": str, "installed": bool, "changed": bool, "log": str}


VERBS = {
    "setup": Command(
        setup,
        {
            "harness?": str,
            "files?": [{"path": str, "did": str}],
            "granted?": [str],
            "reader?": (str, None),
            "harnesses?": [
                {
                    "harness": str,
                    "program": (str, None),
                    "found": bool,
                    "state": {"set up", "incomplete", "not set up"},
                    "since": (str, None),
                    "files": [str],
                }
            ],
        },
        ("clawmem setup cursor", "clawmem setup cursor --remove", "clawmem setup --list"),
    ),
    "cron": {
        "install": Command(
            install,
            _ENTRY,
            ("clawmem cron install --every 30m", "clawmem cron install --at 03:30"),
            person="lets a program run on this machine at its own times",
        ),
        "show": Command(show, {"entries": [_ENTRY]}, ("clawmem cron show",), ("entries",)),
        "remove": Command(remove, {"removed": [_ENTRY]}, ("clawmem cron remove --dry-run",), ("removed",)),
    },
}
