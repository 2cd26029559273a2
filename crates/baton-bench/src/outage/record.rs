//! What the events say: who led when, which breakers opened and closed, how soon a node led.

use std::collections::BTreeMap;
use std::sync::Arc;

use baton::{Event, NodeId, Stamped};

/// One term, as its node's events show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    node: NodeId,
    epoch: u64,
    began_ms: u64,
    ended_ms: Option<u64>,
}

/// What the breaker of one node did since the store was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Breaker {
    opened: bool,
    probes: u32,
    /// After it had opened and probed.
    closed: bool,
}

/// What the events of all nodes say.
#[derive(Clone, Debug)]
pub struct Record {
    terms: Vec<Term>,
    breakers: BTreeMap<NodeId, Breaker>,
    lost_ms: u64,
    /// From the store's return until a node led and had heard from it.
    pub recovery_ms: Option<u64>,
    most_at_once: usize,
    superseded: usize,
}

impl Record {
    /// Reads the events.
    pub fn of(events: &[Arc<Stamped>], lost_ms: u64, back_ms: u64, most_at_once: usize) -> Self {
        let terms = terms(events);
        let is_other = |event: &Event| {
            matches!(event, Event::NodeSuperseded { .. } | Event::NodeIdTaken { .. })
        };
        Self {
            breakers: breakers(events, lost_ms),
            lost_ms,
            recovery_ms: recovery(events, &terms, back_ms).map(|at| at - back_ms),
            most_at_once,
            superseded: events.iter().filter(|stamped| is_other(&stamped.event)).count(),
            terms,
        }
    }

    /// A row of the table.
    pub fn cells(&self, store: &str) -> Vec<String> {
        let count = |is: fn(&Breaker) -> bool| self.breakers.values().filter(|it| is(it)).count();
        let probes: u32 = self.breakers.values().map(|breaker| breaker.probes).sum();
        vec![
            store.to_owned(),
            self.recovery_ms.map_or_else(|| "never".to_owned(), seconds),
            seconds(self.led_on_ms()),
            self.epochs(),
            count(|it| it.opened).to_string(),
            probes.to_string(),
            count(|it| it.closed).to_string(),
            self.most_at_once.to_string(),
        ]
    }

    /// Breakers that opened, probed, and closed.
    pub fn closed(&self) -> usize {
        self.breakers.values().filter(|breaker| breaker.closed).count()
    }

    /// The most that led at one time.
    pub fn most_at_once(&self) -> usize {
        self.most_at_once
    }

    /// Nodes that another process went by the name of: a node was started again.
    pub fn superseded(&self) -> usize {
        self.superseded
    }

    /// How long a node led after the store was lost.
    fn led_on_ms(&self) -> u64 {
        let led = self.terms.iter().rfind(|term| term.began_ms <= self.lost_ms);
        let ended = led.map(|term| term.ended_ms.unwrap_or(u64::MAX));
        ended.map_or(0, |ended| ended.saturating_sub(self.lost_ms))
    }

    /// The last epoch before the loss, and the last of all.
    fn epochs(&self) -> String {
        let before = self.terms.iter().rfind(|term| term.began_ms <= self.lost_ms);
        let show = |term: Option<&Term>| term.map_or(0, |term| term.epoch);
        format!("{} → {}", show(before), show(self.terms.last()))
    }

    /// Terms that began before the one before had ended, or with an epoch that is not higher.
    pub fn overlaps(&self) -> usize {
        let is_bad = |pair: &&[Term]| {
            pair[0].epoch >= pair[1].epoch
                || pair[0].ended_ms.is_none_or(|ended| ended > pair[1].began_ms)
        };
        self.terms.windows(2).filter(is_bad).count()
    }
}

fn seconds(ms: u64) -> String {
    if ms > 1_000_000_000 { "on".to_owned() } else { format!("{:.1}", ms as f64 / 1e3) }
}

/// The terms, in the order in which they began.
fn terms(events: &[Arc<Stamped>]) -> Vec<Term> {
    let mut terms: Vec<Term> = Vec::new();
    for stamped in events {
        match &stamped.event {
            Event::CoordinatorPromoted { epoch } => terms.push(Term {
                node: stamped.node.clone(),
                epoch: epoch.0,
                began_ms: stamped.at_ms,
                ended_ms: None,
            }),
            Event::CoordinatorDemoted { epoch, .. } => {
                let its = |term: &&mut Term| term.epoch == epoch.0 && term.node == stamped.node;
                if let Some(term) = terms.iter_mut().rev().find(its) {
                    term.ended_ms = Some(stamped.at_ms);
                }
            }
            _ => {}
        }
    }
    terms.sort_by_key(|term| term.began_ms);
    terms
}

