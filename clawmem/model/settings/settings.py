"""The settings of a vault: the keys of `clawmem.yaml`, their meanings, and their defaults."""

from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.errors import ClawmemError, InvalidInput, NotFound, Refused
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import check_agent
from clawmem.model.settings.values import Setting, Value, check_value, wrong_value

FILE = "clawmem.yaml"
FORMAT = 1

SETTINGS = (
    Setting("format", "int", FORMAT, "the layout of this vault; clawmem raises it, people leave it alone", 1, FORMAT),
    Setting("vault.name", "text", "memory", "what this memory is called"),
    Setting("user.name", "text", "user", "your name: who says `I`, and who `User` and `the user` are"),
    Setting("defaults.entity", "entity", "areas/general", "where a fact goes when no entity is named"),
    Setting("defaults.limit", "int", 10, "how many facts recall gives", 1, 1000),
    Setting(
        "projects.joined",
        "pairs",
        "",
        "remotes that are one project, because it was renamed or moved: what is known of one is known of the other",
    ),
    Setting("context.budget", "int", 4000, "how many tokens context may fill", 100, 1_000_000),
    Setting("context.prompt_budget", "int", 1000, "the most tokens that a prompt gets from a hook", 100, 100_000),
    Setting("lock.wait_seconds", "float", 10.0, "how long to wait for another writer, in seconds", 0, 3600),
    Setting(
        "secrets.action",
        "choice",
        "refuse",
        "what to do with a text that contains a credential",
        choices=("refuse", "redact"),
    ),
    Setting("index.keyword", "choice", "fts5", "the engine behind keyword search", choices=("fts5", "whoosh")),
    Setting(
        "semantic.model",
        "choice",
        "local",
        "what finds by meaning: local (the model of the extra `semantic`, where it is installed), or none",
        choices=("local", "none"),
        offline=("local", "none"),
    ),
    Setting("decay.archive_days", "int", 90, "days without access before a fact may be archived", 1, 36_500),
    Setting(
        "session.abandoned_hours",
        "float",
        24.0,
        "hours without a sign of life after which a session is abandoned",
        0.1,
        8760,
    ),
    Setting(
        "session.ask",
        "bool",
        True,
        "whether an agent is asked at the end of a turn what is worth keeping, where no model reads later",
    ),
    Setting(
        "coordination.lease_minutes",
        "float",
        30.0,
        "minutes without a sign of life after which the claims of a session end",
        0.1,
        10_000,
    ),
    Setting(
        "coordination.on_collision",
        "choice",
        "refuse",
        "what a write into a claim of another session does: it is refused, a new fact waits for review (propose), or"
        " it is done and said (warn)",
        choices=("refuse", "propose", "warn"),
    ),
    Setting("heartbeat.candidates", "int", 5, "candidates a day from messages that nobody read; 0: none", 0, 100),
    Setting(
        "learning.enter",
        "choice",
        "at_once",
        "when learned facts enter life/: at once, or only when the nightly promotion lets them in; until then they are"
        " candidates of their day",
        choices=("at_once", "promoted"),
    ),
    Setting(
        "tiers.policy",
        "choice",
        "recency",
        "what makes a fact hot, warm or cold in a context: recency, importance or score",
        choices=("recency", "importance", "score"),
    ),
    Setting("promotion.max_facts", "int", 8, "the most facts promoted for one day", 0, 100),
    Setting("memory.max_tokens", "int", 1500, "the most tokens of the generated part of MEMORY.md", 100, 100_000),
    Setting(
        "wiki.links",
        "choice",
        "relative",
        "how generated pages of the wiki link to each other: as every reader of Markdown takes it (relative), or with"
        " `[[links]]` (obsidian)",
        choices=("relative", "obsidian"),
    ),
    Setting(
        "llm.model",
        "optional",
        "",
        "the model that reads events, as litellm names it; or `command` or `command/NAME`: the program of llm.command"
        " or llm.preset; empty: rules read them",
    ),
    *(
        Setting(f"llm.{task}_model", "optional", "", f"the model that {does}; empty: llm.model")
        for task, does in (
            ("extract", "finds facts in events"),
            ("judge", "judges which facts are worth thirty days"),
            ("synthesize", "writes about a day"),
            ("digest", "digests sessions and documents"),
            ("evaluate", "evaluates finished work"),
        )
    ),
    Setting(
        "llm.preset",
        "choice",
        "none",
        "the program that llm.model `command` runs where llm.command is empty",
        choices=("none", "claude", "codex", "gemini", "opencode", "openclaw", "llm", "ollama"),
    ),
    Setting(
        "llm.more_presets",
        "words",
        "",
        "the programs that read the sessions held with them, beside the one of llm.preset",
    ),
    Setting(
        "llm.command",
        "words",
        "",
        "the program that llm.model `command` runs, with its options, without a shell: it reads the prompt from stdin"
        " and writes the answer to stdout; {model} and {effort} stand for the name and the effort",
    ),
    Setting(
        "llm.effort",
        "choice",
        "default",
        "how much a model that can think should think",
        choices=("default", "none", "minimal", "low", "medium", "high"),
    ),
    Setting("llm.api_base", "optional", "", "where the model is served; empty: where its provider serves it"),
    Setting("llm.api_key_env", "variable", "", "the environment variable that holds the key, never the key itself"),
    Setting(
        "llm.timeout_seconds",
        "float",
        60.0,
        "how long to wait for one answer, in seconds",
        0.1,
        3600,
    ),
    Setting(
        "llm.output",
        "choice",
        "auto",
        "how JSON is requested: by schema if the model supports it, else in the prompt (auto), or always one way",
        choices=("auto", "schema", "json", "plain"),
    ),
    Setting("llm.budget_cents", "float", 12.0, "the most one run may cost, in cents", 0, 1_000_000),
    Setting("llm.daily_cents", "float", 100.0, "the most one day (UTC) may cost, in cents", 0, 1_000_000),
    Setting(
        "llm.max_ms",
        "int",
        600_000,
        "how long one run may wait for the model, in milliseconds",
        0,
        86_400_000,
    ),
    Setting("llm.max_facts", "int", 200, "the most facts a model may find in one run", 0, 10_000),
    Setting("llm.max_tokens", "int", 2000, "the most tokens of one answer", 50, 1_000_000),
    Setting("llm.daily_calls", "int", 20, "the most calls of one day (UTC) whose price is not known", 0, 10_000),
    Setting("llm.daily_tokens", "int", 100_000, "the most tokens of prompts and answers in them", 0, 100_000_000),
    Setting(
        "review.routes",
        "routes",
        "",
        "who decides which proposals: lines as in CODEOWNERS, the last match wins; empty: every person",
    ),
    Setting("review.signed", "bool", False, "whether a decision in review needs a signed commit"),
    Setting(
        "review.delegations",
        "delegations",
        "",
        "which decisions an agent may take on this machine; only a person sets it",
    ),
    Setting("git.sign", "bool", False, "whether commits are signed, with the key git is configured to use"),
    Setting("sync.remote", "text", "origin", "the git remote that sync uses"),
    Setting("sync.branch", "optional", "", "the branch on the remote; empty: the current branch of this vault"),
    Setting(
        "sync.conflict",
        "choice",
        "review",
        "what sync does if two machines changed the same thing: keep both and ask (review), take one side, or fail",
        choices=("newest", "ours", "theirs", "review", "fail"),
    ),
    Setting("sync.heartbeat", "optional", "", "the remote that each heartbeat syncs with; `sync setup` sets it"),
    Setting("sync.timeout_seconds", "float", 300.0, "how long sync waits for the remote, in seconds", 1, 86_400),
    Setting("adapters.allowed", "optional", "", "the SHA-256 of the adapters that may run here, separated by blanks"),
    Setting("documents.seconds", "float", 60.0, "how long reading one document may take, in seconds", 0.01, 3600),
    Setting(
        "documents.megabytes", "int", 1500, "the most memory that reading one document may take, in MB", 50, 100_000
    ),
    Setting("evaluate.timeout_seconds", "float", 120.0, "how long an allowed command may run, in seconds", 0.1, 86_400),
    Setting(
        "org.url",
        "address",
        "",
        "the organisation: the address of its hub without a password, `-` for the PG variables of the environment, or"
        " the folder of a vault; `org connect` sets it",
    ),
    Setting("org.timeout_seconds", "float", 2.0, "how long anything waits for the organisation, in seconds", 0.1, 3600),
)
# Former settings with the values that are constants now, None if nothing uses it. A file that has such a key is read.
REMOVED: Mapping[str, Value | None] = {
    "semantic.api_base": "",
    "semantic.api_key_env": "",
    "semantic.budget_cents": 12.0,
    "semantic.daily_cents": 100.0,
    "semantic.timeout_seconds": 10.0,
    "semantic.max_seconds": 60.0,
    "decay.archive_score": 0.2,
    "session.rotate_minutes": 60.0,
    "heartbeat.mentions_for_entity": 3,
    "heartbeat.max_facts_per_event": 8,
    "access.context": True,
    "access.why": False,
    "access.entity_show": False,
    "promotion.score": 0.6,
    "promotion.margin": 0.03,
    "promotion.max_proposals": 3,
    "promotion.hour": 3,
    "tacit.repeats": None,
    "gate.conflict_confidence": 0.9,
    "summary.max_facts": 40,
    "summary.weekly_day": "sunday",
    "summary.weekly_hour": 0,
    "wiki.gates.length": 300,
    "wiki.topic_claims": 2,
    "wiki.curator.page_words": 4000,
    "wiki.curator.proposals": 20,
    "llm.judge_max_ms": 12000,
    "llm.kept_answers": None,
    "evaluate.least_decisions": 5,
    "evaluate.output_bytes": 1000000,
    "lesson.harmful": 3,
    "upkeep.loose_objects": 2000,
    "sync.attempts": 30,
    "review.delegate_after": 20,
    "history.limit": 20,
    "stale.days": 180,
    "session.notes": 5,
    "session.target": 0.4,
    "session.rotate": 0.6,
    "session.compact": 0.8,
    "failures.guardrail_after": 3,
    "condense.facts": 5,
    "wiki.gates.confidence": 0.8,
    "wiki.gates.sources": 2,
    "llm.max_retries": 2,
    "llm.fallback": "none",
    "coordination.task_at_end": "release",
    "adapters.timeout_seconds": 30.0,
    "evaluate.confidence": 0.7,
    "evaluate.agreement": 0.8,
    "evaluate.decisions": 20,
}
MODEL = "semantic.model"
# Groups with effects outside the vault: where memories are sent, with which key, at what cost, and what is run. Whole
# groups are local, so that new keys in them are, too.
LOCAL_GROUPS = frozenset("llm semantic adapters plugins documents evaluate org".split())
# Values of these kinds never name a place or a program. A setting of another kind is local unless it is listed here.
_CLOSED_KINDS = frozenset("int float bool choice entity places routes pairs".split())
_SHARED_TEXTS = frozenset(("vault.name", "user.name"))


