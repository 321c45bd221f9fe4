"""No text takes long: every pattern in the package, and what uses them, grows about linearly with what it reads."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import random
import re
import re._constants as kinds  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import signal
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import clawmem
from clawmem.learning.attribution import forgetting
from clawmem.learning.attribution import quoted as fiction
from clawmem.learning.rules.clauses import LONGEST_CLAUSE
from clawmem.learning.rules.language import CODES, Language, language
from clawmem.learning.rules.rules import LONGEST_SENTENCE
from clawmem.learning.rules.rules import statements as extract
from clawmem.memory import allowed_commands as checked_start
from clawmem.memory.facts import redact as leftovers
from clawmem.model.facts import fact, gates
from clawmem.model.facts.catalog import Catalog
from clawmem.model.language import date_words, languages, question
from clawmem.model.language.date_words import find_dates
from clawmem.model.pages.tokens import token_bound
from clawmem.model.records.event import Event
from clawmem.model.safety import written_forms
from clawmem.model.safety.injection import mood as injection_mood
from clawmem.model.safety.injection import rules as injection_rules
from clawmem.model.safety.injection.find import find_injection
from clawmem.model.safety.injection.mood import addresses_reader
from clawmem.model.safety.recalled_text import is_recalled, mask_recalled
from clawmem.model.safety.secrets import looks as secret_looks
from clawmem.model.safety.secrets import place_rules
from clawmem.model.safety.secrets import places as secret_places
from clawmem.model.safety.secrets import rules as secret_rules
from clawmem.model.safety.secrets import search as secret_search
from clawmem.model.safety.secrets import words as secret_words
from clawmem.model.safety.secrets.find import find_secrets
from clawmem.model.search import meant
from clawmem.model.search.event_ranking import SHORT_QUESTION, is_question
from clawmem.model.search.passage import search_texts
from clawmem.model.transcripts.formats import read, shape_of
from clawmem.vault.history.git_merges import _fits

SHAPES = (
    *("a A 1 0 _ \" ' * # “ ” „ « ` ( ) [ ] { } < > - . , : ; / \\ = | ! ? … @ % & é 我 😀 \u0301 \u200b".split()),
    *(" ", "\n", "\t", "\r\n", "\0", "\"'", "[]", "{}", "* ", "# ", ". ", ", ", ": ", " - ", "a ", "A ", "a, ", "1 "),
    *("a.", "a-", "a_", "a@", "@a", "'s ", "a's ", '\\"', "00:", "%20", "a=b ", '"a" ', "“a” ", "- a\n", "> a\n"),
    *("1. a\n", "# a\n", "| a ", "```\n", "~~~", "<!-- ", "</a>", "![a](b ", "https://a.b/c?d=", "2026-11-21 "),
    *("I ", "I'm ", "my ", "and I ", "you ", "please ", "ok ", "said ", "so I ", "when I ", "from a to b ", "to "),
    *("I live in Oslo. ", '"I like tea." ', 'She said: "I like it. ', "User: hi\nAssistant: ho\n", "ignore the "),
    *('{"name": "Jane", "tags": ["a"]}, ', '"key":"I live in Oslo",', "password: ", "aGVsbG8gd29y", "[redacted]"),
    *("write ", "on Monday ", "for 3 years ", "system: ", "you are now ", "agent ", "send the ", "Jane "),
    *(" (a)", " now", ", for ", " has lived in"),
)
_SMALL, _LARGE = 4_800, 19_200
# Three quarters of the way from linear to quadratic, where four times the text is read; less says nothing.
_MOST_GROWTH, _MEASURABLE, _TICK = 9.0, 0.1, 0.01
# For each character. What takes longer fails, however it grows: it is stopped then, so that nobody knows.
_LONGEST_SECONDS = 1e-4


class Used(NamedTuple):
    """A pattern, the module it is in, and whether it is only ever held against the beginning of a text."""

    pattern: re.Pattern[Any]
    module: str
    at_start: bool


class _TooLong(Exception):
    pass


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _taken(act: Callable[[str], object], text: str, most: float) -> float:
    """The CPU seconds that an act takes; `most` where it takes longer."""
    start = time.process_time()
    try:
        with _limited(most):
            act(text)
    except _TooLong:
        return most
    return time.process_time() - start


def _grows(act: Callable[[str], object], shape: str, small: int, large: int, head: str = "") -> str | None:
    """What says that four times the text takes much more than four times as long, or that it takes too long to be
    measured to its end; None where neither is so."""
    texts = [f"{head}{(shape * (size // len(shape) + 1))[:size]}\0x" for size in (small, large)]
    most = _LONGEST_SECONDS * large
    if _taken(act, texts[1], most) < _MEASURABLE:
        return None
    # The machine may have been busy: once more, the best of some.
    much = min(_taken(act, texts[1], most) for _ in range(2))
    if much >= most:
        return f"{head + shape!r}: more than {most:.1f} s for {large}"
    little = max(_TICK, min(_taken(act, texts[0], most) for _ in range(3)))
    if much < _MEASURABLE or much < _MOST_GROWTH * little:
        return None
    return f"{head + shape!r}: {little:.4f} s for {small}, {much:.4f} s for {large}"


@cache
def _modules() -> dict[str, Any]:
    found = pkgutil.walk_packages(clawmem.__path__, "clawmem.")
    return {info.name: importlib.import_module(info.name) for info in found if not info.name.endswith("__main__")}


@cache
def _source(module: str) -> str:
    return Path(str(_modules()[module].__file__)).read_text()


@cache
def _nodes(module: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(_source(module))))


def _strings(module: str) -> list[str]:
    """Every text in a module that looks like a pattern."""
    texts = (constant.value for constant in _nodes(module) if isinstance(constant, ast.Constant))
    return [text for text in texts if isinstance(text, str) and re.search(r"\\[a-zA-Z]|\(\?|\[\^", text)]


# Where a pattern is made of what is only known when it runs: the patterns themselves, or one for a sample word.
MADE_LATER: dict[tuple[str, str], Callable[[], list[Any]]] = {
    ("clawmem.extensions.digest.phases", "join(words)"): lambda: [r"Jane\s+lives\s+in"],
    ("clawmem.extensions.wiki.web.notes", "*titles"): lambda: [r"`[^`]+`|(?<!\w)Jane(?!\w)"],
    ("clawmem.extensions.hub.contract", "shape['pattern']"): lambda: _of_the_contract(),
    ("clawmem.extensions.governance.principle", "source"): lambda: [r"\bprint\("],
    ("clawmem.model.pages.daily", "re.escape(why)"): lambda: [r"^<!-- hidden by prop_1: (.*) -->$"],
    ("clawmem.memory.allowed_commands", "names"): lambda: [row[1] for row in checked_start._FAMILIES],
    ("clawmem.memory.allowed_commands", "options"): lambda: [row[2] for row in checked_start._FAMILIES],
    ("clawmem.learning.reconciling.review", "re.escape(old)"): lambda: [r"(?<!\w)Jane(?!\w)"],
    ("clawmem.learning.reconciling.entities", "re.escape"): lambda: [r"\b(?:Jane|John)\b"],
    ("clawmem.learning.reconciling.round", "names"): lambda: [r"\b(?:boat|the boat)\b"],
    ("clawmem.learning.rules.language", "self.filled(source)"): lambda: _of_sentences(),
    ("clawmem.learning.rules.language", "''.join"): lambda: _of_clauses(),
    ("clawmem.learning.rules.language", "{name}="): lambda: [r"\{name=([a-z_]+)\}"],
    ("clawmem.learning.attribution.forgetting", "{_LEAD}{form}"): lambda: list(forgetting._FORMS),
    ("clawmem.learning.attribution.forgetting", "{any}"): lambda: [
        pattern.pattern for code in languages.EVERY for pattern in forgetting._forms_in(code)
    ],
    ("clawmem.extensions.exchange.foreign_memory", "re.escape(owner.split()[0])"): lambda: [r"(?<!\w)Greta(?!\w)"],
    ("clawmem.extensions.exchange.foreign_memory", "re.escape(subject)"): lambda: [r"(?<!\w)Jane(?!\w)"],
    ("clawmem.model.facts.fact", "words"): lambda: [row[1] for row in fact._BY_WORDS],
    ("clawmem.model.history.redaction", "lines"): lambda: [rb'^\{"id": "(?:fact_1|fact_2)",.*$'],
    ("clawmem.model.records.parsing", "re.escape(part)"): lambda: [r"""\s*['"]?Jane['"]?\s*:"""],
    ("clawmem.model.records.access", "names"): lambda: [r"(?<!\w)(?:Jane Doe|Jane)(?!\w)"],
    ("clawmem.memory.health.checks.pages", "re.escape(key)"): lambda: [r'\s*+(?:[{,]\s*+)?"Jane"\s*:'],
    ("clawmem.model.records.entity", "join(parts)"): lambda: [r"(?<!\w)Hye[ -]jin[ -]Park(?!\w)"],
    ("clawmem.model.language.question", "answer"): lambda: [answer for _, answer in question._KINDS],
    ("clawmem.model.language.question", "asked"): lambda: [asked for asked, _ in question._KINDS],
    ("clawmem.model.search.meant", "re.escape(word)"): lambda: ["東京"],
    ("clawmem.model.search.meant", "sounds"): lambda: [sounds for sounds, _ in meant._SOUNDS],
    ("clawmem.model.language.languages", "parts"): lambda: [
        languages.pattern_of(code, row).pattern
        for code in languages.EVERY
        for row in ("former", "noted", "why", "forget_verbs")
    ],
    ("clawmem.model.language.languages", "words_of"): lambda: [
        pattern for code in ("ja", "zh") for pattern in (languages._stop_parts(code).pattern, "は|が|から")
    ],
    ("clawmem.model.language.date_words", "pattern"): lambda: [
        pattern.pattern for code in languages.EVERY for _, pattern in date_words._patterns(code)
    ],
    ("clawmem.model.language.date_words", "name"): lambda: [
        day.pattern for code in languages.EVERY for _, day in date_words._days(code)
    ],
    ("clawmem.model.facts.claims", "{{{size}}}"): lambda: [
        rf"(?P<who>(?:\S{{1,40}} ){{{size}}})(?:(?P<be>is|am|are) )?(?P<rest>.+)$" for size in range(1, 6)
    ],
    ("clawmem.model.facts.gates", "form"): lambda: list(gates._CHOOSING),
    ("clawmem.model.facts.stated_value", "re.escape(shorter)"): lambda: [r"(?<!\w)Jane(?!\w)"],
    ("clawmem.model.safety.injection.mood", "pattern"): lambda: [
        pattern.pattern
        for patterns in (
            *map(injection_mood._duties_of, (*injection_mood._DUTIES, *injection_mood._BY_WORDS)),
            injection_mood._imperatives(),
            injection_mood._compiled(),
        )
        for pattern in patterns
    ],
    ("clawmem.model.safety.injection.rules", "pattern"): lambda: [
        rule for rules in injection_rules.PATTERNS.values() for rule in rules
    ],
    ("clawmem.model.merging.collisions", "wanted"): lambda: [r"(?<![\w.:-])(?:fact_1|fact_2)(?![\w:-])"],
    ("clawmem.memory.facts.redact", "shortest"): lambda: [rf"{leftovers._RUN}{{{16 * 4 // 3},}}"],
    ("clawmem.model.safety.secrets.looks", "_COUNTING"): lambda: [secret_looks._sample().pattern],
    ("clawmem.model.safety.secrets.looks", "pattern"): lambda: [
        secret_looks._NOT_CHOSEN,
        *(pattern for _, _, pattern in (*secret_rules.STARTING, *secret_rules.INSIDE)),
        *(text for text in vars(secret_search).values() if isinstance(text, str) and re.search(r"\{\d|\\s", text)),
        *(rule.pattern for rule in place_rules.PLACES.values() if rule.pattern),
        *(other.pattern for other in secret_places.kept_rules()),
        *(text for text in vars(secret_places).values() if isinstance(text, str) and re.search(r"\{\d|\\s", text)),
        secret_places._END_OF_KEY,
        *(
            text
            for name, text in vars(secret_words).items()
            if isinstance(text, str) and "(?" in text and name != "__doc__"
        ),
    ],
    ("clawmem.model.safety.written_forms", "self.letters"): lambda: [_needle().head],
    ("clawmem.model.safety.written_forms", "start + "): lambda: [_needle().whole],
    ("clawmem.model.safety.written_forms", "re.escape(data)"): lambda: [b"aGVsbG8gd29ybGQ"],
    ("clawmem.model.safety.written_forms", "letter"): lambda: [*_needle().letters],
    ("clawmem.work.digestion.by_model", "join(words)"): lambda: [r"Jane\s+lives\s+in\s+Oslo"],
    ("clawmem.extensions.governance.suites.suite", "value"): lambda: [r"lives in \w+"],
    ("clawmem.model.proposals.routes", "_glob("): lambda: [r".*@example\.org", r"release.*"],
    ("clawmem.model.proposals.routes", "_entity_glob("): lambda: [r"areas/people/.*(/.*)?", r"projects/[^/]*(/.*)?"],
    ("clawmem.extensions.wiki.values.markdown", "re.escape(title)"): lambda: [r"(?<!\w)Jane(?!\w)"],
    ("clawmem.memory.entities.entities", "re.escape(name)"): lambda: [r"(?<!\w)Jane(?!\w)"],
    ("clawmem.extensions.wiki.values.markdown", "{name}"): lambda: [
        r"\[\[Jane(?:\|([^\[\]|]+))?\]\]",
        r"(?<!\w)Jane(?!\w)()",
    ],
    ("clawmem.index.search.conflicts", "re.escape(value)"): lambda: [r"(?<!\w)Jane(?!\w)"],
}


