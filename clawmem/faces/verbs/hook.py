"""`clawmem hook`."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import copy
from datetime import timedelta
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

from clawmem.errors import ClawmemError, InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.prompt_hook import SECONDS
from clawmem.model.facts.reach import Reach, canonical_project, project_name
from clawmem.model.harness import (
    COMPACT,
    DELEGATED,
    END,
    HANDED_IN,
    HARNESSES,
    PROMPT,
    READER,
    RETURNED,
    START,
    TURN,
    HookCall,
    events_of,
    printed,
    read_call,
)
from clawmem.model.language.dates import moment_of, stamp
from clawmem.model.language.text import check_choice, counted
from clawmem.model.records.caller import IN_SHELLS_ONLY, Caller, Viewer, agent_shell
from clawmem.model.safety.recalled_text import wrap_context
from clawmem.model.settings.settings import EXTRACT, JUDGE, SYNTHESIZE
from clawmem.platform.processes import LONGEST_DETACHED, TooLate, deadline, detach
from clawmem.vault.git.folder import project_of
from clawmem.vault.state.heartbeat_state import read_last_run
from clawmem.vault.state.hook_marks import (
    DONE,
    FAILED,
    LATE,
    SKIPPED,
    HookMark,
    HookSession,
    forget_session,
    left_sessions,
    read_session,
    write_mark,
    write_session,
)
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from clawmem.learning.ingest import IngestResult
    from clawmem.serving.for_hooks import HookText

_HARNESSES = (*HARNESSES, "shell")
_MOST_BYTES = 4_000_000
_INTERVAL = timedelta(minutes=15)
_READING = "reading"
_ASKED = 500  # characters of the last prompt that say what a session was about
_FORGETTING = wrap_context(
    "The user asks to forget something. After your answer, what is known by exactly these words is hidden until a"
    " person decides; what only may be meant is proposed in `clawmem review list`, and stays. So promise no more than"
    " that, and do not repeat it."
)
# Of these, most say what a memory is to do; others do not hold up a prompt.
_FORGETS = re.compile(
    r"\b(?:forget|unlearn|(?:don't|do not|never) (?:remember|memori)|memor(?:y|ies|ia)\b|the fact|what you know|"
    r"vergiss|vergesst|vergessen sie|erinnerung|ged[aä]chtnis|olvid[ae]|oublie|m[eé]moire|dimentica|esque[cç]e|vergeet|"
    r"onthoud niet|zapomnij|забудь|忘)",
    re.IGNORECASE,
)
_TRANSCRIPT, _SESSION = "transcript", "session"


def hook(
    call: Call,
    event: Annotated[str, Parameter("The event by the harness's own name, or start, prompt, turn, compact or end.")],
    harness: Annotated[str, Parameter("The harness: {choices}.", ("--harness",), default="shell", choices=_HARNESSES)],
) -> Answer:
    """It reads what the harness says on stdin and prints what the harness gives to its agent. It always exits with 0
    and ends after 2 seconds, so that it never blocks an agent; `clawmem status` shows what each hook did."""
    check_choice(harness, "harness", _HARNESSES)
    if call.runtime.environment.get(READER):
        return Answer({"event": event, "harness": harness, "outcome": DONE, "message": "a reader", "text": ""})
    began = monotonic()
    outcome, message, text = DONE, "", ""
    vault = None
    try:
        with deadline(SECONDS):
            value = _given(call)
            call.runtime = _runtime(call, harness, value)
            vault = call.runtime.vault()
            text, message = _answer(call, vault, event, harness, value)
            message = "; ".join((message, *call.runtime.notices()))
    except TooLate as problem:
        outcome, message = LATE, str(problem)
    except Exception as problem:  # noqa: BLE001 - a hook must never stop the agent
        outcome, message = FAILED, _reason(problem)
    if vault is not None:
        _mark(call, vault, harness, event, outcome, message, began)
    data = {"event": event, "harness": harness, "outcome": outcome, "message": message, "text": text}
    shown = printed(harness, event, text)
    return Answer(data, [shown] if shown else [], [message] if outcome != DONE else [])


def _given(call: Call) -> HookCall:
    source = call.stdin()
    return read_call(source.read(_MOST_BYTES)) if source is not None else HookCall()


def _runtime(call: Call, harness: str, value: HookCall) -> Any:
    """The runtime of the harness's agent in the folder that it works in."""
    here = call.runtime.at(Path(value.folder)) if value.folder else call.runtime
    return here.nearest().renewed(harness)


