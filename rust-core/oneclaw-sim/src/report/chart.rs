//! Pictures as SVG: the sizes of requests turn by turn, and bars.

use super::format::{escaped, short, whole};
use crate::contender::Contender;
use crate::study::{Drawing, Results};
use std::fmt::Write;

const PANEL: (f64, f64) = (320.0, 130.0);
/// Room for numbers at the left, and for turns below.
const MARGIN: (f64, f64) = (34.0, 16.0);
/// Requests larger than so many windows are drawn at the rim.
const HIGHEST: f64 = 1.4;

/// One policy's requests against the window.
pub fn requests(drawing: &Drawing, window: u64, turns: u64) -> String {
    let (width, height) = PANEL;
    let mut svg = format!(
        r#"<svg viewBox="0 0 {width} {height}" role="img" xmlns="http://www.w3.org/2000/svg"><title>{}: size of each request</title>"#,
        escaped(drawing.policy.name())
    );
    svg.push_str(&panel(drawing, window, turns));
    svg.push_str("</svg>");
    svg
}

fn panel(drawing: &Drawing, window: u64, turns: u64) -> String {
    let (width, height) = PANEL;
    let (left, below) = MARGIN;
    let x = |turn: f64| left + turn * (width - left - 4.0) / turns.max(1) as f64;
    let y = |tokens: f64| {
        (height - below) - (tokens / window.max(1) as f64).min(HIGHEST) / HIGHEST * (height - below - 4.0)
    };
    let limit = y(window as f64);
    let floor = y(0.0);
    let mut svg = String::new();
    let mut line = |text: String| svg.push_str(&text);
    line(format!(r#"<line class="axis" x1="{left}" x2="{width}" y1="{floor:.1}" y2="{floor:.1}"/>"#));
    line(format!(r#"<path class="limit" d="M{left} {limit:.1}H{width}"/>"#));
    line(format!(r#"<text class="t" x="0" y="{:.1}">{}</text>"#, limit + 4.0, short(window as f64)));
    line(format!(r#"<text class="t" x="0" y="{floor:.1}">0</text>"#));
    line(format!(r#"<text class="t" x="{left}" y="{:.1}">turn 1</text>"#, height - 3.0));
    line(format!(r#"<text class="t" x="{width}" y="{:.1}" text-anchor="end">{turns}</text>"#, height - 3.0));
    let mut path = String::new();
    let mut dots = String::new();
    let mut per_turn: Vec<u64> = vec![0; turns as usize + 1];
    let count = |turn: u64| drawing.points.iter().filter(|p| p.turn == turn).count().max(1);
    let mut counted = (u64::MAX, 1);
    for point in &drawing.points {
        if counted.0 != point.turn {
            counted = (point.turn, count(point.turn));
        }
        // Requests of one turn stand side by side.
        let place = per_turn.get_mut(point.turn as usize).map_or(0, |n| std::mem::replace(n, *n + 1));
        let at = x(point.turn as f64 + place as f64 / counted.1 as f64);
        let top = y(point.tokens as f64);
        if point.is_refused {
            let _ = write!(dots, r#"<circle class="refused" cx="{at:.1}" cy="{top:.1}" r="1.8"/>"#);
        } else {
            let _ = write!(path, "{}{at:.1} {top:.1}", if path.is_empty() { 'M' } else { 'L' });
        }
    }
    let class = class(drawing.policy);
    if !path.is_empty() {
        let _ = write!(svg, r#"<path class="{class}-line" d="{path}"/>"#);
    }
    svg + &dots
}

/// The colour of a policy.
pub fn class(policy: Contender) -> &'static str {
    if policy.is_ours() { "ours" } else { "theirs" }
}

/// All policies in one picture, for pages that cannot hold more than one.
pub fn sheet(results: &Results) -> String {
    const COLUMNS: usize = 2;
    const HEAD: f64 = 18.0;
    const GAP: f64 = 14.0;
    let (width, height) = PANEL;
    let rows = results.drawings.len().div_ceil(COLUMNS);
    let size = (COLUMNS as f64 * (width + GAP), rows as f64 * (height + HEAD + GAP));
    let mut svg = format!(
        r#"<svg viewBox="0 0 {} {}" width="{}" xmlns="http://www.w3.org/2000/svg"><title>{}</title><style>{}</style>"#,
        size.0,
        size.1,
        size.0,
        escaped(&format!(
            "Request sizes of one {} conversation on a window of {} tokens; red dots are requests the service refused",
            results.drawn_kind.name(),
            whole(results.drawn_window)
        )),
        include_str!("sheet.css"),
    );
    let turns = last_turn(results);
    for (place, drawing) in results.drawings.iter().enumerate() {
        let (column, row) = ((place % COLUMNS) as f64, (place / COLUMNS) as f64);
        let refused = drawing.points.iter().filter(|p| p.is_refused).count();
        let _ = write!(
            svg,
            r#"<g transform="translate({:.0} {:.0})"><text class="n" x="0" y="12">{}</text><text class="t" x="{width}" y="12" text-anchor="end">{}</text><g transform="translate(0 {HEAD})">{}</g></g>"#,
            column * (width + GAP),
            row * (height + HEAD + GAP),
            escaped(drawing.policy.name()),
            if refused == 0 { "none refused".to_owned() } else { format!("{refused} refused") },
            panel(drawing, results.drawn_window, turns),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// The number of turns drawn.
pub fn last_turn(results: &Results) -> u64 {
    results.drawings.iter().flat_map(|d| d.points.last()).map(|p| p.turn + 1).max().unwrap_or(1)
}

/// One bar of a chart.
pub struct Bar {
    /// What it stands for.
    pub label: String,
    /// Whose it is.
    pub policy: Contender,
    /// A strong bar, and a faint one behind it that may reach further.
    pub values: [f64; 2],
    /// What is written beside it.
    pub note: String,
}

/// Bars one below the other, each under its name and its figures: as wide as a phone, so that texts stay readable there.
pub fn bars(title: &str, bars: &[Bar]) -> String {
    const WIDTH: f64 = 360.0;
    const HEIGHT: f64 = 36.0;
    let most = bars.iter().flat_map(|bar| bar.values).fold(0.0_f64, f64::max).max(f64::MIN_POSITIVE);
    let mut svg = format!(
        r#"<svg class="bars" viewBox="0 0 {WIDTH} {:.0}" role="img" xmlns="http://www.w3.org/2000/svg"><title>{}</title>"#,
        bars.len() as f64 * HEIGHT,
        escaped(title)
    );
    for (place, bar) in bars.iter().enumerate() {
        let top = place as f64 * HEIGHT;
        let class = class(bar.policy);
        let length = |value: f64| (value / most * WIDTH).max(if value > 0.0 { 1.0 } else { 0.0 });
        let [strong, faint] = bar.values.map(length);
        let _ = write!(
            svg,
            r#"<text class="n" x="0" y="{:.1}">{}</text><text class="t" x="{WIDTH}" y="{:.1}" text-anchor="end">{}</text><rect class="track" x="0" y="{:.1}" width="{WIDTH}" height="12" rx="2"/><rect class="{class}-bar faint" x="0" y="{:.1}" width="{faint:.1}" height="12" rx="2"/><rect class="{class}-bar" x="0" y="{:.1}" width="{strong:.1}" height="12" rx="2"/>"#,
            top + 13.0,
            escaped(&bar.label),
            top + 13.0,
            escaped(&bar.note),
            top + 18.0,
            top + 18.0,
            top + 18.0,
        );
    }
    svg.push_str("</svg>");
    svg
}
