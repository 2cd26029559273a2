//! Faults: a cross for a death, an arrow for a leave, hatches for pauses and cuts, a band across
//! all lanes while the store is away.

use svg::node::element::{Group, Path, Rectangle};

use super::{Frame, LANE, colour};
use crate::outcome::{Mark, Marked};

/// What lies behind the terms: the store's absence.
pub fn behind(frame: Frame, marked: &Marked) -> Option<Rectangle> {
    let (from, until) = (frame.x(marked.from), frame.x(marked.until));
    let away = marked.mark == Mark::StoreAway;
    away.then(|| band(from, frame.y(0), (until - from).max(2.0), frame.floor()))
}

/// What lies before the terms, in a node's lane.
pub fn before(frame: Frame, marked: &Marked) -> Group {
    let group = Group::new();
    let Some(slot) = marked.slot else { return group };
    let top = frame.y(slot + 1);
    let (from, until) = (frame.x(marked.from), frame.x(marked.until));
    let width = (until - from).max(2.0);
    match marked.mark {
        Mark::Crash => group.add(cross(from, top + LANE / 2.0)),
        Mark::Leave => group.add(arrow(from, top + LANE / 2.0)),
        Mark::Pause => group.add(hatched("pause", from, top, width)),
        Mark::Cut => group.add(hatched("cut", from, top, width)),
        Mark::StoreAway => group,
    }
}

/// The store is away.
pub fn band(x: f64, top: f64, width: f64, floor: f64) -> Rectangle {
    Rectangle::new()
        .set("class", "away")
        .set("x", x)
        .set("y", top)
        .set("width", width)
        .set("height", floor - top)
        .set("fill", colour::AWAY)
        .set("fill-opacity", 0.35)
}

/// A process is paused, or its machine has no network.
pub fn hatched(kind: &str, x: f64, top: f64, width: f64) -> Rectangle {
    let ink = if kind == "pause" { colour::PAUSE } else { colour::CUT };
    Rectangle::new()
        .set("class", kind)
        .set("x", x)
        .set("y", top + 3.0)
        .set("width", width)
        .set("height", LANE - 6.0)
        .set("fill", format!("url(#{kind})"))
        .set("stroke", ink)
}

/// A process died.
pub fn cross(x: f64, y: f64) -> Path {
    let d = format!("M{} {}l12 12m0 -12l-12 12", x - 6.0, y - 6.0);
    Path::new()
        .set("class", "crash")
        .set("d", d)
        .set("stroke", colour::INK)
        .set("stroke-width", 3)
        .set("fill", "none")
}

/// A process was told to leave.
pub fn arrow(x: f64, y: f64) -> Path {
    let d = format!("M{} {}l8 0l-4 7z", x - 4.0, y - 15.0);
    Path::new().set("class", "leave").set("d", d).set("fill", colour::INK)
}
