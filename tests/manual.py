"""The generated parts of docs/, the list of MCP tools, and the plugin for Claude Code, made from tables and docstrings.
`make docs` writes them."""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from clawmem import errors
from clawmem.faces.mcp.tools import tool_list
from clawmem.faces.parts.command import Command
from clawmem.faces.parts.parameters import Parameter
from clawmem.faces.verbs.table import TOPICS, VERBS, help_of, load
from clawmem.heartbeat.steps import all_steps
from clawmem.model.settings.settings import OF_AGENTS, SETTINGS
from clawmem.model.settings.values import Setting, describe_values
from tests.setup.plugin import plugin_files

ROOT = Path(__file__).parent.parent
TOOL_LIST = ROOT / "clawmem" / "faces" / "mcp" / "tools.json"
PLUGIN = ROOT / "plugins"
PAGE = ROOT / "docs" / "commands.md"
MAN_PAGE = ROOT / "docs" / "clawmem.1"
_BLOCK = re.compile(r"<!-- begin: (?P<name>[a-z ]+) -->\n(?P<body>.*?)<!-- end -->\n", re.DOTALL)


def commands() -> dict[str, Command]:
    """Every command by its words, such as `recall` and `entity move`, in the order of the table of verbs."""
    found: dict[str, Command] = {}
    for name in VERBS:
        verb = load(name)
        found.update(
            {name: verb} if isinstance(verb, Command) else {f"{name} {word}": command for word, command in verb.items()}
        )
    return found


def reference(name: str, command: Command) -> str:
    """A command's part of the manual: what it is, its usage line, its parameters, what they may be, examples."""
    words = " ".join(help_of(command, name).split())
    rows = [f"| {_shown(parameter)} | {parameter.about} |\n" for parameter in command.parameters]
    parts = [f"{words}\n\n    {_usage(name, command)}\n", _table("", rows)]
    parts += [_choices(parameter) for parameter in command.parameters if isinstance(parameter.choices, Mapping)]
    usage = _usage(name, command)
    parts.append("".join(f"    {example}\n" for example in command.examples if example != usage))
    return "\n".join(filter(None, parts))


def blocks(page: str) -> dict[str, str]:
    """The generated parts of the manual by command."""
    return {found["name"]: found["body"] for found in _BLOCK.finditer(page)}


def with_blocks(page: str) -> str:
    """Return the manual with each generated part updated. A new command is added after the other commands of its verb,
    and a new verb at the end."""
    known = {
        name: f"<!-- begin: {name} -->\n{reference(name, command)}<!-- end -->\n"
        for name, command in commands().items()
    }
    page = _BLOCK.sub(lambda found: known.get(found["name"], ""), page)
    for name, block in known.items():
        if block not in page:
            verb = name.split()[0]
            others = [found for found in _BLOCK.finditer(page) if found["name"].split()[0] == verb]
            place = others[-1].end() if others else len(page)
            page = page[:place] + ("\n" if others else f"\n### {verb}\n\n") + block + page[place:]
    return page


def tables() -> dict[tuple[str, str], str]:
    """The generated tables of other pages, by the page and the name of the part."""
    return {
        ("vault-format.md", "settings"): settings_table("", SETTINGS),
        ("vault-format.md", "settings of agents"): settings_table("agents.ID.", OF_AGENTS),
        ("glossary.md", "classes"): class_tables(ROOT / "clawmem"),
        ("internals.md", "steps"): steps_table(),
        ("exit-codes.md", "error codes"): error_table(),
    }


def with_table(page: str, name: str, table: str) -> str:
    """Return a page with its generated part of that name updated."""
    before, begin, rest = page.partition(f"<!-- begin: {name} -->\n")
    _, end, after = rest.partition("<!-- end -->\n")
    assert begin and end, f"the page has no part {name}"
    return "".join((before, begin, table, end, after))


def settings_table(prefix: str, settings: Iterable[Setting]) -> str:
    """Settings with their values, their defaults and their meaning."""
    rows = (
        f"| `{prefix}{setting.key}` | {describe_values(setting)} | {_default(setting)} | {setting.about} |\n"
        for setting in settings
    )
    return "".join(("| key | takes | default | meaning |\n|---|---|---|---|\n", *rows))


def steps_table() -> str:
    """The steps of the heartbeat in the order in which they run, and when each is due."""
    rows = (f"| `{step.name}` | {step.description} | {step.due.description} |\n" for step in all_steps())
    return "".join(("| step | what it does | due |\n|---|---|---|\n", *rows))


def error_table() -> str:
    """Each code of an error with its exit code, and what the docstrings of its classes say."""
    meanings: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    for failure in vars(errors).values():
        if isinstance(failure, type) and issubclass(failure, errors.ClawmemError) and "code" in vars(failure):
            named = errors.Refused if failure is errors.ClawmemError else failure
            meanings[failure.exit_code, failure.code].append(_first_sentence(named.__doc__))
    # The three that are no ClawmemError: faces/cli/boundary.py and app.py make them.
    meanings[errors.USAGE, "usage"] = ["There is no such verb or option, or a value is out of range"]
    meanings[errors.BUG, "bug"] = ["An error that clawmem did not foresee"]
    meanings[errors.INTERRUPTED, "interrupted"] = ["Stopped with Ctrl-C"]
    rows = (f"| `{code}` | {number} | {'. '.join(texts)} |\n" for (number, code), texts in sorted(meanings.items()))
    return "".join(("| error code | exit code | meaning |\n|---|---|---|\n", *rows))


