"""What a verb is: one function that answers, whose arguments are its parameters, the shape of its answer, and examples.

The function is given a `Call` and gives back an `Answer`: it prints nothing and asks no question itself. The Typer
command line, the reader of plain calls, completion, help, the manual and JSON Schemas are made from the command.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import IO, TYPE_CHECKING, Any

from clawmem.errors import DONE, PARTIAL, PERSON_RUNS, IncompleteAnswer, NotPermitted
from clawmem.faces.parts.parameters import COMMON, Parameter, parameters_of
from clawmem.model.named_tuple import NamedTuple

if TYPE_CHECKING:
    from clawmem.model.progress import OnProgress
    from clawmem.runtime import Runtime

Shape = Any
"""The shape of an answer's data, written as in `clawmem.faces.parts.shapes`."""

# Every command loads this module: annotations of functions are text, which costs nothing, and those of tuples short.
_Record = Mapping[str, Any]


class Table:
    """Rows for people: a table on a terminal, separated by tabs elsewhere."""

    def __init__(self, columns: "Sequence[str]", rows: "Sequence[Sequence[str]]") -> None:
        self.columns = columns
        self.rows = rows


class Fields:
    """Named values for people, in their order: aligned on a terminal, and a line each elsewhere, behind a first one if
    there is a `head`."""

    def __init__(self, pairs: "Iterable[tuple[str, str]]", head: str = "") -> None:
        self.pairs = tuple(pairs)
        self.head = head

    def __iter__(self) -> "Iterator[str]":
        if self.head:
            yield self.head
        for name, value in self.pairs:
            yield f"{name:<9} {value}"


class Answer(NamedTuple):
    """The result of a command: `data` for programs; `lines` for people; `notices` for remarks; `talk` for remarks that
    the data already contains, such as that nothing was found. `is_report` says that the lines only report work, so that
    --quiet leaves them out of a command that succeeded. In place of `data`, and of each value in it, there may be a
    function that makes it, if that is expensive."""

    data: _Record | Callable[[], _Record]
    lines: Iterable[str] | Table = ()
    notices: Sequence[str] = ()
    exit_code: int = DONE
    talk: Sequence[str] = ()
    is_report: bool = False

    def plain(self) -> "list[str]":
        """The lines as text; those of a table have tabs between their cells."""
        return ["\t".join(row) for row in self.lines.rows] if isinstance(self.lines, Table) else list(self.lines)

    def made(self) -> _Record:
        """The data; values that are functions are not called."""
        return self.data() if callable(self.data) else self.data

    def finished(self, runtime: "Runtime") -> "Answer":
        """The answer with what the settings have wrong; PARTIAL in place of DONE where a notice says what it lacks."""
        notices = (*self.notices, *runtime.notices())
        lacks = self.exit_code == DONE and any(isinstance(notice, IncompleteAnswer) for notice in notices)
        return self._replace(notices=notices, exit_code=PARTIAL if lacks else self.exit_code)


class Stream:
    """An answer that is bytes: `what` names them, and `write` writes them and then says what was written."""

    def __init__(self, what: str, write: "Callable[[IO[bytes]], Answer]") -> None:
        self.what = what
        self.write = write


class Feed(NamedTuple):
    """An answer of any length: records, each of which is printed as one line of JSON as soon as it is there, also with
    --json. With `words`, people get the line that it makes of a record instead. `end` is called behind the last record,
    also if nobody reads on, and returns notices and the exit code."""

    records: Iterable[_Record]
    words: Callable[[_Record], str] | None = None
    end: Callable[[], Answer] | None = None


class InnerRun(NamedTuple):
    """The exit code of a command line that another command ran, and what it wrote to stdout."""

    exit_code: int
    text: str


