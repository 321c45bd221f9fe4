"""The tables of the derived index: one SQLite file, disposable, valid for one commit, one boot, one version."""

from __future__ import annotations

VERSION = "1"

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
    line TEXT NOT NULL
);
CREATE INDEX fact_id ON fact (id);
CREATE INDEX fact_entity ON fact (entity);
CREATE INDEX fact_subject ON fact (subject) WHERE subject IS NOT NULL;
CREATE INDEX fact_event ON fact (event) WHERE event IS NOT NULL;
CREATE TABLE entity (
    name TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    kind TEXT NOT NULL,
    aliases TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE alias (alias TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (alias, name)) WITHOUT ROWID;
CREATE TABLE event (id TEXT PRIMARY KEY, day TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE broken (path TEXT PRIMARY KEY, problem TEXT NOT NULL) WITHOUT ROWID;
"""

FTS = "CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='porter unicode61 remove_diacritics 2')"
