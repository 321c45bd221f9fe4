"""The table of verbs: each name with its line of help. Its module defines it, or an extension."""

from importlib import import_module

from clawmem import extension
from clawmem.faces.parts.command import Command, Group

VERBS = {
    "init": "Create a new vault.",
    "status": "Show which vault is in use and what it contains.",
    "remember": "Store a fact (also: add).",
    "recall": "Find facts, events, notes and summaries for a question (also: search).",
    "context": "Print what an agent should know, within a token budget.",
    "show": "Show one fact, or all that is known of an entity.",
    "list": "List facts.",
    "supersede": "Replace a fact with a newer one, now or from a day on.",
    "edit": "Change the words of a fact; move, tag or pin it.",
    "retract": "Withdraw what was never true: a fact, or all from one origin.",
    "forget": "Hide what some words name, from all answers.",
    "merge": "Merge two or more facts into one.",
    "link": "Link two facts.",
    "claim": "Confirm, check and test claims.",
    "graph": "Follow the links between facts and entities.",
    "note": "Add a line to the daily note.",
    "ingest": "Import events into the ledger, verbatim.",
    "import": "Import the memories of another program, with their dates and origin.",
    "export": "Write the memory in an open format.",
    "publish": "Store the claims of other systems, and answer line by line.",
    "synthesize": "Update the daily note of a day and MEMORY.md.",
    "promote": "Promote the important facts of a day.",
    "learn": "Let the calling agent read new events, as the model.",
    "heartbeat": "Learn from new events and maintain the vault.",
    "session": "Start, note, checkpoint and end a session of work.",
    "lesson": "Add, list, show and search lessons.",
    "decision": "Add, list and search decisions and their outcomes.",
    "digest": "Reduce a long text to claims with evidence and links.",
    "wiki": "Build the wiki, and say what may enter it.",
    "dashboard": "Show the memory in a browser, and decide there what waits.",
    "org": "Ask the organisation, promote facts to it, and pull its facts.",
    "task": "Add, list, take, submit and close tasks.",
    "workflow": "List, show and check workflows.",
    "review": "Approve or reject the proposals that wait for a person.",
    "evaluate": "Check a task by its criteria, and allow commands.",
    "eval": "Run suites of tests on the memory, and keep and compare the scores.",
    "guardrail": "List, show and add guardrails.",
    "failure": "Record failures, and show failure modes and recovery actions.",
    "principle": "Check files against the principles.",
    "tier": "Show the tier of a fact, and why.",
    "log": "Show the history of the vault, an entity or a fact.",
    "why": "Show the origin and the history of a fact, or what rests on it.",
    "diff": "Show which facts changed between two points in time.",
    "undo": "Revert one change, with a new commit.",
    "redact": "Remove a secret from the whole history.",
    "entity": "Create, list, show, move, archive and rename entities.",
    "access": "Say who may see what, in a memory that several people share.",
    "agent": "Create, list and show agents and their workspaces.",
    "config": "Read and change settings.",
    "llm": "Try the language model.",
    "doctor": "Check every file and every rule of the vault.",
    "hub": "Run the organisation's hub in PostgreSQL.",
    "sync": "Exchange changes with other machines through a git remote.",
    "backup": "Back up the whole vault to one file that can be verified.",
    "restore": "Create a vault from a backup, in a new folder.",
    "reindex": "Rebuild the search index.",
    "setup": "Wire the memory into an agent harness.",
    "aliases": "Print shell functions for the memory.",
    "hook": "Answer an event of an agent harness.",
    "mcp": "Serve the memory to an agent's client as tools.",
    "cron": "Schedule the heartbeat.",
    "completions": "Print the completion script of a shell.",
    "schema": "Print the JSON Schema of the answer of a verb.",
}

OF_EXTENSIONS = {
    **dict.fromkeys(("eval", "evaluate", "failure", "principle"), "governance"),
    **dict.fromkeys(("import", "export"), "exchange"),
    "digest": "digest",
    "wiki": "wiki",
    "dashboard": "wiki",
    **dict.fromkeys(("hub", "org", "publish"), "hub"),
}
"""The verbs of clawmem's own extensions."""

