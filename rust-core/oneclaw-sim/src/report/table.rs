//! Tables as HTML.

use super::format::escaped;
use std::fmt::Write;

/// What a cell says, and how it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    text: String,
    class: &'static str,
}

/// A plain cell.
pub fn plain(text: impl Into<String>) -> Entry {
    Entry { text: text.into(), class: "" }
}

/// A number that should be nothing.
pub fn fault(number: u64) -> Entry {
    Entry { text: super::format::whole(number), class: if number == 0 { "good" } else { "bad" } }
}

/// A cell that is good or bad news.
pub fn judged(text: impl Into<String>, is_good: bool) -> Entry {
    Entry { text: text.into(), class: if is_good { "good" } else { "bad" } }
}

/// A row.
pub struct Row {
    /// Its class: whose it is.
    pub class: &'static str,
    /// Its cells.
    pub cells: Vec<Entry>,
}

/// A table that scrolls where the screen is narrow.
pub fn table(head: &[&str], rows: &[Row]) -> String {
    let mut html = String::from(r#"<div class="wide"><table><thead><tr>"#);
    for title in head {
        let _ = write!(html, "<th>{}</th>", escaped(title));
    }
    html.push_str("</tr></thead><tbody>");
    for row in rows {
        let _ = write!(html, r#"<tr class="{}">"#, row.class);
        for cell in &row.cells {
            let _ = write!(html, r#"<td class="{}">{}</td>"#, cell.class, escaped(&cell.text));
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
    html
}
