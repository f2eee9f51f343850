//! Whether a file can be read where its tables and indices begin and end: the pages that a change of the file would go
//! through first. It costs the same for a file of any size, and so finds much damage, not all.

use crate::columns::required;
use crate::error::StoreError;
use rusqlite::{Connection, OptionalExtension};
use std::path::Path;

/// How many rows are read at either end of each. Small tables are read whole.
const ROWS: u32 = 64;

/// Reads both ends of these tables and of every index on them. They have to be as in the sample.
pub(crate) fn probe(
    path: &Path,
    connection: &Connection,
    sample: &Connection,
    tables: &[String],
) -> Result<(), StoreError> {
    for table in tables {
        let parts = parts_of(connection, sample, table).map_err(|e| StoreError::of_part(path, table, &e))?;
        for (name, sql) in parts {
            read(connection, &sql).map_err(|e| StoreError::of_part(path, &name, &e))?;
        }
    }
    Ok(())
}

fn read(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    let mut query = connection.prepare(sql)?;
    let mut rows = query.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// A query for either end of a table and of each of its indices, by their names. What kind of value stands in the last
/// column is asked for, which takes reading how the row is made up, and not its texts.
fn parts_of(
    connection: &Connection,
    sample: &Connection,
    table: &str,
) -> rusqlite::Result<Vec<(String, String)>> {
    let list = |sql: &str, name: &str| -> rusqlite::Result<Vec<String>> {
        connection.prepare_cached(sql)?.query_map([name], |row| required(row, 0))?.collect()
    };
    let quoted = |names: Vec<String>| names.iter().map(|name| quoted(name)).collect::<Vec<_>>();
    let columns = quoted(list("SELECT name FROM pragma_table_info(?1)", table)?);
    let Some(last) = columns.last() else { return Ok(vec![]) };
    let mut ends = Vec::new();
    let mut add = |name: &str, from: &str, keys: &[String]| {
        for direction in ["ASC", "DESC"] {
            let order: Vec<String> = keys.iter().map(|key| format!("{key} {direction}")).collect();
            let sql = format!("SELECT typeof({last}) FROM {from} ORDER BY {} LIMIT {ROWS}", order.join(", "));
            ends.push((name.to_owned(), sql));
        }
    };
    let from = self::quoted(table);
    // A table that is itself sorted by its key has no row number.
    let has_number = connection.prepare(&format!("SELECT _rowid_ FROM {from}")).is_ok();
    let keys = match has_number {
        true => vec!["_rowid_".to_owned()],
        false => quoted(list("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk", table)?),
    };
    add(table, &format!("{from} NOT INDEXED"), &keys);
    for index in list("SELECT name FROM pragma_index_list(?1)", table)? {
        let keys = quoted(list("SELECT name FROM pragma_index_info(?1) ORDER BY seqno", &index)?);
        let mut made =
            sample.prepare_cached("SELECT sql FROM sqlite_master WHERE type = 'index' AND name = ?1")?;
        let made: Option<String> = made.query_row([&index], |row| row.get(0)).optional()?.flatten();
        let condition = made.as_deref().and_then(|sql| sql.split_once(" WHERE "));
        let condition = condition.map_or(String::new(), |(_, condition)| format!(" WHERE {condition}"));
        add(&index, &format!("{from} INDEXED BY {}{condition}", self::quoted(&index)), &keys);
    }
    Ok(ends)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
