//! Who led when, as a picture: one lane a node, and a lane for nobody.
//!
//! ```text
//!   title: the settings' key numbers
//!   nobody │      ▮ 105 ms        ▮▮▮ 16 s
//!   node 1 │██ epoch 1 ██✕
//!   node 2 │               ██ epoch 2 ██░░░      ░ paused, ▒ the store is away (all lanes)
//!          └────┬────┬────┬────┬  time
//!   legend
//! ```

mod axis;
mod lanes;
mod legend;
mod marks;

use svg::Document;
use svg::node::element::{Definitions, Line, Pattern, Rectangle, Text};

use baton_core::settings::show_span;

use super::{Config, Effort, leaderless, run, scripts};
use crate::clock::True;
use crate::invariants::Violation;

/// More lanes than this make no picture.
pub const MOST_LANES: usize = 50;

const WIDTH: f64 = 1200.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 56.0;
const LANE: f64 = 36.0;
const BOTTOM: f64 = 74.0;

/// Colours that people with any colour vision can tell apart (after Okabe and Ito).
mod colour {
    pub const REIGN: &str = "#0072B2";
    pub const GAP: &str = "#D55E00";
    pub const PAUSE: &str = "#E69F00";
    pub const CUT: &str = "#CC79A7";
    pub const AWAY: &str = "#999999";
    pub const INK: &str = "#222222";
    pub const FAINT: &str = "#D8D8D8";
    pub const PAPER: &str = "#FFFFFF";
}

/// Where things are.
#[derive(Clone, Copy)]
struct Frame {
    lanes: usize,
    micros: f64,
}

impl Frame {
    /// Where a time is, from the left.
    fn x(self, at: True) -> f64 {
        let share = (at.as_micros() as f64 / self.micros).min(1.0);
        LEFT + share * (WIDTH - LEFT - RIGHT)
    }

    /// Where a lane begins, from the top; lane 0 is nobody's.
    fn y(self, lane: usize) -> f64 {
        TOP + lane as f64 * LANE
    }

    /// Where the lanes end.
    fn floor(self) -> f64 {
        self.y(self.lanes + 1)
    }
}

/// Draws a stretch with one fault of each kind.
pub fn draw(config: &Config, effort: &Effort) -> Result<String, Violation> {
    let script = scripts::one_of_each(config, effort);
    let stats = run(config, effort, &script)?;
    let frame = Frame { lanes: effort.nodes, micros: stats.simulated.as_micros() as f64 };
    let height = frame.floor() + BOTTOM;
    let mut picture = Document::new()
        .set("viewBox", (0.0, 0.0, WIDTH, height))
        .set("width", WIDTH)
        .set("height", height)
        .set("font-family", "Helvetica, Arial, sans-serif")
        .set("font-size", 12)
        .set("fill", colour::INK)
        .add(hatches())
        .add(Rectangle::new().set("width", "100%").set("height", "100%").set("fill", colour::PAPER))
        .add(heading(config, effort))
        .add(axis::axis(frame, stats.simulated));
    for lane in 0..=effort.nodes {
        picture = picture.add(lanes::lane(frame, lane));
    }
    for band in stats.marks.iter().filter_map(|marked| marks::behind(frame, marked)) {
        picture = picture.add(band);
    }
    for reign in &stats.reigns {
        picture = picture.add(lanes::reign(frame, reign));
    }
    picture = picture.add(lanes::gaps(frame, &leaderless(&stats)));
    for marked in &stats.marks {
        picture = picture.add(marks::before(frame, marked));
    }
    Ok(picture.add(legend::legend(frame)).to_string())
}

fn heading(config: &Config, effort: &Effort) -> Text {
    let (settings, environment) = (&config.settings, &config.environment);
    let told = |name: &str, there: bool| format!("{} {name}", if there { "with" } else { "no" });
    let text = format!(
        "{} nodes, profile {}: lease {}, beat {} ± {}, {}, {}",
        effort.nodes,
        config.profile,
        show_span(settings.lease_timeout),
        show_span(settings.heartbeat_interval),
        show_span(settings.heartbeat_jitter),
        told("lifeline", environment.lifeline),
        told("push", environment.push),
    );
    Text::new(format!("Who leads: {text}"))
        .set("x", LEFT)
        .set("y", 30)
        .set("font-size", 16)
        .set("font-weight", "bold")
}

/// Hatches, so that kinds differ in form as well as in colour, and show the term they strike.
fn hatches() -> Definitions {
    let hatch = |id: &str, turn: i32, ink: &str| {
        Pattern::new()
            .set("id", id)
            .set("width", 6)
            .set("height", 6)
            .set("patternUnits", "userSpaceOnUse")
            .set("patternTransform", format!("rotate({turn})"))
            .add(Line::new().set("y2", 6).set("stroke", ink.to_owned()).set("stroke-width", 6))
    };
    Definitions::new().add(hatch("pause", 45, colour::PAUSE)).add(hatch("cut", -45, colour::CUT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::what_if::Environment;

    #[test]
    fn a_picture_has_a_lane_for_each_node_and_every_kind_of_fault() {
        let (profile, settings) = Default::default();
        let config = Config { profile, settings, environment: Environment::default() };
        let effort = Effort { nodes: 4, days: 1, runs: 1, seed: 3 };
        let picture = draw(&config, &effort).expect("no promise is broken");
        assert_eq!(picture.matches("class=\"lane\"").count(), 4);
        for kind in ["reign", "gap", "crash", "pause", "cut", "away", "leave"] {
            assert!(picture.contains(&format!("class=\"{kind}\"")), "{kind}");
        }
    }
}
