"""The settings of a vault: what `clawmem.yaml` may hold, what each key means, and what it is by default."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError, InvalidInput, NotFound, Refused
from clawmem.model.records.entity import check_agent
from clawmem.model.settings.values import Setting, Value, checked, wrong

FILE = "clawmem.yaml"
FORMAT = 1

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

SETTINGS = (
    Setting("format", "int", FORMAT, "the layout of this vault; clawmem raises it, people leave it alone", 1, FORMAT),
    Setting("vault.name", "text", "memory", "what this memory is called"),
    Setting("defaults.entity", "entity", "areas/general", "where a fact goes when no entity is named"),
    Setting("defaults.limit", "int", 10, "how many facts recall gives", 1, 1000),
    Setting("context.budget", "int", 4000, "how many tokens context may fill", 100, 1_000_000),
    Setting("lock.wait_seconds", "float", 10.0, "how long to wait for another writer, in seconds", 0, 3600),
    Setting(
        "secrets.action",
        "choice",
        "refuse",
        "what to do with a text that holds a credential",
        choices=("refuse", "redact"),
    ),
    Setting("index.keyword", "choice", "fts5", "the engine behind keyword search", choices=("fts5", "whoosh")),
    Setting(
        "semantic.model",
        "text",
        "local",
        "what finds by meaning: local (the model of the extra `semantic`, where it is installed), none, or an embedding"
        " model as litellm names it",
        offline=("local", "none"),
    ),
    Setting("semantic.api_base", "optional", "", "where that model is served; empty: where its provider serves it"),
    Setting(
        "semantic.api_key_env", "variable", "", "the environment variable that holds its key, never the key itself"
    ),
    Setting("semantic.timeout_seconds", "float", 10.0, "how long to wait for one call of it, in seconds", 0.1, 3600),
    Setting(
        "semantic.max_seconds", "float", 60.0, "how long one heartbeat may embed, in seconds; the rest waits", 0, 86_400
    ),
    Setting("semantic.budget_cents", "float", 12.0, "the most one heartbeat's embedding may cost, in cents", 0, 1e6),
    Setting("semantic.daily_cents", "float", 100.0, "the most one day's (UTC) embedding may cost, in cents", 0, 1e6),
    Setting("decay.archive_days", "int", 90, "days without access before a fact may be archived", 1, 36_500),
    Setting("decay.archive_score", "float", 0.2, "the score under which such a fact is archived", 0, 1),
    Setting("heartbeat.mentions_for_entity", "int", 3, "mentions that make a name an entity of its own", 1, 1000),
    Setting(
        "heartbeat.max_facts_per_event",
        "int",
        8,
        "the most facts learned from one event; up to four times as many from a long one",
        1,
        100,
    ),
    Setting("promotion.max_facts", "int", 8, "the most facts promoted for one day", 0, 100),
    Setting("promotion.score", "float", 0.6, "the score from which a fact is worth thirty days", 0, 1),
    Setting(
        "promotion.margin", "float", 0.03, "how far under that score a person is asked whether it is promoted", 0, 1
    ),
    Setting("promotion.max_proposals", "int", 3, "the most promotions proposed to a person for one day", 0, 100),
    Setting("promotion.hour", "int", 3, "the hour, UTC, from which the heartbeat promotes the day before", 0, 23),
    Setting("memory.max_tokens", "int", 1500, "the most tokens of the generated part of MEMORY.md", 100, 100_000),
    Setting("tacit.repeats", "int", 3, "corrections or wishes of one kind that make a pattern", 2, 100),
    Setting(
        "gate.conflict_confidence",
        "float",
        0.9,
        "a fact surer than this is not replaced by a less sure one without review",
        0,
        1,
    ),
    Setting("summary.max_facts", "int", 40, "the most facts shown in a summary", 1, 1000),
    Setting(
        "summary.weekly_day",
        "choice",
        "monday",
        "the day of the week on which summaries are made anew in full",
        choices=WEEKDAYS,
    ),
    Setting("summary.weekly_hour", "int", 4, "the hour, UTC, of that day", 0, 23),
    Setting("history.limit", "int", 20, "how many entries log shows", 1, 100_000),
    Setting("llm.model", "optional", "", "the model that reads events, as litellm names it; empty: rules read them"),
    Setting("llm.api_base", "optional", "", "where the model is served; empty: where its provider serves it"),
    Setting("llm.api_key_env", "variable", "", "the environment variable that holds the key, never the key itself"),
    Setting("llm.timeout_seconds", "float", 10.0, "how long to wait for one answer, in seconds", 0.1, 3600),
    Setting(
        "llm.output",
        "choice",
        "auto",
        "how JSON is asked for: by schema where the model is known to take one, else in words (auto), or always so",
        choices=("auto", "schema", "json", "plain"),
    ),
    Setting(
        "llm.fallback",
        "choice",
        "none",
        "who reads when the model cannot be used: nobody, the events wait, or the rules",
        choices=("none", "rules"),
    ),
    Setting("llm.max_retries", "int", 2, "how often a model may answer again after an answer that will not do", 0, 10),
    Setting("llm.budget_cents", "float", 12.0, "the most one run may cost, in cents", 0, 1_000_000),
    Setting("llm.daily_cents", "float", 100.0, "the most one day (UTC) may cost, in cents", 0, 1_000_000),
    Setting("llm.max_ms", "int", 12_000, "how long one run may wait for the model, in milliseconds", 0, 86_400_000),
    Setting("llm.max_facts", "int", 8, "the most facts a model may find in one run", 0, 10_000),
    Setting("llm.max_tokens", "int", 2000, "the most tokens of one answer", 50, 1_000_000),
    Setting("git.sign", "bool", False, "whether commits are signed, with the key git is configured to use"),
    Setting("sync.remote", "text", "origin", "which of git's remotes sync meets others at"),
    Setting("sync.branch", "optional", "", "the branch there; empty: the one this vault is on"),
    Setting(
        "sync.conflict",
        "choice",
        "review",
        "what sync does where two machines changed the same: keep both and ask (review), take one side, or fail",
        choices=("newest", "ours", "theirs", "review", "fail"),
    ),
    Setting("sync.attempts", "int", 30, "how often sync tries where others push at the same moment", 1, 1000),
    Setting("sync.timeout_seconds", "float", 300.0, "how long sync waits for the remote, in seconds", 1, 86_400),
    Setting("upkeep.loose_objects", "int", 2000, "loose git objects after which the vault is repacked", 100, 1_000_000),
)
# Groups that reach outside: to whom memories are sent, with which key, at what cost, what is run. All of such a group
# is this machine's own, so that a key that is added to it is, too.
LOCAL_GROUPS = frozenset("llm semantic adapters plugins evaluate".split())
# Of these kinds no value names a place or a program. One of any other kind is local unless it is listed here.
_CLOSED_KINDS = frozenset("int float bool choice entity places".split())
_SHARED_TEXTS = frozenset(("vault.name",))


def reaches_outside(setting: Setting) -> bool:
    """Whether a setting is this machine's own: `clawmem.yaml` can only suggest its value."""
    group = setting.key.partition(".")[0]
    return group in LOCAL_GROUPS or not (setting.kind in _CLOSED_KINDS or setting.key in _SHARED_TEXTS)


