"""The tables of the derived index: one SQLite file, valid for one commit, one boot and one version."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clawmem.model.records.strict_json import checksum

if TYPE_CHECKING:
    from clawmem.index.tables.store import Index


# The value of `fact.pace` for facts in quarantine, which no context shows.
QUARANTINE_PACE = -1
# The values of `event.kind`: somebody says something, clawmem's own record of a model's run, and the rest.
OTHER, SPOKEN, MODEL_RUN = 0, 1, 2
VERSION = "40"

# The columns of `fact` repeat parts of `line` in the form that filters and ranking need, so that a search decodes only
# the lines it returns.
#
# - `fact.tags`: each tag in lower case, between newlines. `fact.realm`: see `clawmem.model.facts.reach`.
#   `fact.mark` and `event.mark`: who may see it, as `clawmem.model.records.access` writes it, or NULL for everybody.
#   `fact.tokens`: the tokens of its context line, exact if
#   `exact` is 1. `used`, `weight`, `pace`: what its tier depends on, see `clawmem.index.search.by_tier`.
# - `event.sitting`: the session of the event on its day, or the day if it has none. `place`: its position there;
#   of a line that tells a message, the row of that message. `kind`: SPOKEN, MODEL_RUN or OTHER. `harness`: with which
#   it was said, see `harness_of`.
#   `tokens`: those of its context line, or NULL, and `words` those of each word of a long text. `verdict`: whether it
#   reads as an order, or NULL, see `clawmem.index.tables.background`.
# - `sitting`: how many events each has. `ledger`: how much of the file of a day is indexed, and its `DayEvents`.
# - `edge`: what the fact in row `n` points to: other facts by id, entities by name.
# - `claim`: of what the statement in row `n` may claim something: an empty text for each that may, and beside it what
#   it gives a value of, or `-` if it denies something. See `clawmem.model.facts.claims`.
# - `dispute`: the facts in open proposals about conflicts. `outside`: the facts with something at stake that came with
#   a commit which is not accepted here, see `clawmem.index.refresh`.
# - `seal`: the checksum of the returned columns of a row. `total`: the number of facts and the sum of their seals, see
#   `clawmem.index.tables.schema`.
TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE fact (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    entity TEXT NOT NULL,
    owner TEXT NOT NULL,
    status TEXT NOT NULL,
    category TEXT NOT NULL,
    subject TEXT,
    predicate TEXT,
    valid_from TEXT,
    valid_to TEXT,
    timestamp TEXT NOT NULL,
    event TEXT,
    access_count INTEGER NOT NULL,
    last_accessed TEXT,
    importance REAL,
    trust TEXT,
    tags TEXT,
    realm TEXT NOT NULL,
    mark TEXT,
    used REAL NOT NULL,
    weight REAL NOT NULL,
    pace INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    exact INTEGER NOT NULL,
    line TEXT NOT NULL,
    seal INTEGER NOT NULL
);
CREATE TABLE total (facts INTEGER NOT NULL, seals INTEGER NOT NULL);
INSERT INTO total VALUES (0, 0);
CREATE INDEX fact_id ON fact (id);
CREATE INDEX fact_entity ON fact (entity, n, status, access_count);
CREATE INDEX fact_subject ON fact (subject, predicate) WHERE subject IS NOT NULL;
CREATE INDEX fact_event ON fact (event) WHERE event IS NOT NULL;
CREATE INDEX fact_from ON fact (valid_from) WHERE valid_from IS NOT NULL;
CREATE INDEX fact_to ON fact (valid_to) WHERE valid_to IS NOT NULL;
CREATE INDEX fact_recorded ON fact (timestamp) WHERE valid_from IS NULL;
CREATE INDEX fact_estimated ON fact (n) WHERE exact = 0;
CREATE INDEX fact_realm ON fact (realm, category, status) WHERE realm != '';
CREATE INDEX fact_guardrail ON fact (realm) WHERE category = 'guardrail';
CREATE INDEX fact_retracted ON fact (n) WHERE status = 'retracted';
CREATE INDEX fact_mark ON fact (mark) WHERE mark IS NOT NULL;
CREATE INDEX fact_used ON fact (owner, pace, used, valid_to, realm) WHERE status = 'active';
CREATE INDEX fact_order ON fact
    (pace, owner, status, access_count DESC, weight DESC, timestamp DESC, id, used, valid_to, realm, category);
CREATE INDEX fact_ended ON fact (owner, valid_to, pace, realm) WHERE status = 'active' AND valid_to IS NOT NULL;
CREATE TABLE entity (
    name TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    kind TEXT NOT NULL,
    aliases TEXT NOT NULL,
    seal INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE alias (
    alias TEXT NOT NULL,
    name TEXT NOT NULL,
    seal INTEGER NOT NULL,
    PRIMARY KEY (alias, name)
) WITHOUT ROWID;
CREATE TABLE event (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    day TEXT NOT NULL,
    sitting TEXT NOT NULL,
    place INTEGER NOT NULL,
    speaker TEXT,
    role TEXT NOT NULL,
    size INTEGER NOT NULL,
    asks INTEGER NOT NULL,
    recalled INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    harness TEXT,
    mark TEXT,
    line TEXT NOT NULL,
    seal INTEGER NOT NULL,
    tokens INTEGER,
    verdict INTEGER,
    words BLOB
);
CREATE UNIQUE INDEX event_id ON event (id, day);
CREATE INDEX event_sitting ON event (sitting, place, recalled, speaker, size, asks, role);
CREATE TABLE sitting (name TEXT PRIMARY KEY, turns INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX event_day ON event (day, n, kind, harness);
CREATE INDEX event_mark ON event (mark) WHERE mark IS NOT NULL;
CREATE INDEX event_note ON event (n) WHERE role = 'note' AND mark IS NULL;
CREATE INDEX event_line ON event (place) WHERE sitting = '';
CREATE INDEX event_run ON event (day, n) WHERE kind = 2;
CREATE INDEX event_uncounted ON event (n) WHERE tokens IS NULL;
CREATE INDEX event_unjudged ON event (n) WHERE verdict IS NULL;
CREATE TABLE ledger (day TEXT PRIMARY KEY, size INTEGER NOT NULL, crc INTEGER NOT NULL, events INTEGER NOT NULL,
  last_n INTEGER NOT NULL, learned_from INTEGER NOT NULL, spoken INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE note (
    n INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    place INTEGER NOT NULL,
    day TEXT,
    owner TEXT NOT NULL,
    text TEXT NOT NULL,
    tokens INTEGER,
    seal INTEGER NOT NULL
);
CREATE INDEX note_path ON note (path, place);
CREATE INDEX note_uncounted ON note (n) WHERE tokens IS NULL;
CREATE TABLE dispute (
    path TEXT NOT NULL,
    target TEXT NOT NULL,
    says TEXT NOT NULL,
    seal INTEGER NOT NULL,
    PRIMARY KEY (path, target)
) WITHOUT ROWID;
CREATE INDEX dispute_target ON dispute (target);
CREATE TABLE edge (
    n INTEGER NOT NULL,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (n, kind, target)
) WITHOUT ROWID;
CREATE INDEX edge_target ON edge (target, kind);
CREATE TABLE claim (entity TEXT NOT NULL, about TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (entity, about, n))
  WITHOUT ROWID;
CREATE TABLE access (id TEXT PRIMARY KEY, number INTEGER NOT NULL, last TEXT NOT NULL, importance REAL)
  WITHOUT ROWID;
CREATE TABLE outside (id TEXT PRIMARY KEY, stake TEXT NOT NULL, seal INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE broken (path TEXT PRIMARY KEY, problem TEXT NOT NULL, seal INTEGER NOT NULL) WITHOUT ROWID;
"""

