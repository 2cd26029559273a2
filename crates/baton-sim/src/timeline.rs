//! A picture of which node led when, as SVG: for `baton demo --plot` and `baton sim what-if
//! --plot`.
//!
//! ```text
//!   title
//!   no leader │      ▮ 105 ms        ▮▮▮ 16 s
//!   node 1    │██ epoch 1 ██✕
//!   node 2    │               ██ epoch 2 ██░░░    ░ paused, ▒ the store is away (all lanes)
//!             └────┬────┬────┬────┬  time
//!   legend: the kinds of shapes that the picture has
//! ```
//!
//! Colours are classes of a style sheet, so that the picture follows a reader's light or dark mode.

use std::time::Duration;

use svg::Document;
use svg::node::element::{Definitions, Group, Line, Path, Pattern, Rectangle, Style, Text};

const WIDTH: f64 = 1_000.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 60.0;
const LANE: f64 = 40.0;
const LEGEND: f64 = 78.0;

/// Approximate width of a letter of a label.
const LETTER: f64 = 6.4;

/// The most marks on the time axis, and times between them that read well, in seconds.
const TICKS_MAX: u64 = 16;
const STEPS: [u64; 12] = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200];

/// Colours that people with any colour vision can tell apart (after Okabe and Ito).
const STYLE: &str = "\
text{font:12px system-ui,Helvetica,Arial,sans-serif;fill:#1f2328}\
.title{font-size:17px;font-weight:600}.paper{fill:#fff}\
.rule{stroke:#d8dee4}.term{fill:#0072b2}.epoch{fill:#fff}.gap{fill:#d55e00}\
.killed,.leave{stroke:#1f2328;stroke-width:2.5;fill:none}.leave{fill:#1f2328}\
.pause{fill:url(#pause);stroke:#e69f00}.cut{fill:url(#cut);stroke:#cc79a7}\
.away{fill:#8c959f;fill-opacity:.3}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.paper{fill:#0d1117}.rule{stroke:#30363d}\
.term{fill:#1f7ec2}.gap{fill:#f0803c}.killed,.leave{stroke:#e6edf3}.leave{fill:#e6edf3}}";

/// What a shape stands for. The order is that of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A node leads.
    Term,
    /// No node can act as the leader.
    Gap,
    /// A process is killed.
    Killed,
    /// A process is asked to leave or to resign.
    Leave,
    /// A process is paused.
    Pause,
    /// A host has no network.
    Cut,
    /// The store does not answer.
    Away,
}

impl Kind {
    const ALL: [Self; 7] =
        [Self::Term, Self::Gap, Self::Killed, Self::Leave, Self::Pause, Self::Cut, Self::Away];

    fn class(self) -> &'static str {
        match self {
            Self::Term => "term",
            Self::Gap => "gap",
            Self::Killed => "killed",
            Self::Leave => "leave",
            Self::Pause => "pause",
            Self::Cut => "cut",
            Self::Away => "away",
        }
    }

    fn legend(self) -> &'static str {
        match self {
            Self::Term => "term of a leader",
            Self::Gap => "no leader",
            Self::Killed => "process killed",
            Self::Leave => "asked to hand over",
            Self::Pause => "process paused",
            Self::Cut => "host without network",
            Self::Away => "store away",
        }
    }
}

/// Something that happens in a lane.
#[derive(Clone, Debug)]
pub struct Shape {
    /// What happens.
    pub kind: Kind,
    /// The node, counted from 1. Gaps and the store's absence are in lane 0.
    pub lane: usize,
    /// From when.
    pub from: Duration,
    /// Until when.
    pub until: Duration,
    /// A word beside the shape, or nothing.
    pub label: String,
}

struct Layout {
    lanes: usize,
    length: Duration,
}