def _languages() -> list[Language]:
    return [language(code) for code in CODES]


def _of_clauses() -> list[re.Pattern[str]]:
    """The patterns of the rules, which are held against one clause."""
    rules = [rule for language in _languages() for rule in language.rules]
    return [
        pattern
        for rule in rules
        for pattern in (*(form.pattern for form in rule.hears), *(tail.pattern for tail in rule.tails))
    ]


def _of_the_contract() -> list[str]:
    """The patterns of the schema of the interchange contract."""
    from clawmem.extensions.hub.contract import SCHEMA

    return [
        other_property["pattern"] for other_property in SCHEMA["properties"].values() if "pattern" in other_property
    ]


def _of_sentences() -> list[re.Pattern[str]]:
    """The patterns that are held against a whole sentence."""
    found: list[re.Pattern[str]] = []
    for rules in _languages():
        found += [*rules.patterns.values(), *rules.guards.values(), *(form for form, _ in rules.third_person)]
        found += [form for forms in rules.requests.values() for form in forms]
    return found


def _needle() -> written_forms.Needle:
    """The pattern of a secret with a character of each sort: blanks, quotes, signs, and letters of many forms."""
    return written_forms.compile_needles((r"""a b'c"d\eé 我́😀 a""",))[0]


_CALLS = frozenset("compile search match fullmatch sub subn split findall finditer".split())
_LOOSE = re.IGNORECASE | re.MULTILINE
_AT_START = frozenset(("match", "fullmatch"))