def _first_sentence(docstring: str | None) -> str:
    return " ".join((docstring or "").split()).partition(". ")[0].rstrip(".")


def class_tables(root: Path) -> str:
    """Each public class that at least two top-level packages import, with the first sentence of its docstring."""
    trees = {path.relative_to(root): ast.parse(path.read_text(encoding="utf-8")) for path in root.rglob("*.py")}
    importers: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for path, tree in trees.items():
        for node in _statements(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for name in node.names:
                    importers[node.module, name.name].add(path.parts[0])
    rows: defaultdict[str, set[str]] = defaultdict(set)
    for path, tree in trees.items():
        parts = path.with_suffix("").parts
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and len(importers[".".join(("clawmem", *parts)), node.name]) >= 2:
                rows[parts[0]].add(f"| `{node.name}` | {_first_sentence(ast.get_docstring(node))} |\n")
    return "\n".join(
        f"### clawmem.{package}\n\n| class | what it is |\n|---|---|\n{''.join(sorted(rows[package]))}"
        for package in sorted(rows)
    )


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and the statements in it; expressions are nine in ten of a tree."""
    yield node
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        inner = getattr(node, field, ())
        for each in inner if isinstance(inner, list) else ():
            yield from _statements(each)


def man_page() -> str:
    """The man page: the verbs by topic, and where the rest is said."""

    def roff(text: str) -> str:
        return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", r"\e").replace("-", r"\-").replace("`", ""), flags=re.M)

    lines = [
        '.TH CLAWMEM 1 "" clawmem "User Commands"', ".SH NAME", r"clawmem \- a memory for AI agents, in files and git",
        ".SH SYNOPSIS", r".B clawmem", r"[\fIOPTIONS\fR] \fIVERB\fR [\fIARGUMENTS\fR]", ".SH DESCRIPTION",
        roff("clawmem keeps facts as plain text in a git repository of their own, a vault. Each change is one commit."),
        roff("`clawmem help VERB` says what a verb takes; `clawmem --help` lists the options of all verbs."),
    ]  # fmt: skip
    for topic, verbs in TOPICS.items():
        lines.append(f'.SH "{topic.upper()}"')
        for verb in verbs.split():
            lines += [".TP", rf"\fB{roff(verb)}\fR", roff(VERBS[verb])]
    places = {
        "CLAWMEM_VAULT": "The vault, where no `--vault` names one and none is in the working folder.",
        "CLAWMEM_AGENT": "The agent who calls.",
        "~/.clawmem": "The vault of this user.",
        "~/.config/clawmem": "The settings of this user, and which vaults were accepted on this machine.",
    }
    lines.append(".SH ENVIRONMENT AND FILES")
    for name, meaning in places.items():
        lines += [".TP", rf"\fB{roff(name)}\fR", roff(meaning)]
    lines += [
        ".SH EXIT STATUS",
        roff("0 for success; docs/exit-codes.md lists the others."),
        ".SH SEE ALSO",
        r"\fBgit\fR(1)",
    ]
    return "\n".join(lines) + "\n"


def tool_file() -> str:
    """The list of MCP tools as its file has it."""
    return json.dumps(tool_list(), indent=1) + "\n"


def _default(setting: Setting) -> str:
    text = str(setting.default).lower() if setting.kind == "bool" else str(setting.default)
    return text and f"`{text}`"


def _usage(name: str, command: Command) -> str:
    options = ["[OPTIONS]"] if any(parameter.flags for parameter in command.parameters) else []
    return " ".join(("clawmem", name, *_arguments(command), *options))


def _arguments(command: Command) -> Iterator[str]:
    for parameter in command.parameters:
        if not parameter.flags:
            word = _word(parameter) + ("..." if parameter.repeated else "")
            yield word if parameter.required else f"[{word}]"


def _shown(parameter: Parameter) -> str:
    if not parameter.flags:
        return f"`{_word(parameter)}`"
    kind = {int: "N", float: "X", str: "TEXT"}.get(parameter.kind)
    value = f" {parameter.metavar or kind}" if kind else ""
    *short, last = sorted(parameter.flags, key=len)
    return "".join(f"`{flag}`, " for flag in short) + f"`{last}{value}`"


def _word(parameter: Parameter) -> str:
    return (parameter.metavar or parameter.name.rstrip("_").upper()).strip("[]").replace("|", " or ")


def _choices(parameter: Parameter) -> str:
    assert isinstance(parameter.choices, Mapping)
    rows = [f"| `{word}` | {meaning} |\n" for word, meaning in parameter.choices.items()]
    return _table(f"`{max(parameter.flags, key=len)}`", rows)


def _table(head: str, rows: list[str]) -> str:
    return "".join((f"| {head} | |\n|---|---|\n".replace("|  |", "| |"), *rows)) if rows else ""


if __name__ == "__main__":
    PAGE.write_text(with_blocks(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    for (page, name), table in tables().items():
        path = ROOT / "docs" / page
        path.write_text(with_table(path.read_text(encoding="utf-8"), name, table), encoding="utf-8")
    for name, text in plugin_files().items():
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(text, encoding="utf-8")
    MAN_PAGE.write_text(man_page(), encoding="utf-8")
    TOOL_LIST.write_text(tool_file(), encoding="utf-8")