# Keys of one agent, `agents.finance.write`; those of `default` are in force for every agent without its own.
AGENTS, ANY_AGENT = "agents", "default"
OF_AGENTS = (
    Setting("write", "places", "own, life, records", "where the agent may write"),
    Setting("read_only", "bool", False, "whether the agent only reads"),
)
_OF_AGENT: Mapping[str, Setting] = {setting.key: setting for setting in OF_AGENTS}
BY_KEY: Mapping[str, Setting] = {setting.key: setting for setting in SETTINGS}
LOCAL = frozenset(setting.key for setting in SETTINGS if reaches_outside(setting))
GROUPS = frozenset(setting.key.split(".")[0] for setting in SETTINGS if "." in setting.key)
_DEFAULTS: Mapping[str, Value] = {setting.key: setting.default for setting in SETTINGS}
# Where the value of one of these does not fit, its default will do: it decides nothing that stays.
HARMLESS = frozenset("vault.name defaults.limit context.budget history.limit index.keyword lock.wait_seconds".split())
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


class Settings(NamedTuple):
    """The value of every known key, by dotted key; the keys this version does not know, as they were found; those whose
    value does not fit, and why; and why the file does not parse, where these are not its own settings.

    A local key has its default in `values` until `own_settings.in_force` lays this machine's own over it; what the
    vault would have it be is in `suggested`. `origins` tells which of the machine's own files gave a local key.
    """

    values: Mapping[str, Value] = _DEFAULTS
    unknown: Mapping[str, Any] = {}
    wrong: Mapping[str, ClawmemError] = {}
    unread: ClawmemError | None = None
    suggested: Mapping[str, Value] = {}
    origins: Mapping[str, str] = {}

    def get(self, key: str) -> Value:
        """The value of a key; raises NotFound where there is no such key, what is wrong where it does not fit."""
        setting = setting_named(key)
        if setting.key in self.wrong and setting.key not in HARMLESS:
            raise self.wrong[setting.key]
        return self.values.get(setting.key, setting.default)

    def agent_value(self, agent: str, key: str) -> Value:
        """The value of an agent's key: its own, else that of every agent, else the default."""
        for wrong_key in (one for one in self.wrong if one.partition(".")[0] == AGENTS):
            raise self.wrong[wrong_key]  # what was meant to forbid must not be ignored
        for name in (agent, ANY_AGENT):
            value = self.values.get(f"{AGENTS}.{name}.{key}")
            if value is not None:
                return value
        return _OF_AGENT[key].default

    def whole(self, key: str) -> int:
        """The value of an int key."""
        value = self.get(key)
        if not isinstance(value, int):
            raise TypeError(f"{key} is not a whole number")
        return value

    def number(self, key: str) -> float:
        """The value of an int or float key."""
        return float(self.get(key))

    def words(self, key: str) -> str:
        """The value of a text, entity or choice key."""
        return str(self.get(key))

    def flag(self, key: str) -> bool:
        """The value of a bool key."""
        return self.get(key) is True


