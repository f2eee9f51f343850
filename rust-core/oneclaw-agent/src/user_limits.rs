//! What the user says of a model's limits, kept among the settings: the original schema has no columns of their own for it.

use crate::claims::known_limits;
use oneclaw_store::{Connection, Transaction, catalogue, settings};

/// The window the user has given a model.
pub fn user_window(
    connection: &Connection,
    provider_id: &str,
    model: &str,
) -> oneclaw_store::Result<Option<u64>> {
    number(connection, &format!("window/{provider_id}/{model}"))
}

/// Keeps the window the user gives a model, which goes before everything else that is said of it; `None` goes back to that.
pub fn set_user_window(
    transaction: &Transaction<'_>,
    provider_id: &str,
    model: &str,
    window: Option<u64>,
) -> oneclaw_store::Result<()> {
    set_number(transaction, &format!("window/{provider_id}/{model}"), window)
}

/// Keeps the window a user leaves in the form of a model: it is the user's own word only where it is not what was known
/// already. `now` is milliseconds since 1970.
pub fn keep_user_window(
    transaction: &Transaction<'_>,
    provider_id: &str,
    model: &str,
    window: Option<u64>,
    now: i64,
) -> oneclaw_store::Result<()> {
    if user_window(transaction, provider_id, model)? == window {
        return Ok(());
    }
    set_user_window(transaction, provider_id, model, None)?;
    let provider = catalogue::provider(transaction, provider_id)?;
    let known = known_limits(transaction, &provider, model, now)?.window;
    set_user_window(transaction, provider_id, model, window.filter(|window| Some(*window) != known))
}

/// Keeps the longest reply a user leaves in the form of a model, by the rule of [`keep_user_window`].
pub fn keep_user_max_output(
    transaction: &Transaction<'_>,
    provider_id: &str,
    model: &str,
    max_output: Option<u64>,
    now: i64,
) -> oneclaw_store::Result<()> {
    if user_max_output(transaction, provider_id, model)? == max_output {
        return Ok(());
    }
    set_max_output(transaction, provider_id, model, None)?;
    let provider = catalogue::provider(transaction, provider_id)?;
    let known = known_limits(transaction, &provider, model, now)?.max_output;
    set_max_output(transaction, provider_id, model, max_output.filter(|tokens| Some(*tokens) != known))
}

/// The longest reply the user has given a model. The original schema has no column for it, so it stands among the settings.
pub fn user_max_output(
    connection: &Connection,
    provider_id: &str,
    model: &str,
) -> oneclaw_store::Result<Option<u64>> {
    number(connection, &format!("max_output/{provider_id}/{model}"))
}

/// Keeps the longest reply of a model; `None` goes back to what is known of it.
pub fn set_max_output(
    transaction: &Transaction<'_>,
    provider_id: &str,
    model: &str,
    max_output: Option<u64>,
) -> oneclaw_store::Result<()> {
    set_number(transaction, &format!("max_output/{provider_id}/{model}"), max_output)
}

fn number(connection: &Connection, key: &str) -> oneclaw_store::Result<Option<u64>> {
    let kept = settings::get(connection, key)?;
    Ok(kept.and_then(|text| text.parse().ok()).filter(|n| *n > 0))
}

fn set_number(transaction: &Transaction<'_>, key: &str, number: Option<u64>) -> oneclaw_store::Result<()> {
    match number {
        Some(number) => settings::set(transaction, key, &number.to_string()),
        None => settings::remove(transaction, key),
    }
}