# Inverted indexes without a copy of the texts: one for facts, one for the pieces of events and notes.
TOKENS = "porter unicode61 remove_diacritics 2"
FTS = f"CREATE VIRTUAL TABLE {{table}} USING fts5(text, content='', tokenize='{TOKENS}')"
FACT_WORDS = "words"
SPOKEN_WORDS = "spoken"
# Vectors are in a separate file, so that rebuilding the index does not lose them.
VECTORS_FILE = "vectors.sqlite"


def tags_column(tags: Sequence[str]) -> str | None:
    """Return a fact's tags as stored in the index: in lower case, each between newlines."""
    return "\n".join(("", *tags, "")).lower() if tags else None


class RowDamaged(sqlite3.DatabaseError):
    """A row of the index is not what was written; the index must be rebuilt."""


def check_row(n: int, entity: str, line: str, number: int) -> None:
    """Raise RowDamaged if the row of a fact does not match its seal."""
    if checksum(n, entity, line) != number:
        raise RowDamaged(f"row {n} of the index is damaged")


# What is said of a damaged row of a table; the numbers are the columns of its seal, in the order of `SEALED`.
_DAMAGED = {
    "event": "row {0} of the events in the index is damaged",
    "outside": "the row of {0} among the facts from outside is damaged",
    "note": "row {0} of the notes in the index is damaged",
    "entity": "the row of {0} in the index is damaged",
    "alias": "a row with an alias of {1} in the index is damaged",
    "dispute": "a row about {0} in the index is damaged",
    "broken": "a row about {0} in the index is damaged",
}
# The columns that the seal of a row covers, for the tables other than `fact`.
SEALED = {
    "event": "n, id, day, line",
    "note": "n, path, place, day, owner, text",
    "entity": "name, title, kind, aliases",
    "alias": "alias, name",
    "dispute": "path, target, says",
    "broken": "path, problem",
    "outside": "id, stake",
}


