//! Whether what a file defines is what this app makes. Other programs, or somebody who means harm, can put more into a file
//! than rows: triggers and views, which run, a view under the name of a table, columns that are computed, clauses that
//! refuse rows or throw others away. What is found is named; what differs and does nothing (a further column or index) is let be.
//!
//! Only definitions are read here, no row of any table. It does not decide whose file it is, nor of which version.

use crate::columns::{required, text};
use crate::tokens::{Token, tokens};
use rusqlite::Connection;
use std::collections::BTreeSet;

/// Words of a table's definition that change what happens to its rows.
const CLAUSES: [&str; 6] = ["AUTOINCREMENT", "CHECK", "COLLATE", "CONFLICT", "STRICT", "WITHOUT"];
/// Ways to compare texts that every SQLite has.
const COLLATIONS: [&str; 3] = ["BINARY", "NOCASE", "RTRIM"];
/// So much of a name is quoted.
const MOST_CHARS: usize = 80;

/// What kind of thing a definition makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Table,
    VirtualTable,
    View,
    Trigger,
    Index,
}

#[derive(Debug)]
struct Entry {
    kind: Kind,
    name: String,
    definition: Vec<Token>,
}

/// Everything that a file defines.
#[derive(Debug)]
pub(crate) struct Schema(Vec<Entry>);

impl Schema {
    pub fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut query = connection.prepare("SELECT type, name, sql FROM sqlite_master")?;
        let entries = query.query_map([], |row| {
            let definition = text(row, 2)?.map(|sql| tokens(&sql)).unwrap_or_default();
            // SQLite goes by the definition, and reads the type in any case: neither alone tells what a file makes of it.
            let is = |word: &str, kind: &str| {
                definition.get(1).is_some_and(|token| token.is(word)) || kind.eq_ignore_ascii_case(word)
            };
            let kind = required(row, 0)?;
            let kind = match () {
                () if is("VIRTUAL", "") => Kind::VirtualTable,
                () if is("TRIGGER", &kind) => Kind::Trigger,
                () if is("VIEW", &kind) => Kind::View,
                () if is("TABLE", &kind) => Kind::Table,
                () => Kind::Index,
            };
            Ok(Entry { kind, name: required(row, 1)?, definition })
        })?;
        Ok(Self(entries.collect::<rusqlite::Result<_>>()?))
    }

    /// Whether anything has that name.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|entry| entry.name == name)
    }

    /// Whether anything has a name that begins so.
    pub fn has_some(&self, start: &str) -> bool {
        self.0.iter().any(|entry| entry.name.starts_with(start))
    }

    /// How many tables there are, if there is nothing else and each is one of these.
    pub fn only_tables(&self, names: &[&str]) -> Option<u64> {
        let is_one = |entry: &Entry| entry.kind == Kind::Table && names.contains(&entry.name.as_str());
        self.0.iter().all(is_one).then_some(self.0.len() as u64)
    }

    /// What has a name of ours and is no table.
    pub fn disguised(&self, is_ours: impl Fn(&str) -> bool) -> Option<String> {
        let is_disguised = |entry: &&Entry| match entry.kind {
            Kind::View | Kind::VirtualTable => is_ours(&entry.name.to_ascii_lowercase()),
            Kind::Table | Kind::Trigger | Kind::Index => false,
        };
        self.0.iter().find(is_disguised).map(Entry::named)
    }

    /// What would run when rows are read or written.
    pub fn active(&self) -> Option<String> {
        self.0.iter().find(|entry| matches!(entry.kind, Kind::Trigger | Kind::View)).map(Entry::named)
    }

    fn clauses(&self, kind: Kind, name: &str) -> BTreeSet<&'static str> {
        let is_it = |entry: &&Entry| entry.kind == kind && entry.name.eq_ignore_ascii_case(name);
        let entries = || self.0.iter().filter(is_it);
        CLAUSES
            .into_iter()
            .filter(|clause| entries().any(|e| e.definition.iter().any(|t| t.is(clause))))
            .collect()
    }

    fn definition(&self, name: &str) -> Option<&[Token]> {
        let entry = self.0.iter().find(|entry| entry.name.eq_ignore_ascii_case(name))?;
        Some(entry.definition.as_slice())
    }
}

