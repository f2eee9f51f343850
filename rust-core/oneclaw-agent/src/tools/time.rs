//! `get_current_time`.
//!
//! Decides how a moment is written: ISO 8601 with its offset, and the weekday. It reads no clock and knows no
//! time zones by itself: both are handed in. A zone is UTC, a fixed offset, or a name that whoever built the tool
//! can look up; without a lookup a name is refused rather than guessed, because a database of zones is not part
//! of this crate.

use super::{Answer, Answering, Tool, quoted, text};
use oneclaw_model::ToolSpec;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The zone of the device, as a name for [`Zones`].
pub const LOCAL: &str = "local";

/// The largest offset there is, in minutes (ISO 8601 and Java's `ZoneOffset` go to 18 hours).
const MOST_OFFSET: i64 = 18 * 60;

const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Says what time it is.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The offset from UTC, in seconds, that a zone has at a moment (seconds since 1970); `None` for a name that is
/// not known. [`LOCAL`] asks for the zone of the device.
pub type Zones = Arc<dyn Fn(&str, i64) -> Option<i32> + Send + Sync>;

/// The tool.
#[derive(Clone)]
pub struct CurrentTime {
    clock: Clock,
    zones: Option<Zones>,
}

impl CurrentTime {
    /// With that clock.
    pub fn new(clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), zones: None }
    }

    /// With the system's clock.
    pub fn system() -> Self {
        Self::new(SystemTime::now)
    }

    /// Knows named zones, and the device's own, which then stands for a zone that is not given.
    #[must_use]
    pub fn with_zones(mut self, zones: impl Fn(&str, i64) -> Option<i32> + Send + Sync + 'static) -> Self {
        self.zones = Some(Arc::new(zones));
        self
    }

    fn answer(&self, zone: Option<&str>) -> Answer {
        let now = seconds((self.clock)());
        let asked = zone.map(str::trim).filter(|zone| !zone.is_empty());
        let known = |name: &str| self.zones.as_ref().and_then(|zones| zones(name, now));
        let offset = match asked {
            // A device that does not know where it is still knows the time.
            None => Some(known(LOCAL).unwrap_or(0)),
            Some(zone) if zone.eq_ignore_ascii_case(LOCAL) => known(LOCAL),
            Some(zone) => fixed(zone).or_else(|| known(zone)),
        };
        match offset {
            Some(offset) => Answer::ok(written(now, offset)),
            None => Answer::failed(self.unknown(asked.unwrap_or_default(), now)),
        }
    }

    fn unknown(&self, zone: &str, now: i64) -> String {
        format!(
            "The time zone \"{}\" is not known here. Give \"UTC\" or an offset from it such as \"+02:00\". It is {}.",
            quoted(zone),
            written(now, 0)
        )
    }
}

impl Tool for CurrentTime {
    fn spec(&self) -> ToolSpec {
        let zone = if self.zones.is_some() {
            "IANA name (\"Europe/Berlin\"), \"UTC\", \"local\" or an offset from UTC (\"+02:00\"). Default: local."
        } else {
            "\"UTC\" or an offset from it (\"+02:00\"). Default: UTC. Names of zones are not known."
        };
        ToolSpec {
            name: "get_current_time".to_owned(),
            description: "The current date, time and weekday.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {"timezone": {"type": "string", "description": zone}},
                "required": []
            }),
            protected: false,
        }
    }

    fn run(self: Arc<Self>, arguments: Map<String, Value>) -> Answering<'static> {
        Box::pin(async move { self.answer(text(&arguments, "timezone")) })
    }
}

/// Seconds since 1970, rounded down.
fn seconds(moment: SystemTime) -> i64 {
    let whole = |duration: std::time::Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX / 2);
    match moment.duration_since(UNIX_EPOCH) {
        Ok(since) => whole(since),
        Err(before) => {
            let before = before.duration();
            -whole(before) - i64::from(before.subsec_nanos() > 0)
        }
    }
}

/// The offset in seconds of `UTC`, `Z`, `+2`, `+02:00`, `-0930`, `UTC+2`, `GMT-03:30`.
fn fixed(zone: &str) -> Option<i32> {
    let upper = zone.to_ascii_uppercase();
    let rest = upper.strip_prefix("UTC").or_else(|| upper.strip_prefix("GMT")).unwrap_or(&upper);
    if matches!(rest, "Z" | "" | "ETC/UTC") {
        return Some(0);
    }
    let (sign, digits) = match rest.strip_prefix('+') {
        Some(digits) => (1, digits),
        None => (-1, rest.strip_prefix(['-', '\u{2212}'])?),
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) if minutes.len() == 2 => (hours, minutes),
        Some(_) => return None,
        None if digits.len() == 4 => digits.split_at_checked(2)?,
        None => (digits, "0"),
    };
    let number = |text: &str| -> Option<i64> {
        let is_plain = matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_plain { text.parse().ok() } else { None }
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let total = hours * 60 + minutes;
    if minutes < 60 && total <= MOST_OFFSET { i32::try_from(sign * total * 60).ok() } else { None }
}