class Call:
    """One call of a command, with its access to the machine. This class shows nothing and asks no question; the command
    line has a subclass of it."""

    def __init__(self, runtime: "Runtime") -> None:
        self.runtime = runtime

    def progress(self) -> "AbstractContextManager[OnProgress | None]":
        """A function that shows how far a long command is, or None if that is not shown."""
        return nullcontext()

    def confirmed(self, lines: "Iterable[str]", question: str) -> bool:
        """Whether a person read the lines and answered yes; False if no person can be asked. Raises KeyboardInterrupt
        if the answer was no."""
        return False

    def stdin(self) -> "IO[bytes] | None":
        """The input on stdin, or None if there is none."""
        return None

    def answered(self, lines: "Iterable[str]", question: str) -> bool:
        """Ask a person who can say no; False where nobody can be asked."""
        return False

    def edited(self, text: str) -> "str | None":
        """Return a text as a person left it in an editor, on one line; None where no person can be asked."""
        return None

    def serve_tools(self) -> int:
        """Serve verbs as tools on stdin and stdout until the input ends; returns the number of messages."""
        raise NotImplementedError

    def serve_clients(self, host: str, port: int, public_url: "str | None", notes: "Sequence[str]") -> None:
        """Serve verbs as tools over HTTP until the end. A person who looks on gets the notes."""
        raise NotImplementedError

    def wants_data(self) -> bool:
        """Whether a program reads the answer. Only at a command line may a person read it instead."""
        return True

    def serve_pages(self, serve: "Callable[[bool, Callable[[str], None]], None]") -> None:
        """Serve pages on loopback until the end. `serve` gets whether a person looks on, and what tells the address."""
        raise NotImplementedError

    def decide_proposals(self, kind: "str | None") -> Answer:
        """Ask a person at a terminal about each open proposal, of one kind if given."""
        raise NotImplementedError

    def run_inner(self, words: "Sequence[str]", runtime: "Runtime", data: bytes) -> InnerRun:
        """Run a command line of a suite in the vault of another runtime, with `given` on stdin."""
        raise NotImplementedError


class Command(NamedTuple):
    """One verb, or one command of a group of verbs. The function takes a `Call` and the parameters, each an argument
    that is annotated with its type and its `Parameter`, and returns an `Answer` or a `Stream`; what its docstring says
    is shown by `--help`, and so are the examples, each a whole command line. `records` names the keys of the data that
    hold its records, for `--jsonl` and `--fields` (`clawmem.faces.parts.shapes`); without such a key, the data is the
    one record. `within` opens a context in which the command line runs the function and prints the answer. `person`
    says why only a person may run the command, in words that follow its name; a function of the values says it, or
    nothing, for one call."""

    function: Callable[..., Any]
    shape: Shape
    examples: tuple[str, ...]
    records: tuple[str, ...] = ()
    within: Callable[[], AbstractContextManager[None]] = nullcontext
    person: str | Callable[[_Record], str] = ""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters, in the order of the function's arguments."""
        return parameters_of(self.function)


Group = Mapping[str, Command]
"""A verb that is followed by another word: its commands by that word, in the order in which they are shown."""


def check_person(command: Command, verb: str, record: _Record, agent: "str | None") -> None:
    """Raise NotPermitted if these values make a call of a person, and an agent makes it. `verb` names the command."""
    if agent is not None and command.person:
        why = command.person if isinstance(command.person, str) else command.person(record)
        if why:
            refusal = f"`clawmem {verb}` {why}, so only a person may run it, and {agent} is an agent."
            raise NotPermitted(refusal, PERSON_RUNS)


def all_parameters(command: Command) -> "tuple[Parameter, ...]":
    """The command's own parameters, then the common ones."""
    own = {parameter.name for parameter in command.parameters}
    return (*command.parameters, *(parameter for parameter in COMMON if parameter.name not in own))


def divided(
    command: Command, before: "Mapping[str, Any]", record: "Mapping[str, Any]"
) -> "tuple[dict[str, Any], dict[str, Any]]":
    """The values for the command's function, and those of the common options, where `before` holds what common options
    were given before the verb. There, an option is always the common one; behind the verb, it is the command's own if
    the command has one of that name, and a common one that is given again counts."""
    own = {parameter.name: record[parameter.name] for parameter in command.parameters}
    common = {}
    for parameter in COMMON:
        value = parameter.default if parameter.name in own else record.get(parameter.name, parameter.default)
        common[parameter.name] = before.get(parameter.name, parameter.default) if value == parameter.default else value
    return own, common
