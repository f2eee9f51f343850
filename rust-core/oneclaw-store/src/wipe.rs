//! Clears what SQLite leaves behind. `secure_delete` overwrites what is deleted; but where SQLite moves rows from page to
//! page, as it does when a reply grows, copies stay in the free part of a page until something else needs the room. And
//! what another app has deleted without it stays where it was.

use crate::error::{Fault, Result};
use rusqlite::Transaction;
use rusqlite::config::DbConfig;
use std::ops::Range;

/// Clears whatever holds no row: free pages, and the free parts of all others. Reads the whole file, and writes the pages
/// that need it.
pub(crate) fn clear_free_space(transaction: &Transaction<'_>) -> Result<()> {
    // Pages cannot be written where SQLite defends itself against those who write them.
    let defend = |on| transaction.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, on);
    defend(false)?;
    let cleared = clear_pages(transaction);
    defend(true)?;
    cleared
}

fn clear_pages(transaction: &Transaction<'_>) -> Result<()> {
    let mut used = transaction
        .prepare(
            "SELECT pageno, pagetype = 'overflow', unused FROM dbstat WHERE pagetype <> 'overflow' OR unused > 0",
        )
        .map_err(no_tables)?;
    let read = |number: u32| -> rusqlite::Result<Vec<u8>> {
        transaction
            .prepare_cached("SELECT data FROM sqlite_dbpage WHERE pgno = ?1")?
            .query_row([number], |row| row.get(0))
    };
    let write = |number: u32, page: &[u8]| {
        transaction
            .prepare_cached("UPDATE sqlite_dbpage SET data = ?2 WHERE pgno = ?1")?
            .execute((number, page))
    };
    let first = read(1).map_err(no_tables)?;
    let used = used.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    for (number, is_overflow, unused) in used.collect::<rusqlite::Result<Vec<(u32, bool, usize)>>>()? {
        let mut page = read(number)?;
        let end = page.len();
        let was_free = match is_overflow {
            // The rest of a text that is too long for one page; what is not used is the end.
            true => clear(&mut page, end.saturating_sub(unused)..end),
            false => clear_around_rows(&mut page, if number == 1 { 100 } else { 0 }),
        };
        if was_free {
            write(number, &page)?;
        }
    }
    // Free pages: a chain of lists, each in a free page itself. A chain that is longer than the file goes in circles.
    let mut list = number_at(&first, 32, 4);
    let mut left: usize = transaction.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    while list != 0 {
        let mut page = read(page_number(list))?;
        let free = number_at(&page, 4, 4);
        left = left
            .checked_sub(free.saturating_add(1))
            .ok_or_else(|| Fault::Damaged { what: "the list of its free pages has no end".to_owned() })?;
        let end = 8 + 4 * free;
        for at in (8..end).step_by(4) {
            let number = page_number(number_at(&page, at, 4));
            let mut free = read(number)?;
            if clear(&mut free, 0..usize::MAX) {
                write(number, &free)?;
            }
        }
        if clear(&mut page, end..usize::MAX) {
            write(page_number(list), &page)?;
        }
        list = number_at(&page, 0, 4);
    }
    Ok(())
}

/// Clears what lies between the list of a page's cells and the cells, and the gaps that removed cells left; says whether
/// there was anything.
fn clear_around_rows(page: &mut [u8], header: usize) -> bool {
    let is_leaf = matches!(page.get(header), Some(10 | 13));
    let list = header + if is_leaf { 8 } else { 12 };
    let between = list + 2 * number_at(page, header + 3, 2)..number_at(page, header + 5, 2);
    let mut was_there = clear(page, between);
    let mut gap = number_at(page, header + 1, 2);
    while gap != 0 {
        let end = gap + number_at(page, gap + 2, 2);
        was_there |= clear(page, gap + 4..end);
        // They stand in order; a chain that does not is damaged.
        gap = Some(number_at(page, gap, 2)).filter(|next| *next > gap).unwrap_or(0);
    }
    was_there
}

/// Clears a part of a page, which may be cut short by its end; says whether there was anything.
fn clear(page: &mut [u8], part: Range<usize>) -> bool {
    let part = part.start..part.end.min(page.len());
    match page.get_mut(part).filter(|free| free.iter().any(|byte| *byte != 0)) {
        Some(free) => {
            free.fill(0);
            true
        }
        None => false,
    }
}

/// A number as SQLite writes it; zero beyond the end.
fn number_at(page: &[u8], at: usize, length: usize) -> usize {
    page.get(at..at + length).unwrap_or_default().iter().fold(0, |n, byte| n << 8 | usize::from(*byte))
}

fn page_number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

/// Nothing is removed where it would leave traces: a build without these tables says so.
fn no_tables(error: rusqlite::Error) -> Fault {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::Unknown) => Fault::Refused {
            why: "nothing was purged: this build's SQLite cannot clear pages (it needs SQLITE_ENABLE_DBPAGE_VTAB and \
                  SQLITE_ENABLE_DBSTAT_VTAB)"
                .to_owned(),
        },
        _ => error.into(),
    }
}
