//! Names of items, and the encrypted form of reasoning.
//!
//! Nothing is kept between requests, so the name of a message or call says which reasoning it came after, and the
//! encrypted form says which item of which model it is.

use crate::subject::Seal;
use crate::window::digest;

/// Marks the encrypted form; the original begins like this too.
const MARK: &str = "gAAAAB";

/// The name of a piece of reasoning.
pub(super) fn reasoning(answer: &str, at: usize) -> String {
    format!("rs_{answer}{at:02x}")
}

/// The name of a message or call, which came after that piece of reasoning, if any.
pub(super) fn follower(kind: &str, answer: &str, at: usize, after: Option<usize>) -> String {
    let after = after.map_or(0, |after| after + 1);
    format!("{kind}_{answer}{at:02x}{after:02x}")
}

/// The name of the reasoning that a message or call came after; `None` for those without any and for names of others.
pub(super) fn required(id: &str) -> Option<String> {
    let (_, rest) = id.split_once('_')?;
    let is_ours = rest.len() == 20 && rest.bytes().all(|byte| byte.is_ascii_hexdigit());
    let answer = rest.get(..16).filter(|_| is_ours)?;
    let after = usize::from_str_radix(rest.get(18..)?, 16).ok()?;
    Some(reasoning(answer, after.checked_sub(1)?))
}

/// The encrypted form of a piece of reasoning.
pub(super) fn encrypted(seal: Seal, model: &str, id: &str) -> String {
    format!("{MARK}{}", seal.close(&[digest(model), digest(id)]))
}

/// Whose reasoning an encrypted form is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// This model's.
    Own,
    /// Another model's of this server.
    OtherModel,
    /// Nobody's that is known here.
    Unknown,
}

/// Whose reasoning that is, under that name.
pub(super) fn origin(seal: Seal, model: &str, id: &str, encrypted: &str) -> Origin {
    match encrypted.strip_prefix(MARK).and_then(|text| seal.open::<2>(text)) {
        Some([_, name]) if name != digest(id) => Origin::Unknown,
        Some([of, _]) if of == digest(model) => Origin::Own,
        Some(_) => Origin::OtherModel,
        None => Origin::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_which_reasoning_they_need() {
        let answer = "0123456789abcdef";
        let after = follower("fc", answer, 2, Some(1));
        assert_eq!(required(&after), Some(reasoning(answer, 1)));
        assert_eq!(required(&follower("msg", answer, 0, None)), None);
        for other in ["fc_1", "fc", "", "fc_0123456789abcdef01ä", "call_0123456789abcdef01zz"] {
            assert_eq!(required(other), None, "{other}");
        }
    }

    #[test]
    fn the_encrypted_form_is_of_one_item_of_one_model() {
        let seal = Seal::new(0);
        let text = encrypted(seal, "a", "rs_1");
        assert_eq!(origin(seal, "a", "rs_1", &text), Origin::Own);
        assert_eq!(origin(seal, "b", "rs_1", &text), Origin::OtherModel);
        assert_eq!(origin(seal, "a", "rs_2", &text), Origin::Unknown);
        assert_eq!(origin(Seal::new(1), "a", "rs_1", &text), Origin::Unknown);
        assert_eq!(origin(seal, "a", "rs_1", "gAAAAB"), Origin::Unknown);
    }
}