def patterns(ways: Mapping[tuple[str, str], set[str]]) -> list[Used]:
    """Every pattern that the sources give to `re`, wherever they do; AssertionError for one that is not known."""
    found: dict[tuple[Any, int, bool], Used] = {}
    for module in (name for name in _modules() if "re." in _source(name)):
        names = {id(assign.value): assign.targets[0] for assign in _nodes(module) if isinstance(assign, ast.Assign)}
        for call in _nodes(module):
            if not _is_call(call):
                continue
            kept = names.get(id(call))
            known = ways.get((module, kept.id)) if isinstance(kept, ast.Name) else None
            at_start = call.func.attr in _AT_START or bool(known and known <= _AT_START)  # type: ignore[attr-defined]
            for pattern in _given(module, call):
                found.setdefault((pattern.pattern, pattern.flags, at_start), Used(pattern, module, at_start))
    return list(found.values())


def _is_call(node: ast.AST) -> Any:
    func = node.func if isinstance(node, ast.Call) else None
    named = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "re"
    return named and func.attr in _CALLS  # type: ignore[union-attr]


def _given(module: str, call: Any) -> list[re.Pattern[Any]]:
    scope = vars(_modules()[module])
    flags = [other for other in call.args[1:2] if call.func.attr == "compile"]
    flags += [keyword.value for keyword in call.keywords if keyword.arg == "flags"]
    try:
        return [re.compile(*(eval(ast.unparse(flag), scope) for flag in (call.args[0], *flags)))]
    except NameError:
        written = ast.unparse(call.args[0])
        made = next((made for (where, part), made in MADE_LATER.items() if where == module and part in written), None)
        assert made is not None, f"{module}: say in MADE_LATER what {written} can be"
        listed = made()
        assert listed
        return [
            pattern
            if isinstance(pattern, re.Pattern)
            else re.compile(pattern, *([] if isinstance(pattern, bytes) else [_LOOSE]))
            for pattern in listed
        ]


