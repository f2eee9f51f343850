//! What is sent along with a message: something new, or something that is in the file already and is taken over from there.
//! And its bytes, for whoever shows it.

use crate::agent::Agent;
use crate::failure::Failure;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, Engine, GeneralPurpose, GeneralPurposeConfig};
use oneclaw_model::Attachment;
use oneclaw_store::attachments;

/// Base64 as everybody writes it, with `=` at its end or without.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Something that is sent along with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Enclosure {
    /// Something new.
    New(Attachment),
    /// A copy of what is attached to a message of the file.
    Stored {
        /// The message.
        message: String,
        /// How many are attached to it before this one.
        nth: usize,
    },
}

impl Agent {
    /// The bytes of what is attached to a message and has so many before it.
    pub async fn attachment(&self, message: &str, nth: usize) -> Result<Vec<u8>, Failure> {
        let message = message.to_owned();
        let found = self.read(move |c| attachments::get(c, &message, nth)).await?;
        let data = found.data.ok_or_else(|| Failure::NotFound("content of the attachment".to_owned()))?;
        BASE64.decode(data).map_err(|_| Failure::Invalid("the attachment is not in base64".to_owned()))
    }

    /// All that is sent along, with what has to be read for it.
    pub(crate) async fn gather(&self, enclosures: Vec<Enclosure>) -> Result<Vec<Attachment>, Failure> {
        let gathered = self.read(|c| {
            let one = |enclosure| match enclosure {
                Enclosure::New(attachment) => Ok(attachment),
                Enclosure::Stored { message, nth } => attachments::get(c, &message, nth),
            };
            enclosures.into_iter().map(one).collect()
        });
        gathered.await
    }
}