def check_sealed(table: str, *row: object) -> None:
    """Raise RowDamaged if the `SEALED` columns of a row do not match its seal, which comes last."""
    *values, seal = row
    if checksum(*values) != seal:
        raise RowDamaged(_DAMAGED[table].format(*values))


def is_intact(index: Index) -> bool:
    """Return whether SQLite finds its file valid and every row matches its seal. Reads everything."""
    try:
        for row in index.database.execute("SELECT n, entity, line, seal FROM fact"):
            check_row(*row)
        check_total(index)
        check_passages(index)
        return bool(index.database.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",))
    except Exception:  # noqa: BLE001 - any error means that it is not intact
        return False


def check_total(index: Index) -> None:
    """Raise RowDamaged if rows of facts are missing or superfluous."""
    found = index.database.execute("SELECT count(*), coalesce(sum(seal), 0) FROM fact").fetchone()
    if found != index.database.execute("SELECT facts, seals FROM total").fetchone():
        raise RowDamaged("rows of the index are missing")


def check_passages(index: Index) -> None:
    """Raise RowDamaged if a row of any table other than `fact` does not match its seal."""
    for table, columns in SEALED.items():
        for row in index.database.execute(f"SELECT {columns}, seal FROM {table}"):
            check_sealed(table, *row)


class SqliteStore:
    """An open SQLite file. A subclass can keep parts of its data elsewhere, and store them with each transaction."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database

    def meta(self, key: str) -> str | None:
        """Return a value that the store keeps about itself."""
        row = self.database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def set_meta(self, key: str, value: str) -> None:
        """Store such a value."""
        self.database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Run one transaction: all of it is stored or nothing."""
        self.database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._flush()
            self.database.execute("COMMIT")
        except BaseException:
            self._discard_changes()
            roll_back(self.database)
            raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all reads in this context see the same state. Keep it short, because writers wait."""
        self.database.execute("BEGIN")
        try:
            yield
        finally:
            roll_back(self.database)

    def close(self) -> None:
        """Close the files."""
        self.database.close()

    def _flush(self) -> None:
        """Write what is not in the database, before each commit."""

    def _discard_changes(self) -> None:
        """Forget what `_flush` would write, before each rollback."""


def roll_back(database: sqlite3.Connection) -> None:
    """Roll back the open transaction, unless SQLite did so itself because the disk was full."""
    if database.in_transaction:
        database.execute("ROLLBACK")


def connect(path: str, mode: str, seconds: float) -> sqlite3.Connection:
    """Open an existing file with `mode` "rw", or any with "rwc", and wait up to `seconds` for other processes."""
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return sqlite3.connect(f"file:{quoted}?mode={mode}", timeout=seconds, isolation_level=None, uri=True)