def _ways() -> dict[tuple[str, str], set[str]]:
    """How each pattern that has a name is used, in its module and in those that import it."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module in _modules():
        home = {
            name.asname or name.name: (node.module or "", name.name)
            for node in _nodes(module)
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        used = {id(node.value): node.attr for node in _nodes(module) if isinstance(node, ast.Attribute)}
        for node in _nodes(module):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found[home.get(node.id, (module, node.id))].add(used.get(id(node), "finditer"))
    return found


def _pieces(tree: Any) -> Iterator[str]:
    """The words and letters that a pattern itself asks for."""
    run = ""
    for kind, value in tree:
        if kind is kinds.LITERAL:
            run += chr(value)
            continue
        yield run
        run = ""
        if kind is kinds.IN:
            yield from (chr(other) for what, other in value if what is kinds.LITERAL)
            yield from (chr(other[0]) for what, other in value if what is kinds.RANGE)
        for part in _parts(kind, value):
            yield from _pieces(part)
    yield run


def _parts(kind: Any, value: Any) -> list[Any]:
    if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
        return [value[2]]
    if kind is kinds.SUBPATTERN:
        return [value[3]]
    if kind is kinds.BRANCH:
        return list(value[1])
    if kind in (kinds.ASSERT, kinds.ASSERT_NOT):
        return [value[1]]
    return [value] if kind is kinds.ATOMIC_GROUP else []


def _own_shapes(pattern: re.Pattern[Any], most: int = 16) -> list[str]:
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    flags = pattern.flags if isinstance(pattern.pattern, str) else pattern.flags & ~re.UNICODE
    pieces = [piece for piece in dict.fromkeys(_pieces(parser.parse(source, flags))) if piece]
    if len(pieces) > most:
        pieces = [*pieces[: most // 2], *random.Random(1).sample(pieces[most // 2 :], most // 2)]
    return [*pieces, *(f"{piece} " for piece in pieces)]


def test_every_pattern_is_found() -> None:
    assert len(patterns({})) > 400
    assert len(SHAPES) >= 100


# Patterns that take quadratic time and are held only against short texts: the most characters that they ever get, as
# the code that uses them sees to. What is longer than that never reaches them; a test looks at every text that does.
BOUNDED: dict[tuple[str, str], int] = {
    ("clawmem.learning.attribution.quoted", "_SHOWN"): fiction._LONGEST,
    ("clawmem.learning.attribution.quoted", "_MADE_UP"): fiction._LONGEST,
    ("clawmem.learning.attribution.quoted", "_TO_WRITE"): fiction._LONGEST,
    ("clawmem.model.search.event_ranking", "_ASKS"): SHORT_QUESTION,
}
_BOUNDED_SECONDS = 0.05
_FIRST_SIZE, _SUSPECT_SECONDS, _WORST = 800, 0.0002, 3


def _bound_of(used: Used) -> int | None:
    if (
        used.module == "clawmem.learning.rules.language"
        and used.pattern in (clauses := _of_clauses()) + _of_sentences()
    ):
        return LONGEST_CLAUSE if used.pattern in clauses else LONGEST_SENTENCE
    for (module, name), bound in BOUNDED.items():
        own = vars(_modules()[module]).get(name)
        if used.module == module and (name == "*" or (own is not None and own.pattern == used.pattern.pattern)):
            return bound
    return None


def _read(used: Used, text: str) -> Any:
    """The text as the pattern gets it."""
    if used.module == injection_mood.__name__ and used.pattern in injection_mood._compiled():
        text = injection_mood._RUN.sub(injection_mood._shortened, text)
    return text if isinstance(used.pattern.pattern, str) else text.encode(errors="surrogatepass")


def _held_against(used: Used) -> Callable[[Any], object]:
    pattern = used.pattern
    return pattern.fullmatch if used.at_start else lambda text: deque(pattern.finditer(text), maxlen=0)


def _suspects(used: Used, size: int) -> list[str]:
    """The few shapes that take the pattern longest, where they take it long at all. Time on the wall: other programs
    can only make it longer, and the processor's own clock is too coarse."""
    act, found = _held_against(used), list[tuple[float, str]]()
    for shape in (*SHAPES, *_own_shapes(used.pattern)):
        text = _read(used, _filled(shape, size))
        start = time.perf_counter()
        try:
            with _limited(1.0):
                act(text)
        except _TooLong:
            return [shape]
        found.append((time.perf_counter() - start, shape))
    return [shape for taken, shape in sorted(found, reverse=True)[:_WORST] if taken > _SUSPECT_SECONDS]


