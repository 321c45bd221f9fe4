"""Tell technical tasks, and statements about family and health, by their words. English only."""

import re

_FILE = (
    r"(?<![\w/-])[\w/-]++\."
    r"(?:py|js|jsx|ts|tsx|go|rs|java|kt|rb|php|c|h|cc|cpp|cs|swift|sh|sql|html|css|json|toml|ya?ml|md|ipynb)\b"
)
_CODE = re.compile(rf"`[^`]+`|{_FILE}|\w\(\)|\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z]\w*")
_WORD = re.compile(r"[^\W_]+")
_TECHNICAL = frozenset(
    "api apis backend bug bugs bugfix cli code codebase coding commit commits compile compiler compiles config "
    "configuration database databases debug debugging deploy deploys deployed deployment docker dockerfile endpoint "
    "endpoints exception exceptions frontend function functions git github gitlab implement implemented implementing "
    "javascript kubernetes lint linter linting logging migration migrations module modules mypy npm parse parser "
    "parsers parsing pip pytest python refactor refactored refactoring regex repo repos repository repositories rust "
    "schema schemas script scripts server servers software sql sqlite stacktrace traceback typescript".split()
)
_PRIVATE = frozenset(
    "wife husband spouse fiance fiancé fiancée girlfriend boyfriend son sons daughter daughters stepson stepdaughter "
    "baby babies kid kids toddler mother mothers father fathers mum mom mommy dad daddy parents sister sisters brother "
    "brothers siblings twins grandma grandpa grandmother grandfather grandson granddaughter grandchild grandchildren "
    "grandparents aunt aunts uncle uncles niece nieces nephew nephews cousin cousins family families birthday "
    "birthdays wedding weddings anniversary pregnant pregnancy divorce divorced allergic allergy allergies asthma "
    "diabetes diabetic medication medications therapy therapist kindergarten daycare".split()
)


def is_technical(task: str) -> bool:
    """Return whether a task is about software: it contains code, a file name or a word of that field."""
    return not _TECHNICAL.isdisjoint(_words(task)) or _CODE.search(task) is not None


def is_private(text: str) -> bool:
    """Return whether a text is about somebody's family or health."""
    return not _PRIVATE.isdisjoint(_words(text))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
