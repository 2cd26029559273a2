//! The leadership timeline as a picture: a lane for each node, its terms, and what was done to it.

use baton::clock::Moment;
use svg::Document;
use svg::node::element::{Group, Line, Rectangle, Text, Title};

use super::acts::Act;
use super::stage::Stage;
use crate::cluster::Ticks;

const WIDTH: f64 = 1_000.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 60.0;
const LANE: f64 = 56.0;
const BOTTOM: f64 = 40.0;

/// Colours that people with any colour vision can tell apart (after Okabe and Ito).
const TERM: &str = "#0072B2";
const DEED: &str = "#D55E00";
const INK: &str = "#222222";
const FAINT: &str = "#D8D8D8";

struct Frame<'a> {
    began: Moment,
    micros: f64,
    lanes: Vec<&'a str>,
}

impl Frame<'_> {
    fn x(&self, at: Moment) -> f64 {
        let share = at.since(self.began).as_micros() as f64 / self.micros;
        LEFT + share.min(1.0) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, node: &str) -> f64 {
        let lane = self.lanes.iter().position(|name| *name == node).unwrap_or_default();
        TOP + lane as f64 * LANE
    }

    fn floor(&self) -> f64 {
        TOP + self.lanes.len() as f64 * LANE
    }
}

/// Draws what the jobs wrote and what was done.
pub fn draw(stage: &Stage, ticks: &Ticks) -> String {
    let last = ticks.all().iter().map(|tick| tick.at).max().unwrap_or(stage.began);
    let micros = last.since(stage.began).as_micros().max(1) as f64 * 1.02;
    let frame = Frame { began: stage.began, micros, lanes: super::NODES.to_vec() };
    let height = frame.floor() + BOTTOM;
    let lease = stage.lease().as_secs_f64();
    let title =
        format!("Who ran the job: a crash, a resignation, a pause, under a {lease} s lease");
    let mut picture = Document::new()
        .set("viewBox", (0.0, 0.0, WIDTH, height))
        .set("width", WIDTH)
        .set("height", height)
        .set("font-family", "Helvetica, Arial, sans-serif")
        .set("font-size", 12)
        .set("fill", INK)
        .add(Rectangle::new().set("width", "100%").set("height", "100%").set("fill", "#FFFFFF"))
        .add(Text::new(title).set("x", LEFT).set("y", 30).set("font-size", 16))
        .add(axis(&frame));
    for name in &frame.lanes {
        picture = picture.add(lane(&frame, name));
    }
    for (epoch, node, first, last) in ticks.terms() {
        picture = picture.add(term(&frame, epoch, &node, first, last));
    }
    for note in &stage.notes {
        if let Some((act, node)) = &note.deed {
            picture = picture.add(deed(&frame, *act, node.as_str(), note.at));
        }
    }
    picture.to_string()
}

fn lane(frame: &Frame<'_>, name: &str) -> Group {
    let y = frame.y(name);
    let line = Line::new().set("x1", LEFT).set("x2", WIDTH - RIGHT).set("stroke", FAINT);
    let line = line.set("y1", y + LANE / 2.0).set("y2", y + LANE / 2.0);
    let label = Text::new(name).set("x", LEFT - 10.0).set("y", y + LANE / 2.0 + 4.0);
    Group::new().set("class", "lane").add(line).add(label.set("text-anchor", "end"))
}

fn term(frame: &Frame<'_>, epoch: u64, node: &str, first: Moment, last: Moment) -> Group {
    let (x, y) = (frame.x(first), frame.y(node) + LANE / 2.0 - 10.0);
    let width = (frame.x(last) - x).max(2.0);
    let bar = Rectangle::new().set("x", x).set("y", y).set("width", width).set("height", 20);
    let seconds = last.since(first).as_secs_f64();
    let hover = Title::new(format!("epoch {epoch}: {node}, {seconds:.1} s"));
    let name = Text::new(format!("epoch {epoch}")).set("x", x + 5.0).set("y", y + 14.0);
    let group = Group::new().set("class", "term").add(bar.set("fill", TERM).add(hover));
    if width < 60.0 { group } else { group.add(name.set("fill", "#FFFFFF")) }
}

fn deed(frame: &Frame<'_>, act: Act, node: &str, at: Moment) -> Group {
    let (x, y) = (frame.x(at), frame.y(node));
    let line = Line::new().set("x1", x).set("x2", x).set("y1", y + 2.0).set("y2", y + LANE / 2.0);
    let line = line.set("stroke", DEED).set("stroke-width", 2);
    let name = Text::new(act.name()).set("x", x + 5.0).set("y", y + 12.0).set("fill", DEED);
    Group::new().set("class", "deed").add(line).add(name)
}

/// A mark every few seconds.
fn axis(frame: &Frame<'_>) -> Group {
    let seconds = frame.micros / 1e6;
    let step = if seconds > 20.0 { 5 } else { 1 };
    let mut group = Group::new().set("class", "axis");
    for second in (0..=seconds as u64).step_by(step) {
        let x = frame.x(frame.began + std::time::Duration::from_secs(second));
        let (top, floor) = (TOP, frame.floor());
        let line = Line::new().set("x1", x).set("x2", x).set("y1", top).set("y2", floor + 5.0);
        let label = Text::new(format!("{second} s")).set("x", x).set("y", floor + 22.0);
        group = group.add(line.set("stroke", "#EEEEEE")).add(label.set("text-anchor", "middle"));
    }
    group
}
