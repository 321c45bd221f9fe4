"""The patterns of each language: read from YAML, compiled when a text is first read; and words that learning shares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from clawmem.vault.strict_yaml import parse_yaml

# How the relation of a fact begins that tells who somebody is to the speaker: "has a son".
HAS_A = "has a "
# Words that the meaning of a statement does not hang on.
SMALL = frozenset(
    "a also an and are as at be been by did do does for from had has have he her him his in is it its just my now of "
    "on or our own really she so some than that the their them then they this to up very was we were who with".split()
)
CODES = ("en", "de")
REQUESTS = ("keep", "lesson", "order", "correct")
_PART = re.compile(r"\{(?P<name>[a-z_]+)(?:=(?P<slot>[a-z_]+))?\}")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_LEADS = ("{whose} ", "{who} ", "{user} ")


class Form(NamedTuple):
    """One form of a statement: its pattern, and the template of the statement."""

    pattern: re.Pattern[str]
    says: str


class Tail(NamedTuple):
    """What follows the subject in a statement about somebody or something; `owned` if the subject is possessive."""

    pattern: re.Pattern[str]
    owned: bool


class Rule(NamedTuple):
    """One kind of statement.

    The patterns of `hears` match a whole clause, `tails` a statement in the third person. `of` is `thing` for
    statements about things, made to an assistant, and `people` for those that are sure only among people. `examples`
    map a text to its statements.
    """

    name: str
    hears: tuple[Form, ...]
    says: str
    tails: tuple[Tail, ...]
    predicate: str
    category: str
    importance: float
    object: str
    subject: str
    phrase: str
    instead: str
    hint: tuple[str, ...]
    of: str
    ended: bool
    examples: Mapping[str, list[str]]


class Language(NamedTuple):
    """The compiled patterns of one language, with its templates (`say`) and word lists."""

    code: str
    function_words: frozenset[str]
    possessive: str
    common_slots: frozenset[str]
    reads_dates: bool
    relations: Mapping[str, str]
    guards: Mapping[str, re.Pattern[str]]
    patterns: Mapping[str, re.Pattern[str]]
    third_person: tuple[tuple[re.Pattern[str], str], ...]
    requests: Mapping[str, tuple[re.Pattern[str], ...]]
    say: Mapping[str, str]
    rules: tuple[Rule, ...]


def language_of(text: str) -> Language:
    """Return the language with the most function words in a text; English if there are none."""
    words = [word.lower() for word in _WORD.findall(text[:2000].replace("’", "'"))]
    counts = {code: sum(word in _function_words(code) for word in words) for code in CODES}
    return language(max(CODES, key=lambda code: counts[code]))


@cache
def relations() -> Mapping[str, str]:
    """Return the predicate of each noun for a relation, in all languages ("wife": "spouse")."""
    return {noun: predicate for code in CODES for noun, predicate in _relations(_data(code)).items()}


@cache
def language(code: str) -> Language:
    """Return the compiled patterns of a language of `CODES`."""
    data = _data(code)
    parts = _Parts(data)
    requests = data["requests"]
    return Language(
        code,
        _function_words(code),
        data["possessive"],
        frozenset(data["common_slots"].split()),
        data["dates"],
        _relations(data),
        {name: parts.compiled(source) for name, source in data["guards"].items()},
        {name: parts.compiled(source) for name, source in data["patterns"].items()},
        tuple((parts.compiled(other), put) for other, put in data["third_person"]),
        {kind: parts.all_compiled(requests.get(kind, ())) for kind in REQUESTS},
        data["say"],
        tuple(rule for entry in data["rules"] for rule in _rules(entry, parts)),
    )


@cache
def _data(code: str) -> dict[str, Any]:
    name = f"{code}.yaml"
    source = files("clawmem.learning.rules").joinpath("languages", name).read_text("utf-8")
    return dict(parse_yaml(source, name))


@cache
def _function_words(code: str) -> frozenset[str]:
    return frozenset(_data(code)["function_words"].split())


def _relations(data: Mapping[str, Any]) -> dict[str, str]:
    return {noun.lower(): name for name, nouns in data["relations"].items() for noun in nouns.split()}


class _Parts:
    """The named parts and slots of a language."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        requests = data["requests"]
        self._parts = {
            **data["parts"],
            "politely": requests["politely"],
            "verb": f"(?:{'|'.join(data['verbs'].split())})",
            "lasting_verb": f"(?:{'|'.join(data['lasting_verbs'].split())})",
        }
        self._slots = {**data["slots"], "exact": requests["exact"]}

    def compiled(self, source: str) -> re.Pattern[str]:
        """Compile a pattern after its parts and slots have been put in."""
        return re.compile(self.filled(source), re.IGNORECASE)

    def all_compiled(self, sources: Iterable[str]) -> tuple[re.Pattern[str], ...]:
        """Compile several patterns."""
        return tuple(map(self.compiled, sources))

    def filled(self, source: str) -> str:
        """Return a pattern with its parts and slots put in."""
        return _PART.sub(self._put, source)

    def _put(self, found: re.Match[str]) -> str:
        name, slot = found["name"], found["slot"] or found["name"]
        if slot in self._parts:
            return self.filled(self._parts[slot])
        return f"(?P<{name}>{self.filled(self._slots[slot])})"

    def tails(self, templates: Iterable[str], hears: str) -> Iterator[Tail]:
        """Yield the patterns of statements without their subject: each template, read backwards."""
        for says in templates:
            lead = next((_lead for _lead in _LEADS if says.startswith(_lead)), None)
            if lead:
                yield Tail(self._tail(says[len(lead) :], hears), lead == _LEADS[0])

    def _tail(self, says: str, hears: str) -> re.Pattern[str]:
        parts: list[str] = []
        end = 0
        for found in _PART.finditer(says):
            parts.append(re.escape(says[end : found.start()]))
            parts.append(self._slot_in(found["name"], hears))
            end = found.end()
        return re.compile("".join([*parts, re.escape(says[end:].rstrip(". "))]), re.IGNORECASE)

    def _slot_in(self, name: str, hears: str) -> str:
        other = re.search(rf"\{{{name}=([a-z_]+)\}}", hears)
        slot = self._slots.get(other[1] if other else name)
        source = _group(hears, name) if f"(?P<{name}>" in hears else slot
        if source is None:
            return ""
        flag = f"(?P<{name}>{source})?" in hears
        optional = "?" if flag or source.startswith("(?: ") else ""
        return f"(?P<{name}>{self.filled(source)}){optional}"