/// `2026-02-28T14:03:07+02:00 (Saturday)`.
fn written(now: i64, offset: i32) -> String {
    let local = now.saturating_add(i64::from(offset));
    let (days, second) = (local.div_euclid(86_400), local.rem_euclid(86_400));
    let (year, month, day) = date(days);
    // 1970 began on a Thursday.
    let weekday = usize::try_from((days + 3).rem_euclid(7)).ok().and_then(|at| WEEKDAYS.get(at));
    let zone = match offset {
        0 => "Z".to_owned(),
        _ => {
            let (sign, size) = (if offset < 0 { '-' } else { '+' }, offset.unsigned_abs());
            format!("{sign}{:02}:{:02}", size / 3_600, size / 60 % 60)
        }
    };
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let utc = if offset == 0 { ", UTC" } else { "" };
    format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone} ({}{utc})",
        weekday.copied().unwrap_or_default()
    )
}

/// Year, month and day of a number of days since 1970, in the proleptic Gregorian calendar
/// (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`).
fn date(days: i64) -> (i64, i64, i64) {
    // Counted from 1 March of year 0, so that a leap day ends its year.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(seconds: u64) -> CurrentTime {
        CurrentTime::new(move || UNIX_EPOCH + Duration::from_secs(seconds))
    }

    /// 2026-02-28T23:30:05Z
    const NIGHT: u64 = 1_772_321_405;

    #[test]
    fn moments_are_written_exactly() {
        for (seconds, offset, text) in [
            (0, 0, "1970-01-01T00:00:00Z (Thursday, UTC)"),
            (951_782_400, 0, "2000-02-29T00:00:00Z (Tuesday, UTC)"),
            (4_107_542_400, 0, "2100-03-01T00:00:00Z (Monday, UTC)"),
            (1_772_321_405, 0, "2026-02-28T23:30:05Z (Saturday, UTC)"),
            (1_772_321_405, 3_600, "2026-03-01T00:30:05+01:00 (Sunday)"),
            (1_772_321_405, -12_600, "2026-02-28T20:00:05-03:30 (Saturday)"),
            (-1, 0, "1969-12-31T23:59:59Z (Wednesday, UTC)"),
        ] {
            assert_eq!(written(seconds, offset), text);
        }
        assert_eq!(seconds(UNIX_EPOCH - Duration::from_millis(1)), -1);
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut before = date(-800_000);
        for days in -799_999..800_000 {
            let (year, month, day) = date(days);
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let follows = match (before.1, before.2) {
                (12, 31) => (before.0 + 1, 1, 1),
                (2, 28) if leap => (before.0, 2, 29),
                (2, 28 | 29) if (before.2 == 29) || !leap => (before.0, 3, 1),
                (4 | 6 | 9 | 11, 30) | (_, 31) => (before.0, before.1 + 1, 1),
                _ => (before.0, before.1, before.2 + 1),
            };
            assert_eq!((year, month, day), follows);
            before = (year, month, day);
        }
    }

    #[test]
    fn offsets_are_read_and_nothing_else() {
        for (text, minutes) in [
            ("UTC", 0),
            ("utc", 0),
            ("Z", 0),
            ("Etc/UTC", 0),
            ("GMT", 0),
            ("+2", 120),
            ("+02:00", 120),
            ("-0930", -570),
            ("UTC+5:45", 345),
            ("GMT-3", -180),
            ("\u{2212}03:00", -180),
            ("+18:00", 1_080),
        ] {
            assert_eq!(fixed(text), Some(minutes * 60), "{text}");
        }
        for text in [
            "Europe/Berlin",
            "+",
            "+25",
            "+18:01",
            "+02:60",
            "+2:0",
            "2",
            "+-2",
            "+02:00:00",
            "CET",
            "Etc/GMT+3",
            "+٢",
        ] {
            assert_eq!(fixed(text), None, "{text}");
        }
    }

    #[test]
    fn without_a_database_a_name_is_refused_and_the_time_still_told() {
        let tool = at(NIGHT);
        assert_eq!(tool.answer(None), Answer::ok("2026-02-28T23:30:05Z (Saturday, UTC)"));
        assert_eq!(tool.answer(Some("+01:00")), Answer::ok("2026-03-01T00:30:05+01:00 (Sunday)"));
        for zone in ["Europe/Berlin", "local"] {
            let answer = tool.answer(Some(zone));
            assert!(answer.failed);
            assert!(answer.text.contains("It is 2026-02-28T23:30:05Z"), "{}", answer.text);
        }
    }

    #[test]
    fn a_host_may_know_zones() {
        let tool = at(NIGHT).with_zones(|zone, moment| match zone {
            "Europe/Berlin" if moment == 1_772_321_405 => Some(3_600),
            LOCAL => Some(-18_000),
            _ => None,
        });
        assert_eq!(tool.answer(Some("Europe/Berlin")).text, "2026-03-01T00:30:05+01:00 (Sunday)");
        assert_eq!(tool.answer(None).text, "2026-02-28T18:30:05-05:00 (Saturday)");
        assert_eq!(tool.answer(Some("LOCAL")).text, "2026-02-28T18:30:05-05:00 (Saturday)");
        assert!(tool.answer(Some("Mars/Olympus")).failed);
    }

    #[tokio::test]
    async fn the_tool_answers() {
        let mut arguments = Map::new();
        arguments.insert("timezone".to_owned(), "UTC".into());
        let answer = Arc::new(at(NIGHT)).run(arguments).await;
        assert_eq!(answer, Answer::ok("2026-02-28T23:30:05Z (Saturday, UTC)"));
    }
}