def reaches_outside(setting: Setting) -> bool:
    """Return whether a setting is local: `clawmem.yaml` can only suggest its value."""
    group = setting.key.partition(".")[0]
    return group in LOCAL_GROUPS or not (setting.kind in _CLOSED_KINDS or setting.key in _SHARED_TEXTS)


# Keys of one agent, such as `agents.finance.write`; those of `default` apply to every agent without its own.
AGENTS, ANY_AGENT = "agents", "default"
TOOL, CONSUMER, LEARNER, FULL = AGENT_TYPES = ("tool", "consumer", "learner", "full")
OF_AGENTS = (
    Setting("write", "places", "own, life, records", "where the agent may write"),
    Setting("read_only", "bool", False, "whether the agent only reads"),
    Setting(
        "type",
        "choice",
        "full",
        "what the agent may do: nothing here (tool), read (consumer), read and write its own and its domain (learner),"
        " or what `write` says (full)",
        choices=AGENT_TYPES,
    ),
    Setting("lessons_per_day", "int", 20, "the most lessons a day (UTC) from an agent of type learner", 0, 100_000),
    Setting(
        "domain",
        "places",
        "all",
        "what the context of the agent is about: entities or folders such as projects; its own facts and the most"
        " important ones are always in it",
    ),
    Setting(
        "verbs",
        "names",
        "all",
        "which verbs the agent may use, such as `recall, remember, task take`; a group's name is all of it",
    ),
    Setting(
        "scopes",
        "names",
        "all",
        "the scopes in which the agent may write facts; a fact without one counts as organisation",
        choices=("all", "project", "team", "framework", "organisation"),
    ),
    Setting("cents", "float", 1e6, "the most that models may cost for the agent in one day (UTC), in cents", 0, 1e6),
    Setting("name", "text", "", "the name that people know the agent by"),
    Setting("emoji", "text", "", "a sign that stands before that name"),
    Setting("description", "text", "", "what the agent does, in one sentence"),
)
_OF_AGENT: Mapping[str, Setting] = {setting.key: setting for setting in OF_AGENTS}
BY_KEY: Mapping[str, Setting] = {setting.key: setting for setting in SETTINGS}
LOCAL = frozenset(setting.key for setting in SETTINGS if reaches_outside(setting))
GROUPS = frozenset(key.split(".")[0] for key in (*BY_KEY, *REMOVED) if "." in key)
_DEFAULTS: Mapping[str, Value] = {setting.key: setting.default for setting in SETTINGS}
# If one of these is invalid, its default is used: it affects nothing that is stored.
HARMLESS = frozenset(
    "vault.name defaults.limit context.budget context.prompt_budget index.keyword lock.wait_seconds".split()
)
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


