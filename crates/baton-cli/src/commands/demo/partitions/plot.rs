//! The owners over time as a picture: a lane for each partition, coloured by its owner.
//!
//! ```text
//!   title
//!   ▇ alice   ▇ bob   ▇ carol   ▇ dave          legend
//!        kill -9 bob ┆    drain carol ┆
//!    0  ▇▇▇▇▇▇▇▇▇▇▇▇▇┆▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇┆▇▇▇▇     a lane is empty where a partition has no owner
//!    1  ▇▇▇▇▇▇▇▇▇▇▇▇▇┆▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇┆▇▇▇▇
//!       └─────┬─────┬─────┬─────┬─────┬─────     time
//! ```

use std::time::Duration;

use baton::clock::Moment;
use svg::Document;
use svg::node::element::{Group, Line, Rectangle, Style, Text};

use super::PARTITIONS;
use super::session::Session;
use crate::cluster::owners::Work;
use crate::commands::partitions::picture::colour;

const WIDTH: f64 = 1_000.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 112.0;
const LANE: f64 = 22.0;
const BELOW: f64 = 48.0;

/// Width of an entry of the legend.
const NAME: f64 = 100.0;

const STYLE: &str = "\
text{font:12px system-ui,Helvetica,Arial,sans-serif;fill:#1f2328}\
.title{font-size:17px;font-weight:600}.paper{fill:#fff}.number{text-anchor:end}\
.rule{stroke:#d8dee4}.act{stroke:#1f2328;stroke-dasharray:3 3}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.paper{fill:#0d1117}.rule{stroke:#30363d}\
.act{stroke:#e6edf3}}";

/// Where moments are in the picture.
struct Axis {
    began: Moment,
    ended: Moment,
}

impl Axis {
    fn x(&self, at: Moment) -> f64 {
        let (part, all) = (at.min(self.ended).since(self.began), self.ended.since(self.began));
        let share = part.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE);
        LEFT + share * (WIDTH - LEFT - RIGHT)
    }
}

fn floor() -> f64 {
    TOP + f64::from(PARTITIONS) * LANE
}

/// Draws what the logs of the processes show and what was done to them.
pub fn draw(session: &Session) -> String {
    let axis = Axis { began: session.journal.began, ended: session.closed_at };
    let height = floor() + BELOW;
    let lease = session.cluster.plan.profile.settings().lease_timeout.as_secs_f64();
    let title = format!("{PARTITIONS} partitions, one owner each at a time, a lease of {lease} s");
    let paper = Rectangle::new().set("class", "paper").set("rx", 8);
    Document::new()
        .set("viewBox", (0.0, 0.0, WIDTH, height))
        .set("width", WIDTH)
        .set("height", height)
        .add(Style::new(STYLE))
        .add(paper.set("width", WIDTH).set("height", height))
        .add(text(&title, 24.0, 34.0).set("class", "title"))
        .add(legend(session))
        .add(lanes(&axis))
        .add(works(session, &axis))
        .add(acts(session, &axis))
        .to_string()
}

fn legend(session: &Session) -> Group {
    let names = session.nodes.iter().enumerate();
    names.fold(Group::new(), |group, (at, node)| {
        let x = LEFT + at as f64 * NAME;
        let square = rectangle(x, 52.0, 14.0, 14.0).set("fill", colour(at));
        group.add(square).add(text(node.as_str(), x + 20.0, 64.0))
    })
}

/// The numbers of the partitions, and a mark for each second.
fn lanes(axis: &Axis) -> Group {
    let mut group = Group::new();
    for number in 0..PARTITIONS {
        let y = TOP + f64::from(number) * LANE + LANE / 2.0 + 4.0;
        let number = text(&number.to_string(), LEFT - 10.0, y);
        group = group.add(number.set("class", "number"));
    }
    for second in 0..=axis.ended.since(axis.began).as_secs() {
        let x = axis.x(axis.began + Duration::from_secs(second));
        group =
            group.add(rule("rule", x, TOP)).add(text(&format!("{second} s"), x, floor() + 20.0));
    }
    group
}

fn works(session: &Session, axis: &Axis) -> Group {
    let history = &session.cluster.history;
    let shown = history.works.iter().filter(|work| work.start < axis.ended);
    shown.fold(Group::new(), |group, work: &Work| {
        let (from, until) = (axis.x(work.start), axis.x(work.end.unwrap_or(axis.ended)));
        let y = TOP + f64::from(work.partition.number) * LANE + 3.0;
        let bar = rectangle(from, y, until - from, LANE - 6.0);
        let node = history.node(work.process);
        let owner = session.nodes.iter().position(|it| it == node).unwrap_or(0);
        group.add(bar.set("fill", colour(owner)))
    })
}

fn acts(session: &Session, axis: &Axis) -> Group {
    let acts = session.journal.entries.iter().filter_map(|it| Some((it.at, it.act.as_ref()?)));
    acts.fold(Group::new(), |group, (at, (act, node))| {
        let x = axis.x(at);
        let label = format!("{} {node}", act.name());
        group.add(rule("act", x, TOP - 14.0)).add(text(&label, x + 4.0, TOP - 8.0))
    })
}

fn text(text: &str, x: f64, y: f64) -> Text {
    Text::new(text).set("x", x).set("y", y)
}

fn rule(class: &str, x: f64, top: f64) -> Line {
    let line = Line::new().set("class", class).set("x1", x).set("x2", x);
    line.set("y1", top).set("y2", floor())
}

fn rectangle(x: f64, y: f64, width: f64, height: f64) -> Rectangle {
    let at = Rectangle::new().set("x", x).set("y", y);
    at.set("width", width).set("height", height)
}
