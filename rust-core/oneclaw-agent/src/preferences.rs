//! How the user wants contexts to be kept small, as it is kept among the app's settings.

use crate::failure::Failure;
use oneclaw_context::Policy;
use oneclaw_context::policy::PolicyFault;
use oneclaw_store::{Connection, Transaction, settings};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The setting that holds them.
const KEY: &str = "context_policy";

/// A preset and what the user has changed in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// The preset's name.
    pub preset: String,
    /// Fields of the policy and their values.
    pub overrides: BTreeMap<String, String>,
}

impl Default for Preferences {
    fn default() -> Self {
        Self { preset: "oneclaw".to_owned(), overrides: BTreeMap::new() }
    }
}

impl Preferences {
    /// What the file says; the defaults where it says nothing that can be read.
    pub(crate) fn read(connection: &Connection) -> oneclaw_store::Result<Self> {
        let kept = settings::get(connection, KEY)?;
        Ok(kept.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    pub(crate) fn keep(&self, transaction: &Transaction<'_>) -> oneclaw_store::Result<()> {
        let text = serde_json::to_string(self)
            .map_err(|error| oneclaw_store::Fault::Refused { why: error.to_string() })?;
        settings::set(transaction, KEY, &text)
    }

    /// The policy they mean.
    pub fn policy(&self) -> Result<Policy, Failure> {
        let wrong = |fault: PolicyFault| Failure::Invalid(fault.to_string());
        let preset = Policy::preset(&self.preset).map_err(wrong)?;
        self.overrides.iter().try_fold(preset, |policy, (field, value)| {
            policy.with(&format!("{field}={value}")).map_err(wrong)
        })
    }
}