def _group(source: str, name: str) -> str:
    """Return what stands in a named group of a pattern."""
    start = source.index(f"(?P<{name}>") + len(name) + 5
    depth, at = 1, start
    while depth:
        depth += {"(": 1, ")": -1}.get(source[at], 0) if source[at - 1] != "\\" else 0
        at += 1
    return source[start : at - 1]


def _rules(entry: Mapping[str, Any], parts: _Parts) -> Iterator[Rule]:
    yield _rule(entry, parts)
    if "ends" in entry:
        yield _rule({**entry, "examples": {}, **entry["ends"], "ended": True}, parts)


def _rule(entry: Mapping[str, Any], parts: _Parts) -> Rule:
    says = entry["says"]
    # A form with a statement of its own is a mapping of the one to the other.
    forms = [next(iter(hear.items())) if isinstance(hear, dict) else (hear, says) for hear in entry["hears"]]
    hears = " ".join(source for source, _ in forms)
    name, predicate, category, importance, *of = entry["rule"].split()
    lead = next((_lead for _lead in _LEADS if says.startswith(_lead)), "")
    slots = [found["name"] for found in _PART.finditer(says[len(lead) :])]
    return Rule(
        name,
        tuple(Form(parts.compiled(source), words) for source, words in forms),
        says,
        tuple(parts.tails([says, *entry.get("reads", ())], hears)),
        predicate,
        category,
        float(importance),
        entry.get("object", f"{{{slots[0]}}}" if slots else ""),
        entry.get("subject", "{who}"),
        entry.get("phrase", ""),
        entry.get("instead", ""),
        tuple(entry.get("hint", ())),
        "".join(of),
        bool(entry.get("ended")),
        entry.get("examples", {}),
    )