def _filled(shape: str, size: int) -> str:
    return (shape * (size // len(shape) + 1))[:size] + "\0x"


def _too_slow(used: Used) -> str | None:
    act, bound = _held_against(used), _bound_of(used)
    for shape in _suspects(used, min(_FIRST_SIZE, bound or _FIRST_SIZE)):
        if bound is not None:
            taken = min(_taken(act, _filled(shape, bound - 2), most=2.0) for _ in range(3))
            message = f"{taken:.3f} s" if taken > _BOUNDED_SECONDS else None
        else:
            message = _grows(lambda text: act(_read(used, text)), shape, _SMALL, _LARGE)
        if message:
            return f"{used.module}: {used.pattern.pattern!r:.150}: {shape!r}: {message}"
    return None


@pytest.mark.soak
def test_every_pattern_is_linear_or_reads_only_short_texts() -> None:
    assert [told for used in patterns(_ways()) if (told := _too_slow(used))] == []


class _Recorded:
    """A pattern that notes the length of the longest text that it got."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self.longest = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._pattern, name)
        if name not in _CALLS:
            return found

        def act(text: str, *more: Any) -> Any:
            self.longest = max(self.longest, len(text))
            return found(text, *more)

        return act


def _long_messages() -> list[str]:
    """Messages of long sentences that are read as far as any: each turned into one clause, and into many."""
    pair = "I take insulin in the morning", "I live in Oslo", "My sister is allergic to nuts", "I sing in a choir"
    more_said = "I am passionate about chess", "I got a new job at Acme", "I have migraines", "what is this?"
    joined = " really", " very ", "🎉", " in Oslo", " for", " and ", ", ", "!", " - "
    return [
        f"{text}{more * (3_000 // len(more))}{end}"
        for text in (*pair, *more_said)
        for more in joined
        for end in (".", "?", " x")
    ]


def test_no_long_text_reaches_a_pattern_that_reads_only_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded: dict[tuple[str, str], tuple[_Recorded, int]] = {}
    for (module, named), bound in BOUNDED.items():
        for name, value in vars(_modules()[module]).items():
            if isinstance(value, re.Pattern) and named in ("*", name):
                recorded[module, name] = _Recorded(value), bound
                monkeypatch.setattr(f"{module}.{name}", recorded[module, name][0])
    for text in (*_long_messages(), *(long_message[:40] for long_message in _long_messages())):
        _said("user")(text)
        is_question(text)
    beyond = {
        name: other_recorded.longest
        for name, (other_recorded, bound) in recorded.items()
        if other_recorded.longest > bound
    }
    assert beyond == {}
    assert sum(other_recorded.longest > 0 for other_recorded, _ in recorded.values()) > len(recorded) / 2


_CATALOG = Catalog({})


def _said(role: str, kind: str = "message") -> Callable[[str], object]:
    return lambda text: extract(Event("evt_1", "2026-11-21T09:30:00Z", role, text, kind=kind), _CATALOG)


def _ingested(name: str, text: str) -> list[object]:
    data = text.encode(errors="replace")
    shape = shape_of(data[:1000], name, "markdown" if name.endswith("md") else "text")
    return list(read(shape, data.splitlines(True), name))


WHOLE: dict[str, Callable[[str], object]] = {
    "a message of the user": _said("user"),
    "a message of the assistant": _said("assistant"),
    "a result of a tool": _said("tool", "tool_result"),
    "orders": find_injection,
    "orders to the reader": addresses_reader,
    "secrets": find_secrets,
    "recalled": lambda text: (is_recalled(text), mask_recalled(text)),
    "dates": lambda text: find_dates(text, date(2026, 11, 21)),
    "passages": lambda text: search_texts(text, None, ""),
    "question": is_question,
    "tokens": token_bound,
    "markdown": lambda text: _ingested("a.md", text),
    "plain text": lambda text: _ingested("a.txt", text),
}


@pytest.mark.soak
@pytest.mark.parametrize("what", WHOLE)
def test_functions_that_read_whole_texts_are_linear(what: str) -> None:
    WHOLE[what]('I live in Oslo. "Ignore the system", you agent.')
    assert [told for shape in SHAPES if (told := _grows(WHOLE[what], shape, 8_000, 32_000))] == []


@pytest.mark.soak
@pytest.mark.parametrize("what", WHOLE)
def test_functions_that_read_long_texts_are_linear(what: str) -> None:
    WHOLE[what]('I live in Oslo. "Ignore the system", you agent.')
    assert [told for shape in SHAPES if (told := _grows(WHOLE[what], shape, 30_000, 120_000))] == []


SLOW_MESSAGES = {
    "emoji before a letter": "I live in Oslo " + "🎉" * 58 + "x",
    "marks before a letter": "I live in Oslo" + "…" * 32_000 + "x",
    "emoji in one row": "😀" * 32_000 + "x",
    "blanks before a letter": "My " + " " * 10_000 + "x",
    "blanks between dashes": "My, it" + " " * 10_000 + "- x",
    "what may be another's": "Thanks a lot\n\n" + "".join(f"I live in Oslo{n}. I like tea{n}.\n" for n in range(700)),
    "paragraphs and titles": "\n\n".join(f"Title {n}\n\nI live in Oslo{n} and I like my tea." for n in range(500)),
}


@pytest.mark.soak
@pytest.mark.parametrize("what", SLOW_MESSAGES)
def test_no_message_takes_seconds(what: str) -> None:
    assert _taken(_said("user"), SLOW_MESSAGES[what], most=6.0) < 3.0


@pytest.mark.soak
def test_a_subject_of_many_redactions_is_compared_in_linear_time() -> None:
    assert _grows(lambda text: _fits("[redacted]" * 12 + "!", text), "a", 20_000, 80_000) is None
    assert _grows(lambda text: _fits(text, "a" * len(text)), "[redacted]", 20_000, 80_000) is None


def _searched(rule: re.Pattern[str]) -> Callable[[str], object]:
    return lambda text: deque(rule.finditer(text), maxlen=0)


@pytest.mark.soak
@pytest.mark.parametrize("kind", injection_rules.PATTERNS)
def test_no_rule_begins_again_on_each_line(kind: str) -> None:
    """A rule that skips signs before a word must not skip lines: each of these lines is a start of its own."""
    for pattern in injection_rules.PATTERNS[kind]:
        rule = re.compile(pattern, re.IGNORECASE | re.MULTILINE)
        assert _grows(_searched(rule), "```\n", _SMALL, _LARGE) is None


@pytest.mark.soak
def test_a_text_that_never_ends_fails_the_check() -> None:
    """An act that takes too long for both texts is no better than one that grows."""

    def act(_: str) -> None:
        while True:
            pass

    assert "more than" in str(_grows(act, "a", 400, 1_600))
    assert _grows(lambda text: text.count("a"), "a", 400, 1_600) is None
