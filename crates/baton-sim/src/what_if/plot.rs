//! Which node led when, through one fault of each kind, as a picture.

use std::time::Duration;

use super::{Config, Gap, RunOptions, leaderless, run, scripts};
use crate::clock::TrueTime;
use crate::figures::show_ms;
use crate::invariants::Violation;
use crate::outcome::{FaultKind, FaultSpan, TermSpan};
use crate::timeline::{self, Kind, Shape};

/// The most nodes that a picture can show.
pub const NODES_MAX: usize = 50;

/// Draws a run with one fault of each kind.
pub fn draw(config: &Config, options: &RunOptions) -> Result<String, Violation> {
    let stats = run(config, options, &scripts::one_of_each(config, options))?;
    let terms = stats.terms.iter().map(|span| term(span, stats.simulated));
    let gaps = leaderless(&stats);
    let faults = stats.faults.iter().map(fault);
    let shapes: Vec<Shape> = terms.chain(gaps.iter().map(gap)).chain(faults).collect();
    let nodes: Vec<String> = (1..=options.nodes).map(|node| format!("node {node}")).collect();
    let title = format!("{}, {}", config.heading(options.nodes), config.environment.reach());
    Ok(timeline::draw(&title, &nodes, stats.simulated, &shapes))
}

fn at(time: TrueTime) -> Duration {
    time.since(TrueTime::default())
}

fn term(span: &TermSpan, end: Duration) -> Shape {
    let until = span.until.map_or(end, |(until, _)| at(until));
    let (lane, label) = (span.pid.slot + 1, format!("epoch {}", span.epoch));
    Shape { kind: Kind::Term, lane, from: at(span.from), until, label }
}

fn gap(gap: &Gap) -> Shape {
    let label = show_ms(gap.span().as_secs_f64() * 1e3);
    Shape { kind: Kind::Gap, lane: 0, from: at(gap.from), until: at(gap.until), label }
}

fn fault(fault: &FaultSpan) -> Shape {
    let lane = fault.slot.map_or(0, |slot| slot + 1);
    let (from, until) = (at(fault.from), at(fault.until));
    let kind = match fault.kind {
        FaultKind::Killed => Kind::Killed,
        FaultKind::Leave => Kind::Leave,
        FaultKind::Pause => Kind::Pause,
        FaultKind::Cut => Kind::Cut,
        FaultKind::StoreAway => Kind::Away,
    };
    Shape { kind, lane, from, until, label: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::what_if::Environment;

    #[test]
    fn a_picture_has_a_lane_for_each_node_and_every_kind_of_fault() {
        let (profile, settings) = Default::default();
        let config = Config { profile, settings, environment: Environment::default() };
        let options = RunOptions { nodes: 4, days: 1, runs: 1, seed: 3 };
        let picture = draw(&config, &options).expect("no promise is broken");
        assert_eq!(picture.matches("class=\"lane\"").count(), 4);
        for kind in ["term", "gap", "killed", "pause", "cut", "away", "leave"] {
            assert!(picture.contains(&format!("class=\"{kind}\"")), "{kind}");
        }
    }
}
