//! Fields of a list of models as services write them, and which of their numbers are believed.

use oneclaw_catalogue::{Date, Prices, Rates, Tier};
use oneclaw_model::Effort;
use serde_json::Value;

/// Sizes that a window, a prompt or a reply can have. Whatever is outside is a mistake or a trap, and counts as unknown: a
/// window of one token would refuse every message, an endless one would never compact.
const SIZES: std::ops::RangeInclusive<u64> = 512..=100_000_000;

/// The highest price of a token that is believed, in dollars.
const DEAREST: f64 = 0.1;
/// More tiers than this no price has.
const MOST_TIERS: usize = 8;

/// The elements of a list: those below the key, or the list itself.
pub(super) fn entries<'a>(list: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    list.get(key).unwrap_or(list).as_array().into_iter().flatten()
}

/// A text that is not empty.
pub(super) fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The first of several fields that is a size; a few servers write numbers as text.
pub(super) fn size(value: &Value, pointers: &[&str]) -> Option<u64> {
    pointers.iter().find_map(|pointer| believed(value.pointer(pointer)?))
}

/// A size that is believed.
pub(super) fn believed(value: &Value) -> Option<u64> {
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())?;
    SIZES.contains(&number).then_some(number)
}

/// The first of several fields that says yes or no, by itself or as `supported` below it.
pub(super) fn flag(value: &Value, pointers: &[&str]) -> Option<bool> {
    pointers.iter().find_map(|pointer| {
        let found = value.pointer(pointer)?;
        found.as_bool().or_else(|| found.get("supported")?.as_bool())
    })
}

/// Whether a list of words has one of them; `None` where there is no such list.
pub(super) fn names(value: &Value, pointer: &str, wanted: &[&str]) -> Option<bool> {
    let words = value.pointer(pointer)?.as_array()?;
    Some(words.iter().filter_map(Value::as_str).any(|word| wanted.contains(&word)))
}

/// The day of a moment: `2026-11-30`, `2026-11-30T00:00:00Z`, or seconds since 1970.
pub(super) fn day(value: &Value, keys: &[&str]) -> Option<Date> {
    keys.iter().find_map(|key| match value.get(key)? {
        Value::String(text) => Date::try_from(text.get(..10)?.to_owned()).ok(),
        number => {
            let seconds = number.as_i64().filter(|seconds| (1..=253_402_300_799).contains(seconds))?;
            Some(Date::of_millis(seconds.checked_mul(1_000)?))
        }
    })
}

/// The efforts of a list of words, the least first.
pub(super) fn efforts<'a>(words: impl Iterator<Item = &'a str>) -> Vec<Effort> {
    let words: Vec<&str> = words.collect();
    Effort::ALL.into_iter().filter(|effort| words.contains(&effort.word())).collect()
}

/// OpenRouter's prices: dollars per token, as text; `overrides` for larger prompts name what differs.
pub(super) fn prices(value: &Value) -> Option<Prices> {
    let pricing = value.get("pricing")?;
    let rates = rates(pricing, Rates::default());
    rates.input.or(rates.output)?;
    let overrides = pricing.get("overrides").and_then(Value::as_array).into_iter().flatten();
    let tier = |entry: &Value| {
        let least = believed(entry.get("min_prompt_tokens")?)?;
        Some(Tier { above: least.saturating_sub(1), rates: self::rates(entry, rates) })
    };
    let mut tiers: Vec<Tier> = overrides.take(MOST_TIERS).filter_map(tier).collect();
    tiers.sort_by_key(|tier| tier.above);
    Some(Prices { rates, tiers })
}

fn rates(pricing: &Value, base: Rates) -> Rates {
    let rate = |key: &str| {
        let value = pricing.get(key)?;
        let dollars = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
        // A price of -1 stands for "depends"; the rounding takes back what the decimal fraction lost.
        let is_price = dollars.is_finite() && (0.0..=DEAREST).contains(&dollars);
        is_price.then(|| (dollars * 1e12).round() / 1e6)
    };
    Rates {
        input: rate("prompt").or(base.input),
        output: rate("completion").or(base.output),
        cache_read: rate("input_cache_read").or(base.cache_read),
        cache_write: rate("input_cache_write").or(base.cache_write),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sizes_that_cannot_be_are_not_believed() {
        for (value, expected) in [
            (json!(512), Some(512)),
            (json!("8192"), Some(8_192)),
            (json!(100_000_000), Some(100_000_000)),
            (json!(0), None),
            (json!(1), None),
            (json!(511), None),
            (json!(100_000_001), None),
            (json!(1_000_000_000_000_000_000_u64), None),
            (json!(u64::MAX), None),
            (json!(-4_096), None),
            (json!(4_096.5), None),
            (json!("99999999999999999999"), None),
            (json!("many"), None),
            (json!(true), None),
            (json!([4_096]), None),
        ] {
            assert_eq!(believed(&value), expected, "{value}");
        }
        let both = json!({"a": 1, "b": 4_096});
        assert_eq!(size(&both, &["/a", "/b"]), Some(4_096));
    }

    #[test]
    fn days_are_dates_moments_or_seconds() {
        for (value, expected) in [
            (json!("2026-11-30"), Some("2026-11-30")),
            (json!("2026-11-30T00:00:00Z"), Some("2026-11-30")),
            (json!(1_795_996_800), Some("2026-11-30")),
            (json!(0), None),
            (json!(-5), None),
            (json!(i64::MAX), None),
            (json!("soon"), None),
            (json!("2026-13-30"), None),
            (Value::Null, None),
        ] {
            let read = day(&json!({"ends": value}), &["other", "ends"]);
            assert_eq!(read.map(|day| day.to_string()).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn prices_are_per_million_and_have_tiers() {
        let list = json!({"pricing": {"prompt": "0.000002", "completion": "0.00001", "input_cache_read": "0.0000002",
            "image": "0", "overrides": [
                {"min_prompt_tokens": 400_000, "prompt": "0.000008"},
                {"min_prompt_tokens": 200_000, "prompt": "0.000004", "completion": "0.000015"},
                {"prompt": "9"}]}});
        let prices = prices(&list).unwrap();
        let base = Rates { input: Some(2.0), output: Some(10.0), cache_read: Some(0.2), cache_write: None };
        assert_eq!(prices.rates, base);
        assert_eq!(prices.at(199_999), base);
        assert_eq!(prices.at(200_000), Rates { input: Some(4.0), output: Some(15.0), ..base });
        assert_eq!(prices.at(400_000), Rates { input: Some(8.0), ..base });
        for unknown in [
            json!({}),
            json!({"pricing": null}),
            json!({"pricing": {"prompt": "-1", "completion": "-1"}}),
            json!({"pricing": {"prompt": "NaN", "completion": "1e300"}}),
            json!({"pricing": {"input": 3, "output": 4}}),
        ] {
            assert_eq!(super::prices(&unknown), None, "{unknown}");
        }
    }
}