fn breakers(events: &[Arc<Stamped>], since_ms: u64) -> BTreeMap<NodeId, Breaker> {
    let mut breakers = BTreeMap::<NodeId, Breaker>::new();
    for stamped in events.iter().filter(|stamped| stamped.at_ms >= since_ms) {
        let breaker = breakers.entry(stamped.node.clone()).or_default();
        match stamped.event {
            Event::BreakerOpen { .. } => (breaker.opened, breaker.closed) = (true, false),
            Event::BreakerHalfOpen => breaker.probes += u32::from(breaker.opened),
            Event::BreakerClosed => breaker.closed = breaker.opened && breaker.probes > 0,
            _ => {}
        }
    }
    breakers
}

/// When a node first led that had heard from the store: a new term, or a beat of the old one's.
fn recovery(events: &[Arc<Stamped>], terms: &[Term], back_ms: u64) -> Option<u64> {
    let leads = |node: &NodeId, at: u64| {
        let its = |term: &&Term| term.node == *node && term.began_ms <= at;
        let term = terms.iter().rfind(its);
        term.is_some_and(|term| term.ended_ms.is_none_or(|ended| ended > at))
    };
    let after = events.iter().filter(|stamped| stamped.at_ms >= back_ms);
    let counts = after.filter(|stamped| match stamped.event {
        Event::CoordinatorPromoted { .. } => true,
        Event::WorkerHeartbeat { .. } => leads(&stamped.node, stamped.at_ms),
        _ => false,
    });
    counts.map(|stamped| stamped.at_ms).min()
}

#[cfg(test)]
mod tests {
    use baton::{DemotionReason, Epoch, Namespace};

    use super::*;
    use crate::report::TextTable;

    fn at(at_ms: u64, node: &str, event: Event) -> Arc<Stamped> {
        let namespace = Namespace::new("n").expect("a plain name");
        let node = NodeId::new(node).expect("a plain name");
        Arc::new(Stamped::new(at_ms, namespace, node, event))
    }

    fn promoted(at_ms: u64, node: &str, epoch: u64) -> Arc<Stamped> {
        at(at_ms, node, Event::CoordinatorPromoted { epoch: Epoch(epoch) })
    }

    fn demoted(at_ms: u64, node: &str, epoch: u64) -> Arc<Stamped> {
        let reason = DemotionReason::WindowClosed;
        at(at_ms, node, Event::CoordinatorDemoted { epoch: Epoch(epoch), reason })
    }

    fn beat(at_ms: u64, node: &str) -> Arc<Stamped> {
        at(at_ms, node, Event::WorkerHeartbeat { latency_ms: 1 })
    }

    #[test]
    fn a_new_term_or_a_beat_of_the_old_coordinator_is_recovery() {
        let events =
            [promoted(1, "a", 1), demoted(20, "a", 1), beat(31, "a"), promoted(40, "b", 2)];
        let record = Record::of(&events, 10, 30, 1);
        assert_eq!((record.recovery_ms, record.led_on_ms(), record.overlaps()), (Some(10), 10, 0));
        let events = [promoted(1, "a", 1), beat(31, "b"), beat(33, "a")];
        assert_eq!(Record::of(&events, 10, 30, 1).recovery_ms, Some(3));
        assert_eq!(Record::of(&events[..2], 10, 30, 1).recovery_ms, None);
    }

    #[test]
    fn terms_that_overlap_or_do_not_rise_are_found() {
        let events = [promoted(1, "a", 1), promoted(5, "b", 2), demoted(6, "a", 1)];
        assert_eq!(Record::of(&events, 0, 0, 1).overlaps(), 1);
        let events = [promoted(1, "a", 2), demoted(2, "a", 2), promoted(5, "b", 2)];
        assert_eq!(Record::of(&events, 0, 0, 1).overlaps(), 1);
    }

    #[test]
    fn a_breaker_must_open_probe_and_close_after_the_loss() {
        let open = || Event::BreakerOpen { failures: 5 };
        let events = [
            at(11, "a", open()),
            at(12, "a", Event::BreakerHalfOpen),
            at(13, "a", Event::BreakerClosed),
            at(11, "b", open()),
            at(13, "b", Event::BreakerClosed),
            at(1, "c", open()),
        ];
        let closed: Vec<bool> =
            breakers(&events, 10).values().map(|breaker| breaker.closed).collect();
        assert_eq!(closed, [true, false]);
    }

    #[test]
    fn a_row_has_a_cell_for_each_column() {
        let record = Record::of(&[promoted(1, "a", 1)], 10, 30, 1);
        let mut table = TextTable::new("outage", &super::super::print::HEAD);
        table.row(record.cells("redis"));
        assert_eq!(table.rows[0].len(), table.head.len());
    }
}