DEFAULTS = Settings()


def setting_named(key: str) -> Setting:
    """The setting of a dotted key; NotFound, with the keys that come near, where there is none."""
    if key in BY_KEY:
        return BY_KEY[key]
    if key.startswith(f"{AGENTS}."):
        return _of_agent(key)
    near = [each for each in BY_KEY if key and (key in each or each.rsplit(".", 1)[-1] in key)]
    hint = f"Did you mean {' or '.join(near[:3])}? " if near else ""
    raise NotFound(f"There is no setting '{key}'.", f"{hint}`clawmem config list` shows them all.")


def _of_agent(key: str) -> Setting:
    """The setting of one agent, under its whole key."""
    _, _, rest = key.partition(".")
    agent, _, name = rest.rpartition(".")
    if name not in _OF_AGENT or not agent:
        known = " and ".join(f"{AGENTS}.ID.{each}" for each in _OF_AGENT)
        raise NotFound(f"There is no setting '{key}'.", f"An agent has {known}.")
    return _OF_AGENT[name]._replace(key=f"{AGENTS}.{check_agent(agent)}.{name}")


def settings_from_mapping(mapping: Mapping[Any, Any] | None) -> Settings:
    """Settings out of a parsed `clawmem.yaml`; what it leaves out keeps its default, and what it says of a local key is
    a suggestion, where it is not the default.

    Raises InvalidInput naming the key and the reason, Refused where the vault is newer than this clawmem.
    Unknown keys are kept in `unknown`.
    """
    if mapping is not None and not isinstance(mapping, Mapping):
        raise InvalidInput(f"{FILE} must hold keys and values.", _HINT)
    given = dict(flat(mapping or {}))
    check_format(given.get("format", FORMAT))
    values = dict(_DEFAULTS)
    suggested: dict[str, Value] = {}
    unknown = {}
    for key, value in given.items():
        if key in GROUPS:
            raise InvalidInput(f"{FILE}: '{key}' holds several settings, not one value.", _HINT)
        if key == AGENTS and value in (None, {}):
            continue
        if key == AGENTS or key.startswith(f"{AGENTS}."):
            values.update(_agents_value(key, value) if value is not None else {})
        elif key not in BY_KEY:
            unknown[key] = value
        elif value is not None:
            fitting = _fitting(BY_KEY[key], value)
            if key not in LOCAL or fitting in BY_KEY[key].offline:
                values[key] = fitting
            elif fitting != _DEFAULTS[key]:
                suggested[key] = fitting
    return Settings(values, unknown, suggested=suggested)


def _agents_value(key: str, value: object) -> dict[str, Value]:
    """A value below `agents`. One that is not understood is an error: what was meant to forbid must not be ignored."""
    try:
        setting = _of_agent(key)
    except NotFound as problem:
        raise InvalidInput(f"{FILE}: {problem.message}", problem.hint) from None
    return {setting.key: _fitting(setting, value)}


def _fitting(setting: Setting, value: object) -> Value:
    """The value of the file; where it does not fit, the error says how to mend it."""
    try:
        return checked(setting, value)
    except InvalidInput as problem:
        mend = f"`clawmem config set {setting.key} VALUE` mends it, or you by hand in {FILE}."
        raise InvalidInput(problem.message, f"{problem.hint} {mend}") from None


_HINT = "`clawmem config list` shows every key, its value and what it means."


def flat(mapping: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys and their values; a mapping that is itself a setting's value, or empty, is not opened."""
    for name, value in mapping.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping) and key not in BY_KEY and (value or key in GROUPS):
            yield from flat(value, f"{key}.")
        elif value is not None or key not in GROUPS:
            yield key, value


def settings_to_mapping(settings: Settings) -> dict[str, Any]:
    """Every value, known or not, as the nested mapping `settings_from_mapping` reads."""
    nested: dict[str, Any] = {}
    for key, value in {**settings.values, **settings.suggested, **settings.unknown}.items():
        *path, last = key.split(".")
        place = nested
        for name in path:
            place = place.setdefault(name, {})
        place[last] = value
    return nested


def check_format(value: object) -> None:
    """Raise Refused where a vault's format is newer than this clawmem reads."""
    if isinstance(value, int) and not isinstance(value, bool) and value > FORMAT:
        raise Refused(
            f"This vault has format {value}; this clawmem reads formats up to {FORMAT}.",
            "Install a newer one: pip install --upgrade clawmem-vault",
        )


def parse_value(key: str, text: str) -> Value:
    """The value of a setting as typed on the command line; InvalidInput where it does not fit the key."""
    setting = setting_named(key)
    given = text.strip()
    value: Value = given
    if setting.kind == "bool":
        value = given.lower() in _TRUE if given.lower() in (*_TRUE, *_FALSE) else given
    elif setting.kind in ("int", "float"):
        try:
            value = int(given) if setting.kind == "int" else float(given)
        except ValueError:
            raise wrong(setting, given) from None
    return checked(setting, value)