def _answer(call: Call, vault: Vault, event: str, harness: str, value: HookCall) -> tuple[str, str]:
    """The text for the agent, and what was done in words."""
    meaning = events_of(harness).get(event)
    if meaning is None:
        raise InvalidInput(f"{harness} has no event '{event}'.", f"Its events are {', '.join(events_of(harness))}.")
    if meaning in (COMPACT, END, RETURNED):
        return "", _hand_over(call, vault, harness, value, meaning)
    if meaning == TURN:
        known = (read_session(vault, value.session) if value.session else None) or HookSession()
        if _asks_to_forget(known.asked):  # it does not wait for the end of the session, and nothing is to be kept
            return "", "nothing to ask" if value.again else _hand_over(call, vault, harness, value, meaning)
        question = _question(call, vault, harness, value, known)
        return question, "asked what to keep" if question else "nothing to ask"
    text = _text(call, vault, meaning, harness, value)
    return text.text, f"{counted(len(text.facts), 'fact')} given" if text.text else "nothing to give"


def _text(call: Call, vault: Vault, meaning: str, harness: str, value: HookCall) -> HookText:
    from clawmem.serving.for_hooks import HookText, last_sessions, prompt_text, start_text

    caller = _caller(call, harness, value)
    known = (read_session(vault, value.session) if value.session else None) or HookSession()
    project = _project(call, vault, value)
    reach = Reach(call.runtime.workflow(), project, joined=call.runtime.joined_projects(project))
    if meaning in (START, DELEGATED):
        from clawmem.llm.presets import PRESETS
        from clawmem.work.sessions.records import ended_sessions

        # A new or shortened conversation holds nothing that was shown before.
        asked = known.asked[:_ASKED] if value.source in ("compact", "resume") else ""
        # A repository is a technical task, for which nobody's family or health is shown.
        about = f"{project_name(project)} repository {asked}".strip() if project else asked
        earlier = last_sessions(ended_sessions(vault, reach), value.session)
        reads = next((harness for preset in PRESETS.values() if preset.harness == harness), "HARNESS")
        turns_on = f"clawmem setup {reads} --learn" if meaning == START else ""
        text = start_text(vault, caller, about, reach, earlier, turns_on)
        if meaning == DELEGATED:
            return text  # the sub-agent's conversation is not its session's
        known = HookSession(asked, text.facts, compacted=value.source in ("compact", "resume"))
        _begin(call, vault, harness, caller, value, reach)
    else:
        assert meaning == PROMPT
        # A plugin has no event after which the agent goes on: it is asked about a turn with the next prompt.
        question = _question(call, vault, harness, value, known) if harness in HANDED_IN else ""
        # After a compaction the agent no longer has what was said in its session before.
        session = None if known.compacted else value.session
        if _asks_to_forget(value.prompt):  # nothing is told of what is to be forgotten
            text = HookText(_FORGETTING)
        else:
            # Outside of a repository a question is one about everything, as a query there is.
            asked_in = reach if reach.project or reach.workflow else None
            text = prompt_text(vault, caller, value.prompt, asked_in, session, known.shown)
        known = known._replace(shown=(*known.shown, *text.facts), at="" if question else known.at)
        if value.prompt:
            known = known._replace(asked=value.prompt, at=stamp(caller.now))
        text = text._replace(text="\n\n".join(filter(None, (question, text.text))))
    if value.session:
        if not _is_typed(call, harness):
            known = known._replace(transcript=value.transcript, viewers=vault.viewer.names if vault.viewer else ())
        known = known._replace(harness=harness, project=project)
        write_session(vault, value.session, known)
    return text


