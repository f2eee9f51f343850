//! How far estimates are off.

use super::format::{percent, whole};
use super::table::{Row, judged, plain, table};
use crate::estimates::{ClassErrors, Errors};
use crate::study::{KindErrors, Results};

/// The study of estimates.
pub fn section(results: &Results) -> String {
    let mean = |errors: &Errors| plain(percent(errors.mean_percent()));
    let below = |errors: &Errors| {
        let share = errors.below_percent();
        judged(percent(share), share < 0.1)
    };
    let kind_head = [
        "conversations",
        "requests",
        "chars / 4: error",
        "below the truth",
        "by content: error",
        "calibrated: error",
        "upper: error",
        "upper below the truth",
        "anchored: error",
        "anchored upper: error",
        "anchored upper below the truth",
    ];
    let of_kind = |k: &KindErrors| {
        let e = &k.errors;
        let cells = vec![
            plain(k.kind.name()),
            plain(whole(e.simple.estimates)),
            mean(&e.simple),
            plain(percent(e.simple.below_percent())),
            mean(&e.content),
            mean(&e.calibrated),
            mean(&e.calibrated_upper),
            below(&e.calibrated_upper),
            mean(&e.anchored),
            mean(&e.anchored_upper),
            below(&e.anchored_upper),
        ];
        Row { class: "", cells }
    };
    let class_head = [
        "texts",
        "chars / 4: error",
        "worst below",
        "by content: error",
        "worst below",
        "upper: error",
        "upper below the truth",
    ];
    let of_class = |c: &ClassErrors| {
        let cells = vec![
            plain(c.class.replace('_', " ")),
            mean(&c.simple),
            plain(percent(c.simple.worst_below_ppm as f64 / 1e4)),
            mean(&c.expected),
            plain(percent(c.expected.worst_below_ppm as f64 / 1e4)),
            mean(&c.upper),
            below(&c.upper),
        ];
        Row { class: "", cells }
    };
    let kinds: Vec<Row> = results.by_kind.iter().map(of_kind).collect();
    let classes: Vec<Row> = results.by_class.iter().map(of_class).collect();
    format!(
        "<h2>How good the estimates are</h2><p>Mean distance from the real count, as a share of it. Decisions use <i>upper</i>, \
         which should be below the truth in less than 1 of 1,000 cases.</p><h3>Requests of whole conversations</h3>{}\
         <h3>Slices of texts, 40 to 1,200 characters, o200k</h3>{}",
        table(&kind_head, &kinds),
        table(&class_head, &classes)
    )
}