impl Layout {
    fn x(&self, at: Duration) -> f64 {
        let share = at.as_secs_f64() / self.length.as_secs_f64().max(f64::MIN_POSITIVE);
        LEFT + share.min(1.0) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, lane: usize) -> f64 {
        TOP + lane as f64 * LANE
    }

    fn floor(&self) -> f64 {
        self.y(self.lanes + 1)
    }
}

/// Draws the nodes' lanes over this length of time, below a lane for the time without a leader.
pub fn draw(title: &str, nodes: &[String], length: Duration, shapes: &[Shape]) -> String {
    let layout = Layout { lanes: nodes.len(), length };
    let height = layout.floor() + LEGEND;
    let paper = rectangle("paper", 0.0, 0.0, WIDTH, height).set("rx", 8);
    let mut picture = Document::new()
        .set("viewBox", (0.0, 0.0, WIDTH, height))
        .set("width", WIDTH)
        .set("height", height)
        .add(Style::new(STYLE))
        .add(
            Definitions::new().add(hatch("pause", 45, "#e69f00")).add(hatch("cut", -45, "#cc79a7")),
        )
        .add(paper)
        .add(text(title, 24.0, 34.0).set("class", "title"))
        .add(axis(&layout));
    for (lane, name) in
        std::iter::once("no leader").chain(nodes.iter().map(String::as_str)).enumerate()
    {
        let (y, class) = (layout.y(lane), if lane == 0 { "gaps" } else { "lane" });
        let name = text(name, LEFT - 12.0, y + LANE / 2.0 + 4.0).set("text-anchor", "end");
        let below = rule((LEFT, y + LANE), (WIDTH - RIGHT, y + LANE));
        picture = picture.add(Group::new().set("class", class).add(name).add(below));
    }
    let mut in_order: Vec<&Shape> = shapes.iter().collect();
    in_order.sort_by_key(|shape| (shape.kind != Kind::Away, shape.kind));
    let mut label_ends = [0.0; 2];
    for shape in in_order {
        picture = picture.add(drawn(&layout, shape, &mut label_ends));
    }
    picture.add(legend(&layout, shapes)).to_string()
}

/// A shape and its label. The labels of gaps take one of two rows where they would overlap.
fn drawn(layout: &Layout, shape: &Shape, label_ends: &mut [f64; 2]) -> Group {
    let (from, until) = (layout.x(shape.from), layout.x(shape.until));
    let (top, width) = (layout.y(shape.lane), (until - from).max(1.5));
    let (height, label_width) = (layout.floor() - TOP, shape.label.len() as f64 * LETTER);
    let group = symbol(shape.kind, from, top, width, height);
    let label = |x: f64, y: f64| text(&shape.label, x, y);
    match shape.kind {
        _ if shape.label.is_empty() => group,
        Kind::Pause | Kind::Cut if until + 12.0 + label_width > WIDTH - RIGHT => group,
        Kind::Term if label_width + 8.0 > width => group,
        Kind::Term => group.add(label(from + 6.0, top + LANE / 2.0 + 4.0).set("class", "epoch")),
        Kind::Gap => {
            let x = from.min(WIDTH - RIGHT - label_width);
            let Some(row) = label_ends.iter().position(|end| *end <= x) else { return group };
            label_ends[row] = x + label_width + 6.0;
            group.add(label(x, top + LANE - 14.0 - 12.0 * row as f64).set("class", "gap"))
        }
        _ => group.add(label(until + 12.0, top + LANE / 2.0 + 4.0)),
    }
}

fn symbol(kind: Kind, x: f64, top: f64, width: f64, height: f64) -> Group {
    let middle = top + LANE / 2.0;
    let (class, group) = (kind.class(), Group::new());
    let path = |d: String| Path::new().set("class", class).set("d", d);
    match kind {
        Kind::Term => group.add(rectangle(class, x, top + 9.0, width, LANE - 18.0).set("rx", 3)),
        Kind::Gap => group.add(rectangle(class, x, top + LANE - 10.0, width, 9.0)),
        Kind::Killed => group.add(path(format!("M{} {}l12 12m0-12l-12 12", x - 6.0, middle - 6.0))),
        Kind::Leave => group.add(path(format!("M{} {}l8 0l-4 7z", x - 4.0, top + 1.0))),
        Kind::Pause | Kind::Cut => group.add(rectangle(class, x, top + 5.0, width, LANE - 10.0)),
        Kind::Away => group.add(rectangle(class, x, top, width, height)),
    }
}