def _question(call: Call, vault: Vault, harness: str, value: HookCall, known: HookSession) -> str:
    """The question to an agent that has answered; one for each prompt, and none to an answer to it.

    A program that runs for a script prints the last answer: there, none is asked where the harness says so."""
    attended = call.runtime.environment.get("CLAUDE_CODE_SESSION_ATTENDED") != "0"
    if value.session is None or value.again or not (attended and known.at) or _asks_to_forget(known.asked):
        return ""
    from clawmem.index.tables.rights import is_restricted
    from clawmem.learning.turn_end import turn_question

    if is_restricted(vault):
        return ""  # this agent may not store facts
    question = turn_question(vault, _caller(call, harness, value), known.asked, known.at)
    if question:
        write_session(vault, value.session, known._replace(at=""))
    return question


def _asks_to_forget(prompt: str) -> bool:
    if _FORGETS.search(prompt) is None:
        return False
    from clawmem.learning.attribution.forgetting import asked_to_forget  # few prompts ask to forget

    return bool(asked_to_forget(prompt))


def _begin(call: Call, vault: Vault, harness: str, caller: Caller, value: HookCall, reach: Reach) -> None:
    """Register the session, in a process that nobody waits for: it is a commit."""
    if value.session is None:
        return

    def start() -> str:
        from clawmem.memory.pages.summaries import count_said
        from clawmem.work.sessions.start import start_session

        take_in_left(call, vault)
        started = start_session(vault, caller, reach.workflow, reach.project, session=value.session)
        count_said(vault)
        return f"{started.record.id} runs"

    _detached(call, vault, harness, _SESSION, start)


def _hand_over(call: Call, vault: Vault, harness: str, value: HookCall, meaning: str) -> str:
    """Let the transcript be read by a process that nobody waits for."""
    known = (read_session(vault, value.session) if value.session else None) or HookSession()
    if meaning == COMPACT and value.session:
        write_session(vault, value.session, known._replace(shown=(), compacted=True))
    if not value.transcript and not (meaning == END and harness in HANDED_IN):
        return "the harness named no transcript"
    path = value.transcript and Path(value.transcript).expanduser()
    project, caller = _project(call, vault, value), _caller(call, harness, value)
    reader = caller._replace(unattended=not _is_typed(call, harness))

    def read() -> str:
        from clawmem.faces.verbs.ingest import ingest_transcript

        try:
            read = partial(ingest_transcript, vault, path, harness, project, reader) if path else None
            taken_in = _taken_in(call, vault, harness, read) if read else "handed in after each turn"
        finally:
            if meaning == END and value.session:
                from clawmem.work.sessions.end import end_unattended

                end_unattended(vault, caller, value.session)
        if meaning == END and value.session:
            forget_session(vault, value.session)
        if meaning != TURN:
            _read_on(call, vault, harness, ended=meaning == END)
        return taken_in

    _detached(call, vault, harness, _TRANSCRIPT, read)
    return "transcript handed over"


def _is_typed(call: Call, harness: str) -> bool:
    """Return whether an agent runs the hook in its shell: there, Claude Code gives another name than to its hooks, and
    others set variables that their hooks do not have. So does each agent for the hook of another harness."""
    environment = call.runtime.environment
    shell = agent_shell(environment)
    if shell is not None and shell[0] != "AI_AGENT" and shell[1] != harness:
        return True
    named = environment.get("AI_AGENT", "_harness")
    return not named.endswith("_harness") or not IN_SHELLS_ONLY.isdisjoint(environment)


def take_in_left(call: Call, vault: Vault) -> None:
    """Take in the transcripts of sessions that have been silent for ten minutes, such as one that was killed, once for
    each state of a transcript. A mark says how it ended; one that fails stops no other."""
    from clawmem.faces.verbs.ingest import ingest_transcript

    for session, known in left_sessions(vault, call.runtime.now()):
        caller = call.runtime.renewed(known.harness).caller()._replace(session=session, unattended=True)
        path, its_vault = Path(known.transcript or "").expanduser(), copy(vault)
        if known.viewers or vault.viewer:  # who takes it in may read for somebody else
            its_vault.viewer = Viewer(known.viewers, caller.agent, partial(stamp, caller.now), caller.shell)
        read = partial(ingest_transcript, its_vault, path, known.harness, known.project, caller)
        _marked(call, vault, known.harness, _TRANSCRIPT, partial(_taken_in, call, vault, known.harness, read))


