//! What baton costs a store: requests per node and beat, in clusters of different sizes.
//!
//! Nothing fails here. Every node beats; the leader alone also reads the members and, when
//! they changed, publishes a view. Its share shrinks as the cluster grows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use baton_core::settings::Settings;
use serde::Serialize;

use crate::outcome::Stats;
use crate::plan::Plan;
use crate::stopwatch::Stopwatch;
use crate::trace::Trace;
use crate::world::{Script, World};

/// The most that a node may cost per beat in a cluster of a thousand.
pub const MOST_PER_BEAT: f64 = 1.05;

/// A larger cluster may cost this much more per node and still not count as growing.
const NOISE: f64 = 1.01;

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// The clusters of the full table: a day each, the largest for an hour.
pub const FULL: [(usize, Duration); 4] = [(10, DAY), (100, DAY), (1_000, DAY), (5_000, HOUR)];

/// The clusters of a quick look.
pub const QUICK: [(usize, Duration); 3] = [(10, HOUR), (100, HOUR), (1_000, HOUR)];

/// What one cluster cost.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub nodes: usize,
    pub simulated_seconds: f64,
    /// Nodes × time ÷ `heartbeat_interval`.
    pub beats: f64,
    pub requests: u64,
    /// Requests ÷ beats.
    pub per_beat: f64,
    pub kinds: BTreeMap<&'static str, u64>,
    pub terms: usize,
    pub seconds: f64,
}

/// Runs a cluster in which nothing fails.
pub fn measure(nodes: usize, length: Duration) -> Row {
    let watch = Stopwatch::default();
    let plan = Plan::quiet(nodes, Settings::default());
    let beat = plan.settings.heartbeat_interval;
    let script = Script { length, ..Script::default() };
    let world = World::scripted(Arc::new(plan), &script, Trace::Off).unchecked();
    row(nodes, beat, world.run().stats, watch.elapsed())
}

fn row(nodes: usize, beat: Duration, stats: Stats, took: Duration) -> Row {
    let beats = nodes as f64 * stats.simulated.as_secs_f64() / beat.as_secs_f64();
    let requests = stats.requests.values().sum();
    Row {
        nodes,
        simulated_seconds: stats.simulated.as_secs_f64(),
        beats,
        requests,
        per_beat: requests as f64 / beats,
        terms: stats.terms.len(),
        kinds: stats.requests,
        seconds: took.as_secs_f64(),
    }
}

/// What is wrong with a table, if anything is.
pub fn judge(rows: &[Row]) -> Option<String> {
    let mut smaller: Option<&Row> = None;
    for row in rows {
        let Row { nodes, per_beat, terms, .. } = row;
        if *terms != 1 {
            return Some(format!("{nodes} nodes had {terms} terms although nothing failed"));
        }
        if *nodes == 1_000 && *per_beat > MOST_PER_BEAT {
            return Some(format!(
                "{nodes} nodes cost {per_beat:.4} requests per node and beat; at most \
                 {MOST_PER_BEAT} are allowed"
            ));
        }
        if let Some(less) = smaller.filter(|less| *per_beat > less.per_beat * NOISE) {
            return Some(format!(
                "the cost per node grows: {per_beat:.4} requests per beat at {nodes} nodes, \
                 {:.4} at {}",
                less.per_beat, less.nodes
            ));
        }
        smaller = Some(row);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made_up(nodes: usize, per_beat: f64) -> Row {
        let stats = Stats::default();
        Row { per_beat, terms: 1, ..row(nodes, HOUR, stats, HOUR) }
    }

    #[test]
    fn a_cost_above_the_bound_or_growing_is_found() {
        let good = [made_up(10, 1.1), made_up(1_000, 1.001), made_up(5_000, 1.002)];
        assert_eq!(judge(&good), None);
        let dear = [made_up(10, 1.1), made_up(1_000, 1.06)];
        assert!(judge(&dear).is_some_and(|why| why.contains("1.0600 requests per node")));
        let growing = [made_up(10, 1.0), made_up(100, 1.02)];
        assert!(judge(&growing).is_some_and(|why| why.contains("1.0200 requests per beat at 100")));
    }

    #[test]
    fn ten_nodes_cost_a_beat_each_and_one_reading_of_the_members() {
        let row = measure(10, Duration::from_secs(600));
        assert!((1.05..1.25).contains(&row.per_beat), "{row:?}");
        assert_eq!(row.terms, 1);
    }
}
