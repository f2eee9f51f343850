//! The values that cross the border, by subject. No logic.

mod catalogue;
mod context;
mod conversation;
mod error;
mod event;
mod ports;
mod settings;

pub use catalogue::*;
pub use context::*;
pub use conversation::*;
pub use error::*;
pub use event::*;
pub use ports::*;
pub use settings::*;