impl Entry {
    fn named(&self) -> String {
        let what = match self.kind {
            Kind::Table => "a table",
            Kind::VirtualTable => "a virtual table",
            Kind::View => "a view",
            Kind::Trigger => "a trigger",
            Kind::Index => "an index",
        };
        format!("{what} named {}", quoted(&self.name))
    }
}

/// A name from a file, on one line and not at any length.
fn quoted(name: &str) -> String {
    format!("{:?}", name.chars().take(MOST_CHARS).collect::<String>())
}

/// Why a table is not as it should be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// It, or this column of it, is not there.
    Missing(String),
    /// It has something that this app never makes.
    Strange(String),
}

/// How a table differs from the same table in a file that was made here.
pub(crate) fn difference(
    (found, schema): (&Connection, &Schema),
    (known, model): (&Connection, &Schema),
    table: &str,
) -> rusqlite::Result<Option<Difference>> {
    let named = quoted(table);
    let strange = |what: String| Ok(Some(Difference::Strange(what)));
    let columns = columns_of(found, table)?;
    if columns.is_empty() {
        return Ok(Some(Difference::Missing(format!("table {table}"))));
    }
    let expected = columns_of(known, table)?;
    for column in &expected {
        let Some(here) = columns.iter().find(|c| c.is_named(&column.name)) else {
            return Ok(Some(Difference::Missing(format!("column {} of table {table}", column.name))));
        };
        if !here.is_as(column) {
            return strange(format!("another column {} in table {named}", quoted(&here.name)));
        }
    }
    let is_added = |column: &&Column| !expected.iter().any(|known| column.is_named(&known.name));
    if let Some(column) = columns.iter().filter(is_added).find(|column| !column.is_harmless()) {
        return strange(format!("a column {} in table {named}", quoted(&column.name)));
    }
    let (clauses, usual) = (schema.clauses(Kind::Table, table), model.clauses(Kind::Table, table));
    if let Some(clause) = clauses.symmetric_difference(&usual).next() {
        let how = if clauses.contains(clause) { "with" } else { "without" };
        return strange(format!("a table {named} {how} {clause}"));
    }
    if keys_of(found, table)? != keys_of(known, table)? {
        return strange(format!("other foreign keys in table {named}"));
    }
    let usual = indices_of(known, table)?;
    for (name, index) in indices_of(found, table)? {
        let is_known = usual.iter().any(|(usual, known)| {
            *known == index && (!index.is_partial || schema.definition(&name) == model.definition(usual))
        });
        if !is_known && !index.is_harmless() {
            return strange(format!("an index {} of its own kind on table {named}", quoted(&name)));
        }
    }
    Ok(None)
}

#[derive(Debug)]
struct Column {
    name: String,
    affinity: &'static str,
    is_never_null: bool,
    key: i64,
    default: Option<String>,
    is_computed: bool,
}

