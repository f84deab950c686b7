"""The tables of a graph, and what is read of them."""

from __future__ import annotations

# Raise it when a table changes, or what a column holds; a graph of an older format is made anew.
VERSION = 2
APPLICATION_ID = 0x48724772

SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, language TEXT NOT NULL, size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode TEXT NOT NULL, digest TEXT NOT NULL,
    racy INTEGER NOT NULL, facts TEXT NOT NULL, interface TEXT NOT NULL, config TEXT
);
CREATE TABLE definitions (
    file INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, folded TEXT NOT NULL,
    qualified TEXT NOT NULL, holder TEXT NOT NULL, around INTEGER NOT NULL, kind TEXT NOT NULL,
    line INTEGER NOT NULL, end_line INTEGER NOT NULL, signature TEXT NOT NULL, PRIMARY KEY (file, number)
) WITHOUT ROWID;
CREATE INDEX definitions_by_name ON definitions (name, holder);
CREATE INDEX definitions_by_folded ON definitions (folded);
CREATE TABLE imports (
    file INTEGER NOT NULL, number INTEGER NOT NULL, line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    module TEXT NOT NULL, level INTEGER NOT NULL, names TEXT NOT NULL, reexport INTEGER NOT NULL,
    state TEXT NOT NULL, PRIMARY KEY (file, number)
) WITHOUT ROWID;
CREATE INDEX imports_by_module ON imports (module);
CREATE TABLE targets (
    file INTEGER NOT NULL, number INTEGER NOT NULL, place INTEGER NOT NULL, target TEXT NOT NULL,
    PRIMARY KEY (file, number, place)
) WITHOUT ROWID;
CREATE INDEX targets_by_target ON targets (target);
CREATE TABLE calls (
    file INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, line INTEGER NOT NULL,
    column INTEGER NOT NULL, path TEXT NOT NULL, scope INTEGER NOT NULL, caller INTEGER NOT NULL,
    state TEXT NOT NULL, PRIMARY KEY (file, number)
) WITHOUT ROWID;
CREATE INDEX calls_by_name ON calls (name);
CREATE TABLE leads (
    file INTEGER NOT NULL, number INTEGER NOT NULL, path TEXT NOT NULL, definition INTEGER NOT NULL,
    PRIMARY KEY (file, number, path, definition)
) WITHOUT ROWID;
CREATE INDEX leads_by_target ON leads (path, definition);
CREATE TABLE depends (
    file INTEGER NOT NULL, place TEXT NOT NULL, PRIMARY KEY (file, place)
) WITHOUT ROWID;
CREATE INDEX depends_by_place ON depends (place);
"""
TABLES = ("definitions", "imports", "targets", "calls", "leads", "depends")

# Columns, of the tables as queries call them.
ENTRY = "path, size, mtime_ns, ctime_ns, inode, digest, racy"
SYMBOL = "f.path, d.line, d.end_line, d.qualified, d.name, d.kind, f.language, d.signature, d.number"
CALL = (
    "c.file, c.number, f.path, f.language, c.line, c.column, c.name, c.path, c.state, c.caller, "
    "o.qualified, o.line"
)
LED = "(f.path, d.number) IN (SELECT path, definition FROM leads WHERE file = ? AND number = ?)"
IMPORTS = (
    "SELECT i.file, i.number, f.path, f.language, i.line, i.end_line, i.module, i.level, i.names, "
    "i.reexport, i.state FROM imports i JOIN files f ON f.id = i.file"
)
