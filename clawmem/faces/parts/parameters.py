"""The parameters of commands: their form, the options of every command, and those that several commands share."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any

from clawmem.model.facts.fact import TRUSTS
from clawmem.model.facts.reach import EVERY_SCOPE, SCOPES
from clawmem.model.named_tuple import NamedTuple


class Parameter(NamedTuple):
    """An argument, or with `flags` an option. It stands in the annotation of the argument of the verb's function that
    gets its value, `limit: Annotated[int | None, Parameter("The maximum number.", ("--limit",))]`: the last four fields
    are read from there (`parameters_of`).

    `least` and `most` bound a number. `choices` are all the words it takes, maybe each with its meaning; `{choices}` in
    its help is replaced by them. `completes` names the kind of value that a shell offers where there is no such list
    (`clawmem.faces.cli.complete`). Of a `stdin` one, the value `-` stands for the text that comes in on stdin.
    `kind` is str, int, float or bool, and a `repeated` one gives a list.
    """

    help: str
    flags: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    metavar: str | None = None
    choices: tuple[str, ...] | Mapping[str, str] = ()
    completes: str = ""
    stdin: bool = False
    default: Any = None
    name: str = ""
    kind: type = str
    required: bool = False
    repeated: bool = False

    @property
    def about(self) -> str:
        """The help, with the choices in it."""
        *words, last = self.choices or ("",)
        return self.help.replace("{choices}", f"{', '.join(words)} or {last}" if words else last)


_KINDS: Mapping[Any, tuple[type, bool, bool]] = {
    str: (str, True, False), str | None: (str, False, False), bool: (bool, False, False),
    int: (int, True, False), int | None: (int, False, False),
    float: (float, True, False), float | None: (float, False, False),
    list[str]: (str, True, True), list[str] | None: (str, False, True),
}  # fmt: skip
"""Of each type that an argument of a verb's function may have: its kind, whether it is required and repeated."""


@cache
def parameters_of(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Return the parameters of a verb, in the order of its function's arguments."""
    return tuple(_read(function))


def _read(function: Callable[..., Any]) -> Iterator[Parameter]:
    names = function.__globals__
    for name, text in function.__annotations__.items():
        if name in ("call", "return"):
            continue
        # As text, an annotation costs nothing to the commands that do not need it.
        hint = eval(text, names) if isinstance(text, str) else text
        kind, required, repeated = _KINDS[hint.__origin__]
        (parameter,) = hint.__metadata__
        yield parameter._replace(
            name=name,
            kind=kind,
            default=False if kind is bool else parameter.default,
            required=required and parameter.default is None,
            repeated=repeated,
        )


def _common(
    vault: Annotated[str | None, Parameter("The vault's folder.", ("--vault",), metavar="PATH", completes="file")],
    agent: Annotated[
        str | None, Parameter("The agent for which the command runs.", ("--agent",), metavar="ID", completes="agent")
    ],
    viewer: Annotated[
        str | None,
        Parameter("Show only what this person may see, by governance/access.yaml.", ("--viewer",), metavar="NAME"),
    ],
    json: Annotated[bool, Parameter("Print one JSON document on stdout.", ("--json",))],
    jsonl: Annotated[bool, Parameter("Print one JSON record a line.", ("--jsonl",))],
    fields: Annotated[
        str | None,
        Parameter("Print only these fields of each record, such as id,fact.", ("--fields",), metavar="NAMES"),
    ],
    quiet: Annotated[bool, Parameter("Print only the result and errors.", ("--quiet",))],
    color: Annotated[
        str | None,
        Parameter(
            "Draw the answer with colours: auto (on a terminal), always, or never.",
            ("--color",),
            metavar="WHEN",
            choices=("auto", "always", "never"),
        ),
    ],
) -> None: ...


COMMON = parameters_of(_common)
"""The options that every command takes, unless it has a parameter of that name of its own."""

FACT = Parameter("The id of the fact, a unique prefix, or words that only this fact has.", completes="fact")
SINCE = Parameter("Only what was said or recorded on this day or later.", ("--since",))
UNTIL = Parameter("Only what was said or recorded up to the end of this day.", ("--until",))
CATEGORY = Parameter("One word, such as preference.", ("--category", "-c"), completes="category")
CONFIDENCE = Parameter("Confidence, 0 to 1.", ("--confidence",))
TAGS = Parameter("A topic, or another word to ask for it by; may be repeated.", ("--tag", "-t"))
IMPORTANCE = Parameter("Importance, 0 to 1.", ("--importance",))
SOURCE = Parameter("The source of the fact.", ("--source",))
EVIDENCE = Parameter("The quote that is the evidence, verbatim.", ("--evidence",))
TRUST = Parameter("{choices}.", ("--trust",), choices=TRUSTS)
REASON = Parameter("The reason.", ("--reason",))
VALID_TO = Parameter("The day, month or year with which it ends, included, or the time of its end.", ("--valid-to",))

OF_ENTITY = Parameter("Only facts of this entity.", ("--entity", "-e"), completes="entity")
OF_CATEGORY = Parameter("Only facts of this category.", ("--category", "-c"), completes="category")
WITH_TAG = Parameter("Only facts with this tag.", ("--tag", "-t"))
WORKFLOW = Parameter("Only what this workflow sees (CLAWMEM_WORKFLOW).", ("--workflow",), metavar="ID")
SCOPE = Parameter(
    "The narrowest scope: {choices}. Without scope, workflow and project, a query in a repository hides the facts of"
    " other projects; `all` shows them.",
    ("--scope",),
    choices=(*SCOPES, EVERY_SCOPE),
)
PROJECT = Parameter(
    "The project (CLAWMEM_PROJECT); the default is that of this folder's repository.",
    ("--project",),
)
AS_OF = Parameter("Facts that were true then, as known now; a month or year means its end.", ("--as-of",))
AT = Parameter("The state of the vault at this commit or date; a day, month or year means its end.", ("--at",))
SUPERSEDED = Parameter("Include replaced and withdrawn facts, labelled.", ("--include-superseded",))
LIMIT = Parameter("The maximum number of facts.", ("--limit", "-n"), least=1)

DATE = Parameter("The day.", ("--date",), default="today")
DRY_RUN = Parameter("Show what would be done; write nothing.", ("--dry-run",))
EXPLAIN = Parameter("List every candidate with its verdict.", ("--explain",))
MODEL = Parameter("The model for this run, instead of the one in the settings.", ("--model",), metavar="NAME")
FILE = Parameter("A file, or - for stdin.", completes="file")
INSIDE_REPOSITORY = Parameter("Allow a folder inside another git repository.", ("--inside-repository",))
