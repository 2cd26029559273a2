//! Lanes, the terms in them, and the gaps between the terms.

use svg::node::element::{Group, Line, Rectangle, Text};

use super::{Frame, LANE, LEFT, RIGHT, WIDTH, colour};
use crate::clock::True;
use crate::figures::show_ms;
use crate::outcome::Reign;
use crate::what_if::Gap;

/// How wide a digit or letter is, about, at the size of labels.
const LETTER: f64 = 6.2;

/// An empty lane with its name.
pub fn lane(frame: Frame, lane: usize) -> Group {
    let (y, class, name) = match lane {
        0 => (frame.y(0), "nobody", "nobody".to_owned()),
        lane => (frame.y(lane), "lane", format!("node {lane}")),
    };
    let below = y + LANE;
    Group::new()
        .set("class", class)
        .add(
            Text::new(name)
                .set("x", LEFT - 10.0)
                .set("y", y + LANE / 2.0 + 4.0)
                .set("text-anchor", "end"),
        )
        .add(
            Line::new()
                .set("x1", LEFT)
                .set("x2", WIDTH - RIGHT)
                .set("y1", below)
                .set("y2", below)
                .set("stroke", colour::FAINT),
        )
}

/// A term, with its epoch where there is room.
pub fn reign(frame: Frame, reign: &Reign) -> Group {
    let end = True::from_micros(frame.micros as u64);
    let from = frame.x(reign.from);
    let until = frame.x(reign.until.map_or(end, |(at, _)| at));
    let top = frame.y(reign.who.slot + 1);
    let bar = Rectangle::new()
        .set("class", "reign")
        .set("x", from)
        .set("y", top + 7.0)
        .set("width", (until - from).max(1.0))
        .set("height", LANE - 14.0)
        .set("rx", 2)
        .set("fill", colour::REIGN);
    let group = Group::new().add(bar);
    let epoch = reign.epoch.0;
    let long = format!("epoch {epoch}");
    let fits = |text: &str| text.len() as f64 * LETTER + 14.0 < until - from;
    let text = [long, epoch.to_string()].into_iter().find(|text| fits(text));
    let Some(text) = text else { return group };
    group.add(
        Text::new(text)
            .set("x", from + 4.0)
            .set("y", top + LANE / 2.0 + 4.0)
            .set("font-size", 11)
            .set("fill", colour::PAPER),
    )
}

/// Nobody's lane: each gap with its length, in two rows where labels would touch.
pub fn gaps(frame: Frame, gaps: &[Gap]) -> Group {
    let mut group = Group::new().set("font-size", 11);
    let mut taken = [0.0_f64; 2];
    let top = frame.y(0);
    for gap in gaps {
        let (from, until) = (frame.x(gap.from), frame.x(gap.until));
        group = group.add(
            Rectangle::new()
                .set("class", "gap")
                .set("x", from)
                .set("y", top + LANE - 10.0)
                .set("width", (until - from).max(1.5))
                .set("height", 9)
                .set("fill", colour::GAP),
        );
        let text = show_ms(gap.span().as_secs_f64() * 1e3);
        let end = from + text.len() as f64 * LETTER + 4.0;
        let Some(row) = taken.iter().position(|right| *right <= from) else { continue };
        taken[row] = end;
        let y = top + LANE - 14.0 - 11.0 * row as f64;
        // The last label must not run off the picture.
        let x = from.min(WIDTH - RIGHT - (end - from));
        group = group.add(Text::new(text).set("x", x).set("y", y).set("fill", colour::GAP));
    }
    group
}