class Settings(NamedTuple):
    """All settings, by dotted key.

    `unknown` holds keys of other versions, and `wrong` invalid values with the error. `unread` is the error if the file
    cannot be parsed. A local key has its default in `values` until `in_force` applies this machine's own files. The
    vault's values for local keys are in `suggested`, and `origins` says which file of this machine set a key.
    """

    values: Mapping[str, Value] = _DEFAULTS
    unknown: Mapping[str, Any] = {}
    wrong: Mapping[str, ClawmemError] = {}
    unread: ClawmemError | None = None
    suggested: Mapping[str, Value] = {}
    origins: Mapping[str, str] = {}

    def get(self, key: str) -> Value:
        """Return a key's value. Raise NotFound if the key is unknown, and the stored error if its value is invalid."""
        setting = setting_named(key)
        if setting.key in self.wrong and setting.key not in HARMLESS:
            raise self.wrong[setting.key]
        return self.values.get(setting.key, setting.default)

    def agent_value(self, agent: str, key: str) -> Value:
        """Return the value of an agent's key: its own, else that of all agents, else the default."""
        for wrong_key in (text for text in self.wrong if text.partition(".")[0] == AGENTS):
            raise self.wrong[wrong_key]  # an invalid restriction must not be ignored
        for name in (agent, ANY_AGENT):
            value = self.values.get(f"{AGENTS}.{name}.{key}")
            if value is not None:
                return value
        return _OF_AGENT[key].default

    def whole(self, key: str) -> int:
        """Return the value of an int key."""
        value = self.get(key)
        if not isinstance(value, int):
            raise TypeError(f"{key} is not a whole number")
        return value

    def number(self, key: str) -> float:
        """Return the value of an int or float key."""
        return float(self.get(key))

    def words(self, key: str) -> str:
        """Return the value of a text, entity or choice key."""
        return str(self.get(key))

    def flag(self, key: str) -> bool:
        """Return the value of a bool key."""
        return self.get(key) is True


