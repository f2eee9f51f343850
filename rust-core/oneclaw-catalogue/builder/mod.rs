//! Makes the catalogue from the table of facts and the rules of families. Used by `examples/build_catalogue.rs`, which
//! writes it, and by `tests/catalogue.rs`, which checks that it was written; no part of the library.

mod line;
pub mod row;
pub mod rule;

use oneclaw_catalogue::{Facts, fits};
use row::Row;
use rule::Rule;
use serde::de::DeserializeOwned;

/// The lines of the catalogue: one for each model by service and id, then one for each family in the order of the rules.
pub fn build(table: &str, rules: &str) -> Result<String, String> {
    let rows: Vec<Row> = read(table)?;
    let rules: Vec<Rule> = read(rules)?;
    if let Some(rule) = rules.iter().find(|rule| rule.note.is_empty()) {
        return Err(format!("the rule for {:?} does not say where it is from", rule.ids));
    }
    let mut models = Vec::new();
    for row in &rows {
        let rule = rules.iter().find(|rule| rule.is_for(&row.service, &row.id));
        let rule = rule.ok_or_else(|| format!("no rule is for {} {}", row.service, row.id))?;
        if !rule.is_dropped {
            models.push(rule.facts(row)?);
        }
    }
    // A rule for one id brings the model along where the table has none of it.
    let mut families = Vec::new();
    for rule in rules.iter().filter(|rule| !rule.is_dropped) {
        for id in &rule.ids {
            if id.contains('*') {
                families.push(rule.bare(id)?);
            } else if !models.iter().any(|known| known.service == rule.service && known.id == *id) {
                models.push(rule.facts(&Row::bare(&rule.service, id))?);
            }
        }
    }
    models.sort_by(|a, b| (&a.service, &a.id).cmp(&(&b.service, &b.id)));
    let family = |model: &Facts| {
        let id = model.id.to_ascii_lowercase();
        families.iter().find(|family| family.service == model.service && fits(&family.id, &id))
    };
    let mut lines = String::new();
    for model in &models {
        lines += &line::of(model, family(model))?;
    }
    for family in &families {
        lines += &line::of(family, None)?;
    }
    models.append(&mut families);
    if oneclaw_catalogue::read(&lines) == models {
        Ok(lines)
    } else {
        Err("the lines are not read as they were meant".into())
    }
}

/// Reads one thing per line.
pub fn read<T: DeserializeOwned>(lines: &str) -> Result<Vec<T>, String> {
    let read =
        |(at, line)| serde_json::from_str(line).map_err(|error| format!("line {}: {error}: {line}", at + 1));
    lines.lines().enumerate().map(read).collect()
}
