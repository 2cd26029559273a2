//! The leaders over time as a picture: a lane for each node, its terms, and what was done to it.

use std::time::Duration;

use baton::clock::Moment;
use baton_sim::timeline::{self, Kind, Shape};

use super::acts::Act;
use super::session::Session;
use super::summary::show_failover;
use crate::cluster::Ticks;

/// Draws what the jobs wrote and what was done to the nodes.
pub fn draw(session: &Session, ticks: &Ticks) -> String {
    let at = |moment: Moment| moment.since(session.journal.began);
    let lane = |node: &str| 1 + super::NODES.iter().position(|name| *name == node).unwrap_or(0);
    let terms = ticks.terms();
    let length = terms.last().map_or(Duration::ZERO, |(_, _, _, last)| at(*last));
    let mut shapes = Vec::new();
    for (epoch, node, first, last) in &terms {
        let (lane, label) = (lane(node), format!("epoch {epoch}"));
        let (from, until) = (at(*first), at(*last));
        shapes.push(Shape { kind: Kind::Term, lane, from, until, label });
    }
    for entry in &session.journal.entries {
        let Some((act, node)) = &entry.act else { continue };
        let next = terms.iter().position(|(_, _, first, _)| *first > entry.at).filter(|at| *at > 0);
        if let Some(next) = next {
            // A job that is asked to stop, or whose guard stops it, works on for a while.
            let (from, first) = (terms[next - 1].3.max(entry.at), terms[next].2);
            let label = show_failover(first.since(from).as_secs_f64() * 1e3);
            let (from, until) = (at(from), at(first));
            shapes.push(Shape { kind: Kind::Gap, lane: 0, from, until, label });
        }
        let kind = match act {
            Act::Kill => Kind::Killed,
            Act::Resign => Kind::Leave,
            Act::Pause => Kind::Pause,
        };
        let (lane, from) = (lane(node.as_str()), at(entry.at));
        let until = entry.until.map_or(from, at);
        shapes.push(Shape { kind, lane, from, until, label: act.name().to_owned() });
    }
    let lease = session.lease.as_secs_f64();
    let title = format!("baton demo: three processes, one job, a lease of {lease} s");
    timeline::draw(&title, &super::NODES.map(str::to_owned), length.mul_f64(1.02), &shapes)
}
