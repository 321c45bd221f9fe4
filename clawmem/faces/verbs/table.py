"""The table of verbs: what each is called, where it lives, and its line of help."""

from typing import NamedTuple


class Verb(NamedTuple):
    """A verb's module below `clawmem.faces.verbs` and its one line of help; a `plain` one has a table of parameters, so
    that its plain calls need no Typer."""

    module: str
    help: str
    plain: bool = False


VERBS: dict[str, Verb] = {
    "init": Verb("init", "Make a new vault."),
    "status": Verb("status", "Say which vault this is and what is in it."),
    "remember": Verb("remember", "Keep a fact (also: add).", plain=True),
    "recall": Verb("recall", "Find facts for a question (also: search).", plain=True),
    "context": Verb("context", "Write what an agent should know, within a budget of tokens.", plain=True),
    "show": Verb("show", "Show one fact whole."),
    "list": Verb("list", "List facts."),
    "supersede": Verb("supersede", "Replace a fact by a newer one."),
    "retract": Verb("retract", "Withdraw a fact that was never true."),
    "revoke": Verb("revoke", "Withdraw everything that came from one origin."),
    "merge": Verb("merge", "Join two or more facts into one richer fact."),
    "link": Verb("link", "Connect two facts."),
    "graph": Verb("graph", "Walk the links between facts and entities."),
    "note": Verb("note", "Write a line in the daily note."),
    "ingest": Verb("ingest", "Take events into the ledger, verbatim."),
    "synthesize": Verb("synthesize", "Write down what a day taught, and what matters most."),
    "promote": Verb("promote", "Lift the facts of a day that are worth thirty days."),
    "heartbeat": Verb("heartbeat", "Learn from new events and keep the vault in order."),
    "review": Verb("review", "Decide about what waits for a person."),
    "tier": Verb("tier", "Say how hot a fact is, and why."),
    "log": Verb("log", "Show the history of the vault, an entity or a fact."),
    "why": Verb("why", "Show where a fact comes from and what became of it."),
    "diff": Verb("diff", "Show which facts changed between two points in time."),
    "undo": Verb("undo", "Take one change back, with a new commit."),
    "redact": Verb("redact", "Take a secret out of all history."),
    "entity": Verb("entity", "Make, list, show, move, archive and rename entities."),
    "agent": Verb("agent", "Make, list and show agents and their workspaces."),
    "config": Verb("config", "Read and change settings."),
    "doctor": Verb("doctor", "Check every file and every rule of the vault."),
    "sync": Verb("sync", "Take in what other machines learned, and give what this one did.", plain=True),
    "backup": Verb("backup", "Write the whole memory into one file that can be checked."),
    "restore": Verb("restore", "Make a vault of a backup, in a new place."),
    "reindex": Verb("reindex", "Build the search index anew."),
    "cron": Verb("cron", "Have the heartbeat run by itself."),
    "completions": Verb("completions", "Print the completion script of a shell."),
}

ALIASES = {"search": "recall", "add": "remember"}
