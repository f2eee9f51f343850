//! The steps from one schema version to the next. A step is SQL in a file, and never edited once shipped.

use crate::seed;
use oneclaw_model::PresetModel;
use rusqlite::{Connection, Transaction};

/// The newest schema version.
pub const CURRENT: i64 = 2;

/// The steps of the core's own tables, from nothing to the newest version.
const CORE_STEPS: [&str; 5] = [
    include_str!("../sql/core_1.sql"),
    include_str!("../sql/core_2.sql"),
    include_str!("../sql/core_3.sql"),
    include_str!("../sql/core_4.sql"),
    include_str!("../sql/core_5.sql"),
];
/// The newest version of them.
pub(crate) const CORE_CURRENT: i64 = CORE_STEPS.len() as i64;

/// A version of the schema: how Room knows it, and how to get there.
pub(crate) struct Version {
    pub number: i64,
    /// What Room's master table says.
    pub identity_hash: &'static str,
    /// From the version before; `None` for the first.
    step: Option<Step>,
}

/// What a version has that the one before has not.
struct Step {
    sql: &'static str,
    /// The columns it adds, each with its table.
    adds: &'static [(&'static str, &'static str)],
    /// Whether it gives preset models their window.
    sets_windows: bool,
}

/// Every version there ever was.
pub(crate) const VERSIONS: [Version; 2] = [
    Version { number: 1, identity_hash: "c2fe8f20d5be38892efeb54e54c511b2", step: None },
    Version {
        number: 2,
        identity_hash: "f50a20c642811826a22174751ad5cfcc",
        step: Some(Step {
            sql: include_str!("../sql/migrate_1_2.sql"),
            adds: &[
                ("models", "context_window_size"),
                ("sessions", "compacted_summary"),
                ("sessions", "compact_boundary_timestamp"),
            ],
            sets_windows: true,
        }),
    },
];

/// The tables of the original app, in every version.
pub(crate) const TABLES: [&str; 6] =
    ["agents", "providers", "models", "sessions", "messages", "app_settings"];

/// The steps from a version on.
fn steps_from(version: i64) -> impl Iterator<Item = &'static Step> {
    const { &VERSIONS }.iter().filter(move |v| v.number > version).filter_map(|v| v.step.as_ref())
}

/// An empty file of those versions.
pub(crate) fn sample(version: i64, core: i64) -> rusqlite::Result<Connection> {
    let sample = Connection::open_in_memory()?;
    sample.execute_batch(seed::ROOM)?;
    sample.execute_batch(seed::ANDROID)?;
    for (table, column) in steps_from(version).flat_map(|step| step.adds) {
        sample.execute_batch(&format!("ALTER TABLE {table} DROP COLUMN {column}"))?;
    }
    for step in CORE_STEPS.iter().take(usize::try_from(core).unwrap_or(0)) {
        sample.execute_batch(step)?;
    }
    Ok(sample)
}

/// What bringing a file up to date means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The version found.
    pub from: i64,
    /// The version reached.
    pub to: i64,
    /// How many models get a context window.
    pub windows: u64,
    /// The version of the core's own tables found; 0 if there are none yet.
    pub core_from: i64,
    /// The version of them reached.
    pub core_to: i64,
}

impl Change {
    /// Whether there is nothing to do.
    pub fn is_none(&self) -> bool {
        self.from == self.to && self.core_from == self.core_to
    }
}

/// The version of the core's own tables; 0 if there are none.
pub(crate) fn core_version(connection: &Connection) -> rusqlite::Result<i64> {
    let is_there: bool = connection.query_row(
        "SELECT COUNT(*) FROM sqlite_master WHERE name = 'core_version'",
        [],
        |row| row.get(0),
    )?;
    if !is_there {
        return Ok(0);
    }
    connection.query_row("SELECT IFNULL(MAX(version), 0) FROM core_version", [], |row| row.get(0))
}

/// Makes the core's own tables, or brings them up to date.
pub(crate) fn migrate_core(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let found = core_version(transaction)?;
    for step in CORE_STEPS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.execute_batch(step)?;
    }
    transaction.execute("DELETE FROM core_version", [])?;
    transaction.execute("INSERT INTO core_version VALUES (?1)", [CORE_CURRENT])?;
    Ok(())
}

/// Brings the schema up to date, all steps in the caller's transaction.
pub(crate) fn migrate(transaction: &Transaction<'_>, from: i64) -> rusqlite::Result<Change> {
    let mut windows = 0;
    for step in steps_from(from) {
        transaction.execute_batch(step.sql)?;
        if step.sets_windows {
            windows += set_windows(transaction)?;
        }
    }
    transaction.pragma_update(None, "user_version", CURRENT)?;
    let core_from = core_version(transaction)?;
    migrate_core(transaction)?;
    Ok(Change { from, to: CURRENT, windows, core_from, core_to: CORE_CURRENT })
}

/// What [`migrate`] would do to a file of that version.
pub(crate) fn preview(connection: &Connection, from: i64) -> rusqlite::Result<Change> {
    let mut windows = 0;
    if steps_from(from).any(|step| step.sets_windows) {
        let mut count = connection.prepare("SELECT COUNT(*) FROM models WHERE id = ?1")?;
        for model in PresetModel::all() {
            windows += count.query_row([model.id], |row| row.get::<_, u64>(0))?;
        }
    }
    Ok(Change { from, to: CURRENT, windows, core_from: core_version(connection)?, core_to: CORE_CURRENT })
}

/// Gives the preset models of any provider their window where none is set.
fn set_windows(transaction: &Transaction<'_>) -> rusqlite::Result<u64> {
    let mut update = transaction.prepare(
        "UPDATE models SET context_window_size = ?1 WHERE id = ?2 AND context_window_size IS NULL",
    )?;
    let mut changed = 0;
    for model in PresetModel::all() {
        changed += update.execute((model.window, model.id))? as u64;
    }
    Ok(changed)
}