TOPICS = {
    "write": "remember note supersede edit retract forget undo",
    "ask": "recall context show list why diff log graph",
    "conversations": "ingest import learn heartbeat session",
    "look": "dashboard wiki review status",
    "vault": "init setup doctor config entity sync backup restore",
    "work": "task decision lesson workflow agent digest",
    "governance": "access guardrail claim evaluate eval failure principle",
    "organisation": "org hub publish export",
    "plumbing": "merge link redact promote synthesize tier cron hook mcp llm reindex schema completions aliases",
}
"""The verbs of each topic of `clawmem help TOPIC`."""

FIRST_TOPICS = ("write", "ask", "conversations", "look", "vault")
"""The topics whose verbs `clawmem --help` lists; it names the others."""

TOGETHER = {
    "heartbeat": "heartbeat promote synthesize",
    "revise": "supersede edit merge link retract",
    "task": "task workflow",
    "config": "config llm",
    "setup": "setup cron",
    "show": "show list tier",
    "doctor": "doctor reindex",
    "scripts": "completions aliases schema",
    "entity": "entity agent",
    "redact": "redact forget",
    "backup": "backup restore",
    "history": "log undo diff",
    "decision": "decision lesson",
}
"""The modules of several verbs, each with its verbs; every other verb has a module of its name."""

ALIASES = {"search": "recall", "add": "remember"}

EXPLAINED = {
    "time": "Days in every verb that has a time: 2026-11-21, 2026-11, 2026, today, yesterday, 'last week', '9"
    " November', or 3d, 2w, 6m, 1y for that long ago. --since and --until bound when something was said or"
    " recorded, --as-of asks what was true on a day, --at what the memory was at a day or commit, and --valid-"
    " from and --valid-to say when a fact begins and ends. Quote days of several words.",
    "where": "What a fact is about, and for whom it is: --entity is who or what a fact is about: its path, or a name"
    " of it. --project and --workflow are for whose work it is, and --scope how far it is seen: project, team,"
    " framework, organisation or all. In a repository, its project is meant. --in says what recall looks at:"
    " facts, events, notes, summaries or all.",
}
"""What `clawmem help WORD` explains that is no verb."""

FORMER_VERBS = {
    "stale": "list --stale",
    "analytics": "status --usage",
    "precedent": "decision precedent",
    "impact": "why --impact",
    "deprecate": "supersede",
    "revoke": "retract",
}
"""Words that were verbs, and what does now what they did. They still work."""

USUAL_WORDS = {"evaluate": "task", "graph": "neighbors", "mcp": "serve"}
"""The second word of a verb that may be left out, if something else than another second word follows."""

OTHER_WORDS = {
    "agent add": "agent create",
    "claim add": "remember",
    "claim list": "list",
    "claim show": "show",
    "entity add": "entity create",
    "failure add": "failure record",
    "note add": "note",
    "sync setup": "sync --setup",
    "remember add": "remember",
    "session add": "session start",
}
"""Two words that stand for a verb's own."""