def _read_on(call: Call, vault: Vault, harness: str, ended: bool) -> None:
    """Let the model of this machine read what waits, in a process of its own. At the end of a session all steps of the
    heartbeat run if the last one is older than the interval of a schedule."""
    last = read_last_run(vault) if ended else None
    due = ended and (last is None or call.runtime.now() - moment_of(last.ended) > _INTERVAL)
    if not due and not vault.settings.words("llm.model"):
        return

    def work() -> str:
        from clawmem.heartbeat.loop import run_heartbeat

        # It is the machine's work, within the machine's limits, and not the agent's.
        tasks = (EXTRACT, JUDGE, SYNTHESIZE)
        models = [model and model._replace(purse=None) for model in map(call.runtime.model, tasks)]
        caller = call.runtime.caller()._replace(agent=None, session=None)
        only = () if due else ("learn",)
        # The heartbeat of another session may be past reading: what this session said is read after it.
        result = run_heartbeat(vault, caller, False, models[0], None, only, models[1], models[2], LONGEST_DETACHED / 2)
        if result.failed:
            raise result.failed[0][1]
        return f"{counted(len(result.commits), 'commit')}"

    _detached(call, vault, harness, _READING, work)


def _taken_in(call: Call, vault: Vault, harness: str, read: Callable[[], IngestResult]) -> str:
    began, result = monotonic(), read()
    secret = sum("credential" in line.reason for line in result.skipped)
    if secret:
        kept = "`clawmem config set secrets.action redact` keeps the rest of such a message"
        message = f"{counted(secret, 'message')} with a credential not kept; {kept}"
        _mark(call, vault, harness, SKIPPED, DONE, message, began)
    return f"{counted(result.added, 'event')} added, {counted(len(result.skipped), 'line')} skipped"


def _detached(call: Call, vault: Vault, harness: str, what: str, work: Callable[[], str]) -> None:
    """Do some work in a process that nobody waits for; its mark says how it ended."""
    detach(lambda: _marked(call, vault, harness, what, work))


def _marked(call: Call, vault: Vault, harness: str, what: str, work: Callable[[], str]) -> None:
    began = monotonic()
    try:
        outcome, message = DONE, work()
    except TooLate as problem:
        outcome, message = LATE, str(problem)
    except Exception as problem:  # noqa: BLE001 - nobody is there but the mark
        outcome, message = FAILED, _reason(problem)
    _mark(call, vault, harness, what, outcome, message, began)


def _project(call: Call, vault: Vault, value: HookCall) -> str | None:
    named = call.runtime.environment.get("CLAWMEM_PROJECT")
    folder = Path(value.folder) if value.folder else call.runtime.working_folder
    return canonical_project(named) if named else project_of(folder, vault.root, call.runtime.home())


def _caller(call: Call, harness: str, value: HookCall) -> Caller:
    return call.runtime.renewed(harness).caller()._replace(session=value.session)


def _reason(problem: Exception) -> str:
    return problem.message if isinstance(problem, ClawmemError) else f"{type(problem).__name__}: {problem}"


def _mark(call: Call, vault: Vault, harness: str, event: str, outcome: str, message: str, began: float) -> None:
    took = round((monotonic() - began) * 1000)
    try:
        write_mark(vault, HookMark(harness, event, stamp(call.runtime.now()), outcome, message, took))
    except (OSError, ClawmemError):
        return  # a vault that cannot be written still serves


VERB = Command(
    hook,
    {"event": str, "harness": str, "outcome": {DONE, FAILED, LATE}, "message": str, "text": str},
    ('echo \'{"prompt": "where does Jane live?"}\' | clawmem hook UserPromptSubmit --harness claude-code',),
)
