"""The tables of the derived index: one SQLite file, disposable, valid for one commit, one boot, one version."""

from __future__ import annotations

VERSION = "3"

# The columns of `fact` that say what its line says, in the form filters and ranking need, so that a search
# decodes only the lines it gives out. `tokens` counts the fact's line of context, exactly where `exact` is 1.
# `sitting` is an event's session, or its day where it has none; `ledger` says how much of a day's file was taken in;
# `edge` holds what the fact of row `n` points at: other facts by id, entities by name.
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
    tokens INTEGER NOT NULL,
    exact INTEGER NOT NULL,
    line TEXT NOT NULL
);
CREATE INDEX fact_id ON fact (id);
CREATE INDEX fact_entity ON fact (entity);
CREATE INDEX fact_subject ON fact (subject, predicate) WHERE subject IS NOT NULL;
CREATE INDEX fact_event ON fact (event) WHERE event IS NOT NULL;
CREATE INDEX fact_from ON fact (valid_from) WHERE valid_from IS NOT NULL;
CREATE INDEX fact_to ON fact (valid_to) WHERE valid_to IS NOT NULL;
CREATE INDEX fact_recorded ON fact (timestamp) WHERE valid_from IS NULL;
CREATE INDEX fact_estimated ON fact (n) WHERE exact = 0;
CREATE TABLE entity (
    name TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    kind TEXT NOT NULL,
    aliases TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE alias (alias TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (alias, name)) WITHOUT ROWID;
CREATE TABLE event (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    day TEXT NOT NULL,
    sitting TEXT NOT NULL,
    role TEXT NOT NULL,
    speaker TEXT,
    recalled INTEGER NOT NULL,
    line TEXT NOT NULL
);
CREATE UNIQUE INDEX event_id ON event (id, day);
CREATE INDEX event_sitting ON event (sitting, day, n);
CREATE INDEX event_day ON event (day, n);
CREATE TABLE ledger (day TEXT PRIMARY KEY, size INTEGER NOT NULL, crc INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE note (
    n INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    place INTEGER NOT NULL,
    day TEXT,
    owner TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX note_path ON note (path);
CREATE TABLE edge (
    n INTEGER NOT NULL,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (n, kind, target)
) WITHOUT ROWID;
CREATE INDEX edge_target ON edge (target, kind);
CREATE TABLE broken (path TEXT PRIMARY KEY, problem TEXT NOT NULL) WITHOUT ROWID;
"""

# Inverted indexes without a second copy of the texts: of facts, and of the pieces of events and notes.
FTS = "CREATE VIRTUAL TABLE {table} USING fts5(text, content='', tokenize='porter unicode61 remove_diacritics 2')"
FACT_WORDS = "words"
SPOKEN_WORDS = "spoken"
