//! Clears what SQLite leaves behind. `secure_delete` overwrites what is deleted; but where SQLite moves rows from page to
//! page, as it does when a reply grows, copies stay in the free part of a page until something else needs the room.

use rusqlite::Transaction;

/// Clears the free part of every page that holds rows. Reads the whole file, and writes the pages that need it.
pub(crate) fn clear_free_space(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut numbers = transaction.prepare("SELECT pageno FROM dbstat WHERE pagetype <> 'overflow'")?;
    let numbers = numbers.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<u32>>>()?;
    let mut read = transaction.prepare("SELECT data FROM sqlite_dbpage WHERE pgno = ?1")?;
    let mut write = transaction.prepare("UPDATE sqlite_dbpage SET data = ?2 WHERE pgno = ?1")?;
    for number in numbers {
        let mut page: Vec<u8> = read.query_row([number], |row| row.get(0))?;
        if clear(&mut page, if number == 1 { 100 } else { 0 }) {
            write.execute((number, page))?;
        }
    }
    Ok(())
}

/// Clears what lies between the list of a page's cells and the cells themselves; says whether there was anything.
fn clear(page: &mut [u8], header: usize) -> bool {
    let number = |at: usize| match page.get(header + at..header + at + 2) {
        Some(&[high, low]) => usize::from(u16::from_be_bytes([high, low])),
        _ => 0,
    };
    let is_leaf = matches!(page.get(header), Some(10 | 13));
    let list = header + if is_leaf { 8 } else { 12 };
    let free = list + 2 * number(3)..number(5);
    let Some(free) = page.get_mut(free).filter(|free| free.iter().any(|byte| *byte != 0)) else {
        return false;
    };
    free.fill(0);
    true
}
