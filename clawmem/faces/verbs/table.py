"""The table of verbs: what each is called, and its line of help; the module of that name holds the rest."""

from importlib import import_module

from clawmem.faces.parts.command import Command, Group

VERBS = {
    "init": "Make a new vault.",
    "status": "Say which vault this is and what is in it.",
    "remember": "Keep a fact (also: add).",
    "recall": "Find facts for a question (also: search).",
    "context": "Write what an agent should know, within a budget of tokens.",
    "show": "Show one fact whole.",
    "list": "List facts.",
    "supersede": "Replace a fact by a newer one.",
    "retract": "Withdraw a fact that was never true.",
    "revoke": "Withdraw everything that came from one origin.",
    "merge": "Join two or more facts into one richer fact.",
    "link": "Connect two facts.",
    "graph": "Walk the links between facts and entities.",
    "note": "Write a line in the daily note.",
    "ingest": "Take events into the ledger, verbatim.",
    "synthesize": "Write down what a day taught, and what matters most.",
    "promote": "Lift the facts of a day that are worth thirty days.",
    "heartbeat": "Learn from new events and keep the vault in order.",
    "review": "Decide about what waits for a person.",
    "tier": "Say how hot a fact is, and why.",
    "log": "Show the history of the vault, an entity or a fact.",
    "why": "Show where a fact comes from and what became of it.",
    "diff": "Show which facts changed between two points in time.",
    "undo": "Take one change back, with a new commit.",
    "redact": "Take a secret out of all history.",
    "entity": "Make, list, show, move, archive and rename entities.",
    "agent": "Make, list and show agents and their workspaces.",
    "config": "Read and change settings.",
    "doctor": "Check every file and every rule of the vault.",
    "sync": "Take in what other machines learned, and give what this one did.",
    "backup": "Write the whole memory into one file that can be checked.",
    "restore": "Make a vault of a backup, in a new place.",
    "reindex": "Build the search index anew.",
    "cron": "Have the heartbeat run by itself.",
    "completions": "Print the completion script of a shell.",
    "schema": "Print the JSON Schema of what a verb answers.",
}

ALIASES = {"search": "recall", "add": "remember"}


def load(name: str) -> Command | Group:
    """Import one verb's module; the verb is a command, or a group of commands by the word that follows."""
    verb: Command | Group = import_module(f"clawmem.faces.verbs.{name}").VERB
    return verb


def help_of(command: Command, verb: str = "") -> str:
    """What `--help` says of a command: the verb's line of help, if it is no command of a group, then its docstring."""
    from inspect import cleandoc  # slow to import, and only help needs it

    return "\n\n".join(filter(None, (VERBS.get(verb, ""), cleandoc(command.function.__doc__ or ""))))