impl Column {
    fn is_named(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Whether it is that column. A version of the app may have said in words that nothing stands where nothing is written.
    fn is_as(&self, known: &Self) -> bool {
        let shape = |c: &Self| (c.affinity, c.is_never_null, c.key, c.is_computed);
        let default = self.default.as_deref().filter(|default| !default.eq_ignore_ascii_case("NULL"));
        shape(self) == shape(known) && default == known.default.as_deref()
    }

    /// Whether it holds what is written and nothing else, and rows can be written that say nothing about it.
    fn is_harmless(&self) -> bool {
        let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        let is_value = match self.default.as_deref().map(tokens).unwrap_or_default().as_slice() {
            [] => !self.is_never_null,
            [Token::Quoted(_)] => true,
            [Token::Word(word)] => is_number(word) || word == "NULL" && !self.is_never_null,
            [Token::Sign('-' | '+'), Token::Word(word)] => is_number(word),
            _ => false,
        };
        is_value && !self.is_computed && self.key == 0
    }
}

fn columns_of(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Column>> {
    let mut query = connection.prepare_cached(
        "SELECT name, type, \"notnull\", pk, dflt_value, hidden FROM pragma_table_xinfo(?1)",
    )?;
    let columns = query.query_map([table], |row| {
        Ok(Column {
            name: required(row, 0)?,
            affinity: affinity(&required(row, 1)?),
            is_never_null: row.get(2)?,
            key: row.get(3)?,
            default: text(row, 4)?,
            is_computed: row.get::<_, i64>(5)? != 0,
        })
    })?;
    columns.collect()
}

/// How SQLite reads a type's name.
fn affinity(name: &str) -> &'static str {
    let name = name.to_ascii_uppercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    match () {
        () if has(&["INT"]) => "INTEGER",
        () if has(&["CHAR", "CLOB", "TEXT"]) => "TEXT",
        () if has(&["BLOB"]) || name.is_empty() => "BLOB",
        () if has(&["REAL", "FLOA", "DOUB"]) => "REAL",
        () => "NUMERIC",
    }
}

/// The foreign keys of a table, each column with what it leads to and what happens then.
fn keys_of(connection: &Connection, table: &str) -> rusqlite::Result<BTreeSet<[String; 5]>> {
    let mut query = connection.prepare_cached(
        "SELECT \"table\", \"from\", \"to\", on_update, on_delete FROM pragma_foreign_key_list(?1)",
    )?;
    let keys = query.query_map([table], |row| {
        let word = |column| Ok::<_, rusqlite::Error>(required(row, column)?.to_ascii_lowercase());
        Ok([word(0)?, word(1)?, word(2)?, word(3)?, word(4)?])
    })?;
    keys.collect()
}

#[derive(Debug, PartialEq, Eq)]
struct Index {
    is_unique: bool,
    is_partial: bool,
    /// What it is sorted by: a column, whether from the end, how texts are compared. An expression has no name.
    keys: Vec<(Option<String>, bool, String)>,
}

impl Index {
    /// Whether it neither refuses a row nor computes anything.
    fn is_harmless(&self) -> bool {
        let is_column = |(name, _, collation): &(Option<String>, bool, String)| {
            name.is_some() && COLLATIONS.iter().any(|known| known.eq_ignore_ascii_case(collation))
        };
        !self.is_unique && !self.is_partial && self.keys.iter().all(is_column)
    }
}

fn indices_of(connection: &Connection, table: &str) -> rusqlite::Result<Vec<(String, Index)>> {
    let mut list =
        connection.prepare_cached("SELECT name, \"unique\", partial FROM pragma_index_list(?1)")?;
    let mut columns = connection.prepare_cached(
        "SELECT name, \"desc\", coll FROM pragma_index_xinfo(?1) WHERE \"key\" ORDER BY seqno",
    )?;
    let mut indices = Vec::new();
    let mut rows = list.query([table])?;
    while let Some(row) = rows.next()? {
        let name = required(row, 0)?;
        let keys = columns.query_map([&name], |row| {
            let column = text(row, 0)?.map(|name| name.to_ascii_lowercase());
            Ok((column, row.get(1)?, required(row, 2)?))
        })?;
        let keys = keys.collect::<rusqlite::Result<_>>()?;
        indices.push((name, Index { is_unique: row.get(1)?, is_partial: row.get(2)?, keys }));
    }
    Ok(indices)
}

/// The tables that a file defines, in its own order.
pub(crate) fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut query =
        connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")?;
    query.query_map([], |row| row.get(0))?.collect()
}
