//! OpenAI's Responses, without state: nothing of a response is kept, so reasoning goes back in its encrypted form.

pub(crate) mod events;
mod ids;
mod input;
pub(crate) mod reply;
pub(crate) mod request;
