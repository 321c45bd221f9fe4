"""The tables of the derived index: one SQLite file, disposable, valid for one commit, one boot, one version."""

from __future__ import annotations

VERSION = "2"

# The columns of `fact` that say what its line says, in the form filters and ranking need, so that a search
# decodes only the lines it gives out. `tokens` counts the fact's line of context, exactly where `exact` is 1.
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
CREATE INDEX fact_subject ON fact (subject) WHERE subject IS NOT NULL;
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
CREATE TABLE event (id TEXT NOT NULL, day TEXT NOT NULL, PRIMARY KEY (id, day)) WITHOUT ROWID;
CREATE INDEX event_day ON event (day);
CREATE TABLE broken (path TEXT PRIMARY KEY, problem TEXT NOT NULL) WITHOUT ROWID;
"""

FTS = "CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='porter unicode61 remove_diacritics 2')"
