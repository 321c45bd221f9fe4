"""Tell technical tasks, and statements about family and health, by their words. English only."""

import re

_FILE = (
    r"[\w/-]+\.(?:py|js|jsx|ts|tsx|go|rs|java|kt|rb|php|c|h|cc|cpp|cs|swift|sh|sql|html|css|json|toml|ya?ml|md|ipynb)\b"
)
_CODE = re.compile(rf"`[^`]+`|\b{_FILE}|\b\w+\(\)|\b[a-z]+_[a-z_]+\b|\b[a-z]+[a-z0-9]*[A-Z]\w*")
_STRONG = re.compile(
    r"\b(?:api|backend|bug(?:s|fix)?|cli|code(?:base)?|coding|commits?|compil\w+|config(?:uration)?|databases?|debug\w*|"
    r"deploy\w*|docker\w*|endpoints?|exceptions?|frontend|functions?|git|github|gitlab|implement(?:ed|ing|s)?|"
    r"integration tests?|javascript|kubernetes|lint\w*|logging|merge (?:request|conflict)s?|migrations?|modules?|mypy|"
    r"npm|parsers?|parsing|pip|pull requests?|pytest|python|refactor\w*|regex\w*|repo(?:sitory|sitories|s)?|rust|"
    r"schemas?|scripts?|servers?|software|sql\w*|stack ?traces?|tracebacks?|typescript|unit ?tests?)\b",
    re.IGNORECASE,
)
_PRIVATE = re.compile(
    r"\b(?:wife|husband|spouse|fianc[ée]e?|girlfriend|boyfriend|sons?|daughters?|stepsons?|stepdaughters?|bab(?:y|ies)|"
    r"kids?|toddlers?|mothers?|fathers?|mum|mom|mommy|dad|daddy|parents|in-laws?|sisters?|brothers?|siblings|twins|"
    r"(?:grand)(?:ma|pa|mother|father|son|daughter|child|children|parents?)|aunts?|uncles?|nieces?|nephews?|cousins?|"
    r"famil(?:y|ies)|birthdays?|weddings?|anniversar(?:y|ies)|pregnan\w+|divorce\w*|allerg\w+|asthma\w*|diabet\w+|"
    r"medications?|therap(?:y|ist)|kindergarten|daycare)\b",
    re.IGNORECASE,
)


def is_technical(task: str) -> bool:
    """Return whether a task is about software: it contains code, a file name or a word of that field."""
    return _CODE.search(task) is not None or _STRONG.search(task) is not None


def is_private(text: str) -> bool:
    """Return whether a text is about somebody's family or health."""
    return _PRIVATE.search(text) is not None
