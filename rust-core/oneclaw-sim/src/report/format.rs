//! How numbers and texts are written.

/// With commas between thousands.
pub fn whole(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A large number in short.
pub fn short(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{:.1} G", n / 1e9),
        n if n >= 1e6 => format!("{:.1} M", n / 1e6),
        n if n >= 1e4 => format!("{:.0} k", n / 1e3),
        n if n >= 1e3 => format!("{:.1} k", n / 1e3),
        n if n >= 10.0 || n == 0.0 => format!("{n:.0}"),
        n => format!("{n:.1}"),
    }
}

/// A share; never rounded to a full hundred or to nothing. Distances may be above a hundred.
pub fn percent(share: f64) -> String {
    match share {
        s if s >= 100.0 => format!("{s:.0} %"),
        s if s > 99.9 => "> 99.9 %".to_owned(),
        s if s <= 0.0 => "0 %".to_owned(),
        s if s < 0.1 => "< 0.1 %".to_owned(),
        s => format!("{s:.1} %"),
    }
}

/// A text inside a document.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(
            [whole(0), whole(999), whole(1_000), whole(12_345_678)],
            ["0", "999", "1,000", "12,345,678"]
        );
        assert_eq!([short(0.0), short(3.25), short(1_234.0), short(45_600.0)], ["0", "3.2", "1.2 k", "46 k"]);
        assert_eq!(
            [percent(100.0), percent(99.99), percent(0.004), percent(123.4)],
            ["100 %", "> 99.9 %", "< 0.1 %", "123 %"]
        );
    }
}
