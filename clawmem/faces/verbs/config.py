"""`clawmem config get|set|list|trust|extension` and `clawmem llm test`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from clawmem.errors import DONE, InvalidInput, Refused
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import MODEL, Parameter
from clawmem.faces.parts.words import data_of
from clawmem.memory.health.configure import (
    FoundExtension,
    SettingChange,
    SettingsProposal,
    SettingState,
    accept_extension,
    accept_settings,
    all_settings,
    change_setting,
    change_user_setting,
    find_extension,
    format_value,
    found_extensions,
    proposed_settings,
    setting,
    shown_value,
    withdraw_acceptance,
    withdraw_extension,
)
from clawmem.model.records.event import cost_line
from clawmem.model.settings.local import suggestion_message
from clawmem.model.settings.settings import EXTRACT, LOCAL, TASKS
from clawmem.model.settings.values import Value

if TYPE_CHECKING:
    from clawmem.learning.by_model.read import TrialResult


_ACCEPT_HINT = "Run it again with --yes to accept these values on this machine."
_LONGEST = 200


def get(call: Call, key: Annotated[str, _KEY]) -> Answer:
    """Print the effective value of a setting. A note names its origin: default, vault, local (this machine, this vault)
    or user (this machine, all vaults). The note also shows the value that the vault suggests."""
    found = setting(call.runtime.vault(), key)
    talk = (f"from {_origin(found)}",) if found.setting.key in LOCAL else ()
    return Answer(_data(found), [format_value(found.value)], talk=talk)


def set_(
    call: Call,
    key: Annotated[str, _KEY],
    value: Annotated[str, Parameter("The new value.", metavar="VALUE", completes="value of a setting")],
    user: Annotated[bool, Parameter("For all vaults of this user on this machine.", ("--user",))],
    shared: Annotated[
        bool, Parameter("In clawmem.yaml; a setting that contacts other systems is a suggestion there.", ("--shared",))
    ],
) -> Answer:
    """Change a setting. A vault setting is changed in clawmem.yaml, in one commit; comments and order are preserved. A
    setting that contacts other systems (llm.*, semantic.*, sync.remote, sync.branch) is stored on this machine, in
    .git/clawmem/local.yaml; only a person can change it."""
    if user and shared:
        raise InvalidInput("--user and --shared cannot be combined.", "Use one of them.")
    runtime = call.runtime
    if user:
        change = change_user_setting(runtime.environment, runtime.caller(), key, value)
    else:
        change = change_setting(runtime.vault(), runtime.caller(), key, value, shared)
    also = [{"key": key, "old": old, "new": new} for key, old, new in change.also]
    names = {"file": "kept", "reached": "leaves"}
    data = {names.get(name, name): value for name, value in data_of(change, also=also).items()}
    return Answer(data, _lines(change), change.notices)


def list_(call: Call) -> Answer:
    """List every setting: its effective value, its origin, the value that the vault suggests, and its meaning."""
    found = all_settings(call.runtime.vault())
    rows = [(state.setting.key, format_value(state.value), _origin(state), state.setting.about) for state in found]
    return Answer({"settings": [_data(state) for state in found]}, Table(("key", "value", "from", "about"), rows))


def trust(
    call: Call,
    yes: Annotated[bool, Parameter("Do not ask.", ("--yes",))],
    remove: Annotated[bool, Parameter("Withdraw the acceptance of this vault.", ("--remove",))],
) -> Answer:
    """Accept the suggestions of the vault on this machine. Models, addresses, key variables and remotes in a vault have
    no effect until a person accepts them. The values are copied to .git/clawmem/local.yaml; later suggestions need a
    new acceptance. After acceptance, sync also uses the vault's git settings that run a program or redirect a
    connection; approvals and orders in its earlier commits need `review trust`. Agents cannot run this command."""
    vault = call.runtime.vault()
    if remove:
        removed = withdraw_acceptance(vault)
        text = "is no longer accepted: .git/clawmem/local.yaml has no effect" if removed else "was not accepted"
        return Answer({"accepted": False, "removed": removed}, [f"this vault {text}"])
    found = proposed_settings(vault)
    if found.accepted and not found.differences:
        data = {"accepted": True, "differences": [], "git": [], "kept": None}
        return Answer(data, ["this vault is accepted; all of its suggestions are in effect here"])
    lines = _acceptance_lines(found)
    if vault.is_foreign:
        lines.append("Its commits stay another's: `clawmem review trust` accepts the approvals and orders in them.")
    if not yes and not call.confirmed(lines, "Accept this on this machine?"):
        raise Refused(" ".join([*lines, "Nothing was accepted."]), _ACCEPT_HINT)
    kept = accept_settings(vault, found)
    data = {
        "accepted": True,
        "differences": [
            {"key": difference.key, "suggested": difference.suggested, "in_force": difference.in_force}
            for difference in found.differences
        ],
        "git": list(found.git),
        "kept": kept,
    }
    return Answer(data, [*(lines if yes else []), f"accepted on this machine, {kept}"])


def extension(
    call: Call,
    name: Annotated[str | None, Parameter("The extension to accept; without it, all are listed.", metavar="NAME")],
    yes: Annotated[bool, Parameter("Do not ask.", ("--yes",))],
    remove: Annotated[bool, Parameter("Withdraw the acceptance.", ("--remove",))],
) -> Answer:
    """List the extensions that other programs installed, or accept one on this machine. clawmem imports none that a
    person did not accept: an accepted one runs as you, with all that you may read and write."""
    environment = call.runtime.environment
    if name is None:
        found = found_extensions()
        rows = [
            (extension.name, _by(extension), "accepted" if extension.accepted else "not accepted")
            for extension in found
        ]
        return Answer(
            {"extensions": [extension._asdict() for extension in found]}, Table(("name", "from", "state"), rows)
        )
    if remove:
        removed = withdraw_extension(environment, name)
        text = f"{name} is no longer accepted" if removed else f"{name} was not accepted"
        return Answer({"accepted": False, "removed": removed}, [text])
    candidate = find_extension(name)
    origin = f"{candidate.name} is {candidate.reference}, from {_by(candidate)}."
    line = f"{origin} It runs as you, in every command that it adds to."
    if not yes and not call.confirmed([line], "Accept it on this machine?"):
        raise Refused(f"{line} Nothing was accepted.", "Run it again with --yes to accept it on this machine.")
    kept = accept_extension(environment, candidate)
    return Answer({"accepted": True, "kept": kept}, [f"{name} is accepted on this machine, {kept}"])


def _by(extension: FoundExtension) -> str:
    return f"{extension.distribution} {extension.version}"


def _shortened(value: Value) -> str:
    text = format_value(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _acceptance_lines(found: SettingsProposal) -> list[str]:
    lines = [] if found.accepted else ["This vault is not accepted on this machine yet."]
    lines += [
        f"{other.key}: '{_shortened(other.suggested)}' is suggested, '{_shortened(other.in_force)}' is in force."
        for other in found.differences
    ]
    lines += [f"git's {text} would be used." for text in found.git]
    return [*lines, *(f"Then: {sentence}" for sentence in found.reached)]


def _lines(change: SettingChange) -> list[str]:
    if change.file is not None:
        text = (
            f"is already {shown_value(change.new)}"
            if change.old == change.new
            else f"{shown_value(change.old)} -> {shown_value(change.new)}"
        )
        also = [f"{key}: {shown_value(old)} -> {shown_value(new)}" for key, old, new in change.also]
        items = [*change.reached, *([change.missing] if change.missing else [])]
        return [f"{change.key}: {text}", *also, f"stored on this machine, {change.file}", *items]
    if change.commit is None:
        return [f"{change.key} is already {shown_value(change.new)}; no commit was made"]
    lines = [f"{change.key}: {shown_value(change.old)} -> {shown_value(change.new)}"]
    if change.suggested:
        lines.append("suggested: it takes effect on a machine after a person accepts it with `clawmem config trust`")
    return lines


def _origin(found: SettingState) -> str:
    aside = "" if found.suggested is None else f" (suggested: {_shortened(found.suggested)})"
    return f"{found.origin}{aside}"


def _data(found: SettingState) -> dict[str, object]:
    known = found.setting
    suggested = {} if found.suggested is None else {"suggested": found.suggested}
    record = {"key": known.key, "value": found.value, "default": known.default, "about": known.about}
    return {**record, "from": found.origin, **suggested}


_KEY = Parameter("A key such as defaults.limit.", metavar="KEY", completes="setting")
_SETTING = {
    "key": str,
    "value": object,
    "default": object,
    "about": str,
    "from": str,
    "suggested?": object,
}


_MILLION = 1_000_000


def test(
    call: Call,
    task: Annotated[
        str, Parameter("The task whose model is tried: {choices}.", ("--task",), default=EXTRACT, choices=TASKS)
    ],
    model: Annotated[str | None, MODEL],
) -> Answer:
    """Ask the model one short question, and show whether it answers, at which price, and with JSON as asked. No event
    and no fact is sent. The cost counts towards llm.daily_cents. Exit code 13: a limit was reached; 14: the model
    cannot be used."""
    if task not in TASKS:
        raise InvalidInput(f"There is no task '{task}'.", f"The tasks are {', '.join(TASKS)}.")
    from clawmem.learning.by_model.read import try_model  # only for this verb

    vault = call.runtime.vault()
    chosen = call.runtime.model(task, model)
    if chosen is None:
        hints = [*suggestion_message(vault.settings, "llm"), "Name one with `clawmem config set llm.model NAME`."]
        raise Refused("No model is set: rules read the events.", " ".join(hints))
    result = try_model(vault, call.runtime.caller(), chosen)
    notices = [
        *result.notices,
        *([f"{result.problem.message} {result.problem.hint}".strip()] if result.problem else []),
    ]
    data = {
        "model": result.model,
        "task": task,
        "reachable": result.reachable,
        "json": result.json,
        "prices": result.prices and {key: value * _MILLION for key, value in result.prices._asdict().items()},
        "run": result.run,
        "commit": result.commit,
    }
    return Answer(data, _trial_lines(result), notices, result.problem.exit_code if result.problem else DONE)


def _trial_lines(result: TrialResult) -> Iterator[str]:
    took = f" in {result.run['milliseconds'] / 1000:.1f} seconds" if result.run and result.reachable else ""
    yield f"model      {result.model}"
    yield f"reachable  {'yes' if result.reachable else 'no'}{took}"
    if result.prices is None:
        yield "price      not known; calls and tokens of a day are limited (llm.daily_calls, llm.daily_tokens)"
    elif not any(result.prices):
        yield "price      free"
    else:
        prompt, answer = (f"{price * _MILLION:.4g}" for price in result.prices)
        yield f"price      {prompt} cents for a million tokens of prompts, {answer} of answers"
    yield f"json       {'yes' if result.json else 'no' if result.reachable else 'not tried'}"
    if result.run:
        yield cost_line(result.run)


VERBS = {
    "config": {
        "get": Command(get, _SETTING, ("clawmem config get defaults.limit",)),
        "set": Command(
            set_,
            {
                "key": str,
                "old": object,
                "new": object,
                "commit": (str, None),
                "kept": (str, None),
                "suggested": bool,
                "also": [{"key": str, "old": object, "new": object}],
                "leaves": [str],
                "missing": (str, None),
            },
            ("clawmem config set defaults.limit 20",),
        ),
        "list": Command(list_, {"settings": [_SETTING]}, ("clawmem config list",), ("settings",)),
        "trust": Command(
            trust,
            (
                {
                    "accepted": bool,
                    "differences": [{"key": str, "suggested": object, "in_force": object}],
                    "git": [str],
                    "kept": (str, None),
                },
                {"accepted": bool, "removed": bool},
            ),
            ("clawmem config trust --yes", "clawmem config trust --remove"),
            person="decides what a vault may reach",
        ),
        "extension": Command(
            extension,
            (
                {"extensions": [FoundExtension]},
                {"accepted": bool, "kept": str},
                {"accepted": bool, "removed": bool},
            ),
            ("clawmem config extension", "clawmem config extension weather --yes"),
            person=lambda record: "decides which programs run as you" if record["name"] else "",
        ),
    },
    "llm": {
        "test": Command(
            test,
            {
                "model": str,
                "task": set(TASKS),
                "reachable": bool,
                "json": bool,
                "prices": ("clawmem.llm.budget:Prices", None),
                "run": ("run", None),
                "commit": (str, None),
            },
            ("clawmem llm test", "clawmem llm test --model command --task judge"),
        ),
    },
}