DEFAULTS = Settings()


def setting_named(key: str) -> Setting:
    """Return the setting of a dotted key. Raise NotFound, with similar keys, if there is no such setting."""
    if key in BY_KEY:
        return BY_KEY[key]
    if key.startswith(f"{AGENTS}."):
        return _of_agent(key)
    if key in REMOVED:
        raise NotFound(removed_sentence(key), "List all settings with `clawmem config list`.")
    near = [each for each in BY_KEY if key and (key in each or each.rsplit(".", 1)[-1] in key)]
    hint = f"Did you mean {' or '.join(near[:3])}? " if near else ""
    raise NotFound(f"There is no setting '{key}'.", f"{hint}List all settings with `clawmem config list`.")


def is_hosted_model(key: str, value: object) -> bool:
    """Return whether a file of an earlier version names a hosted model of embeddings: the local one is used."""
    return key == MODEL and isinstance(value, str) and value not in BY_KEY[MODEL].choices


def removed_sentence(key: str) -> str:
    """Return the sentence about a key of REMOVED, or about a value that is one of MODEL no more."""
    if key == MODEL:
        return f"{MODEL} names no hosted model any more; the local one is used."
    fixed = None if key.startswith("semantic.") else REMOVED[key]
    rest = "nothing uses it any more" if fixed is None else f"its value is fixed at {str(fixed).lower()}"
    return f"{key} is no longer a setting; {rest}."


def _of_agent(key: str) -> Setting:
    """Return the setting of one agent under its full key."""
    _, _, rest = key.partition(".")
    agent, _, name = rest.rpartition(".")
    if name not in _OF_AGENT or not agent:
        known = " and ".join(f"{AGENTS}.ID.{each}" for each in _OF_AGENT)
        raise NotFound(f"There is no setting '{key}'.", f"The settings of an agent are {known}.")
    return _OF_AGENT[name]._replace(key=f"{AGENTS}.{check_agent(agent)}.{name}")


