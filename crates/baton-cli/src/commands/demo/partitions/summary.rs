//! What the demo showed, in figures.

use std::time::Duration;

use serde::Serialize;

use super::PARTITIONS;
use super::acts::Outcome;
use crate::cluster::owners::Findings;
use crate::commands::demo::summary::{Figures, show_failover};
use crate::output::style::Tone;
use crate::output::table::{Cell, Table};

/// How many findings of a kind are shown.
const SHOWN: usize = 5;

/// The figures, from the owners' own logs.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    lease_ms: u64,
    partitions: u32,
    events: Vec<Outcome>,
    /// How often a process began to own a partition.
    starts: usize,
    double_owners: usize,
    tokens_not_risen: usize,
    #[serde(skip)]
    findings: Findings,
}

impl Summary {
    pub(super) fn new(
        events: Vec<Outcome>,
        starts: usize,
        findings: Findings,
        lease: Duration,
    ) -> Self {
        Self {
            lease_ms: baton_core::time::whole_ms(lease),
            partitions: PARTITIONS,
            events,
            starts,
            double_owners: findings.doubled.len(),
            tokens_not_risen: findings.unordered.len(),
            findings,
        }
    }
}

impl Figures for Summary {
    /// Whether no partition had two owners at once, and every owner a higher token than the last.
    fn is_good(&self) -> bool {
        self.starts > 0 && self.double_owners == 0 && self.tokens_not_risen == 0
    }

    fn render(&self, width: Option<usize>) -> String {
        let titles = ["EVENT", "NODE", ">MOVED", ">FEWEST", ">ALL OWNED AFTER", ">LONGEST GAP"];
        let mut table = Table::new(&titles);
        for outcome in &self.events {
            let tone = if outcome.moved == outcome.fewest { Tone::Plain } else { Tone::Warn };
            table.row([
                Cell::from(outcome.act.name()),
                outcome.node.to_string().into(),
                Cell::new(outcome.moved.to_string(), tone),
                outcome.fewest.to_string().into(),
                Cell::new(show_failover(outcome.owned_after_ms), Tone::Good),
                show_failover(outcome.longest_gap_ms).into(),
            ]);
        }
        let Self { partitions, starts, double_owners, tokens_not_risen, .. } = self;
        let lease = self.lease_ms as f64 / 1e3;
        let tone = if self.is_good() { Tone::Good } else { Tone::Bad };
        let verdict =
            format!("double owners: {double_owners}, tokens that did not rise: {tokens_not_risen}");
        let mut text = format!(
            "{}\n{partitions} partitions were given to an owner {starts} times, under a lease of \
             {lease} s\nby the owners' own logs: {}\n",
            table.render(width),
            tone.paint(&verdict),
        );
        let Findings { doubled, unordered } = &self.findings;
        for (what, found) in [("two owners at once", doubled), ("token did not rise", unordered)] {
            for line in found.iter().take(SHOWN) {
                text.push_str(&format!("{what}: {line}\n"));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use baton::NodeId;

    use super::super::acts::Act;
    use super::*;

    fn summary(findings: Findings) -> Summary {
        let node = NodeId::new("alice").expect("valid");
        let (owned_after_ms, longest_gap_ms) = (12_345.6, 999.9);
        let event = |act| Outcome {
            act,
            node: node.clone(),
            moved: 6,
            fewest: 6,
            owned_after_ms,
            longest_gap_ms,
        };
        let events = [Act::Kill, Act::Drain, Act::Join].map(event).into();
        Summary::new(events, 28, findings, Duration::from_secs(15))
    }

    #[test]
    fn a_double_owner_fails_the_demo_and_is_shown() {
        assert!(summary(Findings::default()).is_good());
        let doubled = vec!["orders#7: alice, then bob".to_owned()];
        let bad = summary(Findings { doubled, ..Findings::default() });
        let text = anstream::adapter::strip_str(&bad.render(Some(80))).to_string();
        assert!(!bad.is_good() && text.contains("double owners: 1"), "{text}");
        assert!(text.contains("orders#7: alice, then bob"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
