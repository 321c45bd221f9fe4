"""The gate where all changes meet: no commit brings a credential that the vault did not hold.

What stands in the files that an act has read is not new, so a fact with a credential, come in by a merge, can be
retracted like any other. Upkeep, undo and the completion of merges write what the vault and its history hold; of them
only who asked is looked at. Ledgers are not: ingest looks at each message, and leaves out that one alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from clawmem.errors import ClawmemError, SecretFound
from clawmem.model.kinds import AT_INGEST, handling
from clawmem.model.language.text import common_start
from clawmem.model.records.change import Change
from clawmem.model.safety.secrets.find import SecretMatch, find_known_secret, find_secret, find_secrets, redact
from clawmem.model.settings.permission import UPKEEP
from clawmem.model.settings.settings import Settings

if TYPE_CHECKING:
    from clawmem.vault.work_tree import ReadSet

_WITHOUT_WORDS = UPKEEP | {"undo"}
# Ids of clawmem's and of git's making, and names of entities, which are looked at as paths.
_NAMES = frozenset("Clawmem-Op Fact Entity Supersedes Event Undoes Proposal".split())


def allowed(settings: Settings, text: str, what: str, is_name: bool = False) -> str:
    """A text as it may be kept: without its credentials where the settings say `redact`, else SecretFound where it has
    one. A name, of a session or another thing, may look random, as ids do, and is masked as a whole."""
    match = find_known_secret(text) if is_name else find_secret(text)
    if match is None:
        return text
    if settings.words("secrets.action") != "redact":
        raise SecretFound(match.rule, what)
    return f"[redacted: {match.rule}]" if is_name else redact(text)


def screened(changes: Sequence[Change], seen: ReadSet, settings: Settings, purpose: str) -> Sequence[Change]:
    """The changes as they may be committed: themselves, or masked where the settings say `redact`. Raises SecretFound
    where they may not, or where a credential is in a name and cannot be masked."""
    gate = _Gate(seen, settings.words("secrets.action") == "redact", purpose in _WITHOUT_WORDS)
    found = [gate.look(change) for change in changes]
    return [gate.masked(change) for change in changes] if any(found) else changes


class _Gate:
    def __init__(self, seen: ReadSet, may_mask: bool, without_words: bool) -> None:
        self._seen = seen
        self._may_mask = may_mask
        self._without_words = without_words
        self._before: dict[str, bytes | None] = {}
        self._found: dict[str, str] = {}

    def look(self, change: Change) -> bool:
        """Whether the change holds a credential that has to be masked; SecretFound where it may not be."""
        known = len(self._found)
        self._look_at_names(change)
        if not self._without_words:
            for path, data in change.writes.items():
                self._look_at_file(path, data)
            self._look_at_words(f"{change.subject}\n\n\n\n{change.body}", change.writes.values())
        return len(self._found) > known

    def _look_at_names(self, change: Change) -> None:
        match = find_known_secret(change.author.name) if change.author else None
        if match:
            raise SecretFound(match.rule, "The name of the agent")
        for key, value in change.trailers:
            match = None if key in _NAMES else find_known_secret(value) if key == "Session" else find_secret(value)
            if match:
                self._meet(match, value, f"The {key.lower()}")

    def _look_at_file(self, path: str, data: bytes | None) -> None:
        before = self._before[path] if path in self._before else self._seen[path]
        self._before[path] = data
        if data is None or handling(path).secrets == AT_INGEST:
            return
        match = find_secret(path) if before is None else None
        if match and not self._is_known(path[match.start : match.end]):
            raise SecretFound(match.rule, "The name")
        added = _added(before or b"", data)
        for match in find_secrets(added):
            self._meet(match, added, _where(path, added, match.start))

    def _look_at_words(self, words: str, files: Iterable[bytes | None]) -> None:
        """What stands in a file, too, was judged there: in a subject it may be cut off, and look otherwise."""
        for match in find_secrets(words):
            forms = _forms(words[match.start : match.end].rstrip("…"))
            if not any(form in data for data in files if data for form in forms):
                self._meet(match, words, "What the commit would say")

    def _meet(self, match: SecretMatch, text: str, where: str) -> None:
        value = text[match.start : match.end]
        if self._is_known(value):
            return
        if not self._may_mask:
            raise SecretFound(match.rule, where)
        self._found[value] = match.rule

    def _is_known(self, value: str) -> bool:
        return self._seen.holds(_forms(value))

    def masked(self, change: Change) -> Change:
        """The change without what was found, anywhere in it."""
        from clawmem.model.history.redaction import redacted  # only where there is something to mask
        from clawmem.model.safety.written_forms import compile_needles

        wanted = compile_needles(tuple(self._found))

        def words(text: str) -> str:
            return redacted(text.encode(errors="surrogatepass"), wanted).decode(errors="replace")

        return change._replace(
            subject=words(change.subject),
            body=words(change.body),
            trailers=tuple((key, words(value)) for key, value in change.trailers),
            writes={path: self._masked_file(path, data) for path, data in change.writes.items()},
        )

    def _masked_file(self, path: str, data: bytes | None) -> bytes | None:
        argument = data
        for value, rule in self._found.items():
            for form in _forms(value):
                data = data and data.replace(form, f"[redacted: {rule}]".encode())
        if data != argument:
            _check(path, data, next(iter(self._found.values())))
        return data


def _check(path: str, data: bytes | None, rule: str) -> None:
    """A file that could not be read with the mask in it cannot be masked."""
    from clawmem.vault.edits.hand_edits import check_file  # only where something was masked

    try:
        check_file(path, data)
    except ClawmemError:
        raise SecretFound(rule, path) from None


def _added(before: bytes, after: bytes) -> str:
    """The lines that a file did not have; what both begin with is passed over, so that adding to a long file is
    quick."""
    start = after.rfind(b"\n", 0, common_start(before, after)) + 1
    known = frozenset(before[start:].split(b"\n"))
    lines = [line for line in after[start:].split(b"\n") if line not in known]
    return b"\n".join(lines).decode(errors="replace")


def _where(path: str, text: str, place: int) -> str:
    """The field that holds what begins at a place, or the file where it has none."""
    import re  # only where there is something to name

    line = text[text.rfind("\n", 0, place) + 1 : place]
    keys = re.findall(r'"(\w+)": ?[\["{]|^(\w+): ', line)
    key = next(filter(None, keys[-1]), "") if keys else ""
    return path if not key else "The fact" if key == "fact" else f"The field '{key}'"


def _forms(value: str) -> Mapping[bytes, None]:
    """A text as it stands in prose, and as it stands in JSON."""
    import json  # only where there is something to look for

    plain = value.encode(errors="surrogatepass")
    return dict.fromkeys((plain, json.dumps(value, ensure_ascii=False)[1:-1].encode(errors="surrogatepass")))