OTHER_NAMES = {
    "\\dt": "list", "about": "show", "alias": "entity alias", "amend": "edit", "ask": "recall", "cat": "show",
    "change": "supersede", "chat": "recall", "check": "doctor", "clone": "sync", "conflicts": "review list",
    "correct": "edit", "count": "status", "create": "init", "decisions": "decision list", "delete": "retract",
    "describe": "show", "disable": "setup --remove", "end": "edit {0} --valid-to {2}", "everything": "show",
    "events": "recall --in events", "facts": "list", "find": "recall", "finde": "recall", "frage": "recall",
    "get": "show", "grep": "recall", "head": "list", "history": "log", "how": "recall {words}", "info": "status",
    "join": "entity merge", "lessons": "lesson list", "ls": "list", "lösche": "retract",
    "messages": "recall '' --in events --since 'last week'", "merke": "remember", "move": "edit {0} --entity {1}",
    "mv": "edit {0} --entity {1}", "new": "remember", "nickname": "entity alias",
    "notes": "recall '' --in notes --since 'last week'", "off": "setup --remove", "open": "show",
    "pause": "setup --remove", "people": "entity list", "person": "show", "pin": "edit {0} --pin", "project": "show",
    "projects": "entity list", "prompt": "context", "pull": "sync", "push": "sync", "query": "recall", "redo": "undo",
    "remind": "remember {1} --valid-from {0} --valid-to {0}", "remove": "retract", "rename": "entity rename",
    "revert": "undo", "rm": "retract", "save": "remember", "schedule": "cron", "settings": "config",
    "stats": "status", "stop": "setup --remove", "store": "remember", "suche": "recall", "tag": "edit {0} --tag {1}",
    "tags": "list --jsonl --fields tags", "tail": "log", "tasks": "task list", "today": "log today",
    "unforget": "undo {2}", "unpin": "edit {0} --unpin", "update": "supersede", "vergiss": "forget",
    "verify": "doctor", "version": "--version", "wann": "recall {words}", "was": "recall {words}",
    "week": "diff week", "wer": "recall {words}", "what": "recall {words}", "when": "recall {words}",
    "where": "recall {words}", "which": "recall {words}", "who": "recall {words}", "whose": "recall {words}",
    "wo": "recall {words}", "yesterday": "log yesterday", "zeige": "show",
}  # fmt: skip
"""Words that other programs use for a verb; the message for an unknown verb names what does it. The words behind it
take the places `{0}` and `{1}`, or follow; `{words}` are all of them."""

SECOND_NAMES = {
    "complete": "close", "create": "add", "done": "close", "finish": "close", "get": "show", "ls": "list",
    "new": "add", "open": "show", "search": "list",
}  # fmt: skip
"""Second words that other programs use, with those of clawmem's groups."""

OTHER_OPTIONS = {
    "--about": "--entity {0}", "--because": "--reason {0} | --why {0}", "--count": "--limit {0}",
    "--due": "--valid-to {0}", "--end": "--until {0} | --valid-to {0}", "--events": "--in events",
    "--expires": "--valid-to {0}", "--facts": "--in facts", "--format": "--json {0:.0}",
    "--from": "--since {0} | --valid-from {0}", "--head": "--limit {0}", "--ignore-case": "",
    "--kind": "--category {0}", "--max": "--limit {0}", "--messages": "--in events", "--name": "--title {0}",
    "--notes": "--in notes", "--on": "--since {0} --until {0} | --date {0} | --valid-from {0}", "--oneline": "",
    "--output": "--json {0:.0}", "--person": "--entity {0}", "--project": "--entity {0}",
    "--since": "--valid-from {0} | --from {0}", "--start": "--since {0} | --valid-from {0}",
    "--tags": "--tag {0} | --jsonl --fields tags", "--to": "--until {0} | --valid-to {0}", "--today": "--since today",
    "--top": "--limit {0}", "--type": "--category {0}", "--until": "--valid-to {0} | --to {0}", "--user": "{0:.0}",
    "--user-id": "{0:.0}", "--user_id": "{0:.0}", "--verbose": "", "--week": "--since 'this week'",
    "--why": "--reason {0}", "--yesterday": "--since yesterday --until yesterday", "-V": "--version", "-i": "",
    "-o": "--json {0:.0}", "-r": "", "-v": "--version",
}  # fmt: skip
"""Options that other programs have, each with those of clawmem that may be meant: the first that the verb has. `{0}` is
the value; nothing is to be left out."""