def settings_from_mapping(mapping: Mapping[Any, Any] | None) -> Settings:
    """Return the settings from a parsed `clawmem.yaml`.

    Missing keys have their defaults, and values for local keys become suggestions unless they are the default.
    Unknown keys are kept in `unknown`. Raise InvalidInput, naming the key, if a value is invalid, and Refused if the
    vault is newer than this clawmem.
    """
    if mapping is not None and not isinstance(mapping, Mapping):
        raise InvalidInput(f"{FILE} must contain keys and values.", _HINT)
    record = dict(flatten(mapping or {}))
    check_format(record.get("format", FORMAT))
    values = dict(_DEFAULTS)
    suggested: dict[str, Value] = {}
    unknown = {}
    for key, value in record.items():
        if key in GROUPS:
            raise InvalidInput(f"{FILE}: '{key}' contains several settings, not one value.", _HINT)
        if key == AGENTS and value in (None, {}):
            continue
        if key == AGENTS or key.startswith(f"{AGENTS}."):
            values.update(_agents_value(key, value) if value is not None else {})
        elif key not in BY_KEY or is_hosted_model(key, value):
            unknown[key] = value
        elif value is not None:
            fitting = _fitting(BY_KEY[key], value)
            if key not in LOCAL or fitting in BY_KEY[key].offline:
                values[key] = fitting
            elif fitting != _DEFAULTS[key]:
                suggested[key] = fitting
    return Settings(values, unknown, suggested=suggested)


def _agents_value(key: str, value: object) -> dict[str, Value]:
    """Return a value below `agents`. An unknown key is an error, because a restriction must not be ignored."""
    try:
        setting = _of_agent(key)
    except NotFound as problem:
        raise InvalidInput(f"{FILE}: {problem.message}", problem.hint) from None
    return {setting.key: _fitting(setting, value)}


def _fitting(setting: Setting, value: object) -> Value:
    """Return the value from the file; if it is invalid, the error says how to repair it."""
    try:
        return check_value(setting, value)
    except InvalidInput as problem:
        repair = f"Use `clawmem config set {setting.key} VALUE`, or edit {FILE}."
        raise InvalidInput(problem.message, f"{problem.hint} {repair}") from None


_HINT = "`clawmem config list` shows every key, its value and its meaning."


def flatten(mapping: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted keys and values; a mapping that is itself a value, or is empty, is not expanded."""
    for name, value in mapping.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping) and key not in BY_KEY and (value or key in GROUPS):
            yield from flatten(value, f"{key}.")
        elif value is not None or key not in GROUPS:
            yield key, value


def check_format(value: object) -> None:
    """Raise Refused if a vault's format is newer than this clawmem supports."""
    if isinstance(value, int) and not isinstance(value, bool) and value > FORMAT:
        raise Refused(
            f"This vault has format {value}; this clawmem reads formats up to {FORMAT}.",
            "Install a newer one: pip install --upgrade clawmem-vault",
        )


def parse_value(key: str, text: str) -> Value:
    """Return a setting's value from the command line; raise InvalidInput if it is invalid."""
    return parse_text(setting_named(key), text)


def parse_text(setting: Setting, text: str) -> Value:
    """Return the value of a setting that a text states; raise InvalidInput if it is invalid."""
    argument = text.strip()
    value: Value = argument
    if setting.kind == "bool":
        value = argument.lower() in _TRUE if argument.lower() in (*_TRUE, *_FALSE) else argument
    elif setting.kind in ("int", "float"):
        try:
            value = int(argument) if setting.kind == "int" else float(argument)
        except ValueError:
            raise wrong_value(setting, argument) from None
    return check_value(setting, value)


# The names of models in the settings: of one task, and of programs.

EXTRACT, JUDGE, SYNTHESIZE = "extract", "judge", "synthesize"
TASKS = (EXTRACT, JUDGE, SYNTHESIZE, "digest", "evaluate")
COMMAND = "command"


def is_command(name: str) -> bool:
    """Return whether the name of a model stands for a program: `command`, or `command/NAME`."""
    return name == COMMAND or name.startswith(f"{COMMAND}/")


def model_names(settings: Settings) -> tuple[str, ...]:
    """Return the names of all models that the settings of `llm` name, each once."""
    keys = ("llm.model", *(f"llm.{task}_model" for task in TASKS))
    return tuple(dict.fromkeys(str(name) for key in keys if (name := settings.values.get(key))))
