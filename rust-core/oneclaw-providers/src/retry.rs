//! When a request is tried again, and after how long. Pure: chance and time are arguments.

use crate::ProviderError;
use std::time::Duration;

/// The longest wait a service may ask for; beyond it the error is the user's to see.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The longest wait of our own.
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);

/// How long to wait before the attempt after this one (the first is 0); `None` where it is not worth it. Waits double,
/// and half of each is left to chance so that many clients do not come back at once. What the service asks for can make
/// a wait longer, not shorter: "at once" is no time to come back to a service in trouble.
pub fn delay(attempt: u32, base: Duration, retry_after: Option<Duration>, random: u64) -> Option<Duration> {
    let asked = retry_after.unwrap_or_default();
    if asked > LONGEST_WAIT {
        return None;
    }
    let whole = base.saturating_mul(2u32.saturating_pow(attempt)).min(LONGEST_BACKOFF);
    let share = (random % 1_001) as f64 / 1_000.0;
    Some(whole.mul_f64(0.5 + share / 2.0).max(asked))
}

/// An attempt that failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub error: ProviderError,
    /// Bytes of the answer's body had come.
    pub had_body: bool,
}

impl From<ProviderError> for Failed {
    fn from(error: ProviderError) -> Self {
        Self { error, had_body: false }
    }
}

impl Failed {
    /// Whether the transport may send the same request again by itself. A connection that fails once the answer has
    /// begun is not tried again: the service has worked on the request. An error that the service itself reports in
    /// place of a reply is.
    pub(crate) fn is_worth_another_attempt(&self) -> bool {
        let is_broken = match &self.error {
            ProviderError::Network { .. } => true,
            // Zero is the service's word.
            ProviderError::Timeout { after, .. } => !after.is_zero(),
            _ => false,
        };
        !(self.had_body && is_broken) && is_worth_another_attempt(&self.error)
    }
}

/// After a long silence nothing is sent again: the service may be at work on the first request, and the user has waited
/// once already.
fn is_worth_another_attempt(error: &ProviderError) -> bool {
    match error {
        ProviderError::Timeout { what, after, .. } => after.is_zero() || *what == crate::http::CONNECTION,
        other => other.is_retryable(),
    }
}

/// What a `Retry-After` header says: seconds, or the time at which to come back. `now` is seconds since 1970.
pub fn retry_after(header: &str, now: u64) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = http_date(header)?;
    Some(Duration::from_secs(at.saturating_sub(now)))
}

/// `Sun, 06 Nov 1994 08:49:37 GMT` as seconds since 1970.
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, date) = text.split_once(", ")?;
    let mut words = date.split(' ');
    let day: u64 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let year: u64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.splitn(3, ':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let is_fine = words.next() == Some("GMT")
        && (1..=31).contains(&day)
        && (1970..=9999).contains(&year)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !is_fine {
        return None;
    }
    // Days since 1970, with the year starting in March so that the leap day comes last.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1;
    let days = days.checked_sub(719_468)?;
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Duration = Duration::from_millis(500);

    #[test]
    fn waits_double_with_half_of_each_left_to_chance() {
        let at = |attempt, random| delay(attempt, BASE, None, random).unwrap().as_millis();
        assert_eq!((at(0, 0), at(0, 1_000)), (250, 500));
        assert_eq!((at(1, 0), at(1, 1_000)), (500, 1_000));
        assert_eq!((at(2, 0), at(2, 500)), (1_000, 1_500));
        assert_eq!(at(u32::MAX, 1_000), 30_000);
        assert!(delay(u32::MAX, Duration::MAX, None, u64::MAX).unwrap() <= LONGEST_BACKOFF);
    }

    #[test]
    fn the_service_may_ask_for_a_minute() {
        let asked = |seconds| delay(0, BASE, Some(Duration::from_secs(seconds)), 7);
        assert_eq!(asked(1), Some(Duration::from_secs(1)));
        assert_eq!(asked(60), Some(Duration::from_secs(60)));
        assert_eq!(asked(61), None);
        assert_eq!(delay(0, BASE, Some(ProviderError::NEVER), 7), None);
    }

    /// "At once" and dates in the past leave our own wait as it is, chance included.
    #[test]
    fn a_short_wait_does_not_replace_our_own() {
        for asked in [Duration::ZERO, Duration::from_millis(1)] {
            for (attempt, random) in [(0, 0), (0, 777), (1, 1_000), (2, 3)] {
                assert_eq!(delay(attempt, BASE, Some(asked), random), delay(attempt, BASE, None, random));
            }
        }
        let between = Duration::from_millis(300);
        assert_eq!(delay(0, BASE, Some(between), 0), Some(between));
        assert_eq!(delay(0, BASE, Some(between), 1_000), Some(BASE));
    }

    #[test]
    fn headers_are_seconds_or_a_date() {
        let at = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(http_date(at), Some(784_111_777));
        assert_eq!(http_date("Thu, 29 Feb 2024 00:00:00 GMT"), Some(1_709_164_800));
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(retry_after(at, 784_111_770), Some(Duration::from_secs(7)));
        assert_eq!(retry_after(at, 784_111_999), Some(Duration::ZERO));
        assert_eq!(retry_after(" 2 ", 0), Some(Duration::from_secs(2)));
        assert_eq!(retry_after("0.5", 0), Some(Duration::from_millis(500)));
        for wrong in [
            "-1",
            "soon",
            "",
            "NaN",
            "Sun, 06 Nov 1994 25:49:37 GMT",
            "Sun, 0 Nov 1994 08:49:37 GMT",
            "1e400",
        ] {
            assert_eq!(retry_after(wrong, 0), None, "{wrong}");
        }
    }
}
