"""The parameters of commands: their form, the options of every command, and those that several commands share."""

from collections.abc import Mapping
from typing import Any

from clawmem.model.facts.fact import TRUSTS
from clawmem.model.facts.reach import EVERY_SCOPE, SCOPES
from clawmem.model.named_tuple import NamedTuple


class Parameter(NamedTuple):
    """An argument, or with `flags` an option; its values reach the verb's function under `name`.

    `kind` is str, int, float or bool, `least` and `most` bound a number, and a `repeated` one gives a list. `choices`
    are all the words it takes, maybe each with its meaning; `{choices}` in its help is replaced by them. `completes`
    names the kind of value that a shell offers where there is no such list (`clawmem.faces.cli.complete_values`). Of a
    `stdin` one, the value `-` stands for the text that comes in on stdin.
    """

    name: str
    help: str
    flags: tuple[str, ...] = ()
    kind: type = str
    default: Any = None
    required: bool = False
    repeated: bool = False
    least: int | None = None
    most: int | None = None
    metavar: str | None = None
    choices: tuple[str, ...] | Mapping[str, str] = ()
    completes: str = ""
    stdin: bool = False

    @property
    def about(self) -> str:
        """The help, with the choices in it."""
        *words, last = self.choices or ("",)
        return self.help.replace("{choices}", f"{', '.join(words)} or {last}" if words else last)


COMMON = (
    Parameter("vault", "The vault's folder.", ("--vault",), metavar="PATH", completes="file"),
    Parameter("agent", "The agent for which the command runs.", ("--agent",), metavar="ID", completes="agent"),
    Parameter("json", "Print one JSON document on stdout.", ("--json",), bool, False),
    Parameter("jsonl", "Print one JSON record a line.", ("--jsonl",), bool, False),
    Parameter("fields", "Print only these fields of each record, such as id,fact.", ("--fields",), metavar="NAMES"),
    Parameter("quiet", "Print only the result and errors.", ("--quiet",), bool, False),
    Parameter(
        "color",
        "Draw the answer with colours: auto (on a terminal), always, or never.",
        ("--color",),
        metavar="WHEN",
        choices=("auto", "always", "never"),
    ),
)
"""The options that every command takes, unless it has a parameter of that name of its own."""

FACT = Parameter("fact", "The id of the fact, or a unique prefix.", required=True, completes="fact")
SINCE = Parameter("since", "Only what was said or recorded on this day or later.", ("--since",))
UNTIL = Parameter("until", "Only what was said or recorded up to the end of this day.", ("--until",))
CATEGORY = Parameter("category", "One word, such as preference.", ("--category", "-c"), completes="category")
CONFIDENCE = Parameter("confidence", "Confidence, 0 to 1.", ("--confidence",), float)
IMPORTANCE = Parameter("importance", "Importance, 0 to 1.", ("--importance",), float)
SOURCE = Parameter("source", "The source of the fact.", ("--source",))
EVIDENCE = Parameter("source_text", "The quote that is the evidence, verbatim.", ("--evidence",))
TRUST = Parameter("trust", "{choices}.", ("--trust",), choices=TRUSTS)
REASON = Parameter("reason", "The reason.", ("--reason",))

OF_ENTITY = Parameter("entity", "Only facts of this entity.", ("--entity", "-e"), completes="entity")
OF_CATEGORY = Parameter("category", "Only facts of this category.", ("--category", "-c"), completes="category")
WITH_TAG = Parameter("tag", "Only facts with this tag.", ("--tag", "-t"))
WORKFLOW = Parameter("workflow", "Only what this workflow sees (CLAWMEM_WORKFLOW).", ("--workflow",), metavar="ID")
SCOPE = Parameter(
    "scope",
    "The narrowest scope: {choices}. Without scope, workflow and project, a query in a repository hides the facts of"
    " other projects; `all` shows them.",
    ("--scope",),
    choices=(*SCOPES, EVERY_SCOPE),
)
PROJECT = Parameter(
    "project",
    "The project (CLAWMEM_PROJECT); the default is the remote of this folder's repository, or the folder.",
    ("--project",),
)
AS_OF = Parameter("as_of", "Facts that were true then, as known now; a month or year means its end.", ("--as-of",))
AT = Parameter("at", "The state of the vault at this commit or date; a day, month or year means its end.", ("--at",))
SUPERSEDED = Parameter(
    "include_superseded", "Include replaced and withdrawn facts, labelled.", ("--include-superseded",), bool, False
)
LIMIT = Parameter("limit", "The maximum number of facts.", ("--limit", "-n"), int, least=1)

NARRATIVE = Parameter(
    "narrative", "Let the model answer in sentences that cite the ids of their facts.", ("--narrative",), bool, False
)
DATE = Parameter("date", "The day.", ("--date",), default="today")
DRY_RUN = Parameter("dry_run", "Show what would be done; write nothing.", ("--dry-run",), bool, False)
EXPLAIN = Parameter("explain", "List every candidate with its verdict.", ("--explain",), bool, False)
MODEL = Parameter("model", "The model for this run, instead of the one in the settings.", ("--model",), metavar="NAME")
FILE = Parameter("file", "A file, or - for stdin.", required=True, completes="file")
INSIDE_REPOSITORY = Parameter(
    "inside_repository", "Allow a folder inside another git repository.", ("--inside-repository",), bool, False
)