fn legend(layout: &Layout, shapes: &[Shape]) -> Group {
    let (mut x, top) = (LEFT, layout.floor() + 34.0);
    let mut group = Group::new();
    for kind in Kind::ALL.into_iter().filter(|kind| shapes.iter().any(|it| it.kind == *kind)) {
        let shown = match kind {
            Kind::Killed => symbol(kind, x + 9.0, top, 0.0, 0.0),
            Kind::Leave => symbol(kind, x + 9.0, top + 15.0, 0.0, 0.0),
            _ => Group::new().add(rectangle(kind.class(), x, top + 14.0, 18.0, 12.0)),
        };
        group = group.add(shown).add(text(kind.legend(), x + 26.0, top + LANE / 2.0 + 4.0));
        x += 26.0 + kind.legend().len() as f64 * LETTER + 16.0;
    }
    group
}

/// A mark every few seconds, and its time.
fn axis(layout: &Layout) -> Group {
    let fits = |step: &&u64| layout.length.as_secs() / **step <= TICKS_MAX;
    let step = STEPS.iter().find(fits).copied().unwrap_or(86_400);
    let mut group = Group::new();
    for tick in 0..=layout.length.as_secs() / step {
        let x = layout.x(Duration::from_secs(tick * step));
        let label = text(&time(tick * step), x, layout.floor() + 20.0).set("text-anchor", "middle");
        group = group.add(rule((x, TOP), (x, layout.floor() + 5.0))).add(label);
    }
    group
}

fn time(seconds: u64) -> String {
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, minutes, rest) => format!("{minutes}:{rest:02}"),
        (hours, minutes, rest) => format!("{hours}:{minutes:02}:{rest:02}"),
    }
}

fn text(text: &str, x: f64, y: f64) -> Text {
    Text::new(text).set("x", x).set("y", y)
}

fn rule((x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> Line {
    Line::new().set("class", "rule").set("x1", x1).set("y1", y1).set("x2", x2).set("y2", y2)
}

fn rectangle(class: &str, x: f64, y: f64, width: f64, height: f64) -> Rectangle {
    let at = Rectangle::new().set("class", class).set("x", x).set("y", y);
    at.set("width", width).set("height", height)
}

/// Hatches, so that kinds differ in form as well as in colour.
fn hatch(id: &str, turn: i32, colour: &str) -> Pattern {
    let line = Line::new().set("y2", 6).set("stroke", colour).set("stroke-width", 6);
    Pattern::new()
        .set("id", id)
        .set("width", 6)
        .set("height", 6)
        .set("patternUnits", "userSpaceOnUse")
        .set("patternTransform", format!("rotate({turn})"))
        .add(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_a_lane_for_each_node_and_names_the_kinds_that_it_shows() {
        let s = Duration::from_secs;
        let shape =
            |kind, lane| Shape { kind, lane, from: s(2), until: s(9), label: "x".to_owned() };
        let shapes = [shape(Kind::Term, 1), shape(Kind::Gap, 0), shape(Kind::Killed, 2)];
        let picture = draw("Test", &["a".to_owned(), "b".to_owned()], s(75), &shapes);
        assert_eq!(picture.matches("class=\"lane\"").count(), 2);
        for expected in ["process killed", "no leader", "1:15", "class=\"term\"", "class=\"gap\""] {
            assert!(picture.contains(expected), "{expected}");
        }
        assert!(!picture.contains("store away"), "{picture}");
    }
}