INSTEAD = {
    "agent disable": "`clawmem setup HARNESS --remove` takes the memory out of its program, and"
    " `clawmem retract --agent ID` withdraws what it stored.",
    "copy": "A fact has one place: `clawmem edit FACT --entity ENTITY` moves it. `clawmem backup FILE` copies all.",
    "edit --confidence": "`clawmem remember 'ITS WORDS' --confidence 0.9` raises it; to lower it, edit its items.json.",
    "edit --private": "`clawmem access mark FACT --audience NAME` says for whom it is, and"
    " `clawmem forget 'WORDS'` hides what they name from all answers.",
    "list --count": "`clawmem status` counts facts; `--limit N` shows so many.",
    "note --attach": "A note is text. `clawmem ingest FILE` keeps what a file says.",
    "failure show": "`clawmem failure list` shows failures, and `clawmem failure modes` what each mode means.",
    "remember --from": "`clawmem remember - < FILE` stores each line of a file.",
    "scope": "`clawmem help where` explains scopes.",
    "task add --due": "A task has no date: say it in the title: `clawmem task add 'Report, due 1 December'`.",
    "task add --reason": "A task has no field for a reason: say it in the title, or in a page with --from FILE.",
    "time": "`clawmem help time` explains days.",
    "workflow add": "A new workflow is a file workflows/NAME.yaml; `clawmem workflow show software` shows one.",
}
INSTEAD |= {
    "agent delete": INSTEAD["agent disable"],
    "agent remove": INSTEAD["agent disable"],
    "cp": INSTEAD["copy"],
    "note --file": INSTEAD["note --attach"],
    "remember --file": INSTEAD["remember --from"],
}
"""What there is in place of a command or an option of other programs that no line of clawmem translates."""

EXAMPLES = ("clawmem init", "clawmem remember 'Jane prefers tea.'", "clawmem recall 'what does Jane drink?'")
"""The examples at the end of `clawmem --help`."""


def load(name: str) -> Command | Group:
    """Import one verb's module; the verb is a command, or a group of commands by the word that follows.

    Raise ExtensionMissing if the verb's extension is not here, and ExtensionUnusable if one cannot be imported."""
    verb: Command | Group
    if name in OF_EXTENSIONS:
        verb = extension.named(_of_extension(extension.own(OF_EXTENSIONS[name]), name))
    elif name in VERBS:
        module = next((module for module, verbs in TOGETHER.items() if name in verbs.split()), None)
        found = import_module(f"clawmem.faces.verbs.{module or name}")
        verb = found.VERBS[name] if module else found.VERB
    else:
        owner = next(each for each in extension.foreign() if name in each.verbs)
        verb = extension.load_foreign_part(owner, _of_extension(owner, name))
    return verb


def _of_extension(owner: extension.Extension, name: str) -> str:
    reference = owner.verbs[name]
    return reference if ":" in reference else f"{reference}:VERB"


def current_words(word: str) -> list[str]:
    """The words of the command line that stand for another word for a verb; a word that is none stands for itself."""
    return (ALIASES | FORMER_VERBS).get(word, word).split()


def all_verbs() -> dict[str, str]:
    """The lines of help of all verbs by name, those of accepted extensions of other distributions last."""
    foreign = (pair for each in extension.foreign() for pair in each.help.items())
    return VERBS | {name: text for name, text in foreign if name not in VERBS and name not in ALIASES}


def verbs_of(topic: str) -> dict[str, str]:
    """The lines of help of the verbs of a topic; of `extensions` and `all`, too."""
    verbs = all_verbs()
    if topic == "all":
        return verbs
    names = [name for name in verbs if name not in VERBS] if topic == "extensions" else TOPICS[topic].split()
    return {name: verbs[name] for name in names}


def other_topics() -> list[str]:
    """The topics that `clawmem --help` only names."""
    foreign = ["extensions"] if verbs_of("extensions") else []
    return [*(topic for topic in TOPICS if topic not in FIRST_TOPICS), *foreign]


def help_of(command: Command, verb: str = "") -> str:
    """The help text of a command: the verb's line of help, unless it is in a group, then its docstring."""
    from inspect import cleandoc  # slow to import, and only help needs it

    line = "" if not verb else all_verbs().get(verb, "")
    return "\n\n".join(filter(None, (line, cleandoc(command.function.__doc__ or ""))))
