//! What is counted as it happens: events by name, since when the term has worked, schedules, and
//! the expired records that plugins removed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton_core::Event;
use baton_core::time::Moment;
use baton_store::counts_by_name::CountsByName;

use super::schedules::ScheduleCounts;

/// Events that an alert may be about: counted from 0, so that the first one is a change.
const ALERTED: [&str; 6] = [
    "leader:flapping",
    "plugin:failed",
    "plugin:ignored-cancellation",
    "store:rejected",
    "store:went-back",
    "term:overran",
];

/// The counts of a node: added to where it emits an event, read when its figures are requested.
pub(crate) struct NodeCounts {
    events: CountsByName<AtomicU64>,
    /// When the running term began its work; 0 when there is none.
    working_since: AtomicU64,
    /// When work of the last term was seen to go on past its deadline; 0 if it was not.
    overran_at: AtomicU64,
    pub(super) schedules: ScheduleCounts,
    /// By plugin and target; the plugin adds to them itself.
    sweeps: Mutex<Vec<(String, String, Arc<AtomicU64>)>>,
}

impl Default for NodeCounts {
    fn default() -> Self {
        let events = CountsByName::default();
        for name in ALERTED {
            let _: &AtomicU64 = events.of(name);
        }
        let (working_since, overran_at) = (AtomicU64::new(0), AtomicU64::new(0));
        let schedules = ScheduleCounts::default();
        Self { events, working_since, overran_at, schedules, sweeps: Mutex::default() }
    }
}

impl NodeCounts {
    /// Counts an event at `now`, which is `wall_ms` in Unix milliseconds.
    pub(crate) fn count(&self, event: &Event, now: Moment, wall_ms: u64) {
        self.schedules.count(event, wall_ms);
        self.events.of(event.name()).fetch_add(1, Ordering::Relaxed);
        match event {
            Event::CoordinatorPromoted { .. } => {
                self.working_since.store(now.as_micros(), Ordering::Relaxed);
                self.overran_at.store(0, Ordering::Relaxed);
            }
            Event::CoordinatorDemoted { .. } => self.working_since.store(0, Ordering::Relaxed),
            Event::TermOverran { .. } => self.overran_at.store(now.as_micros(), Ordering::Relaxed),
            _ => {}
        }
    }

    /// From now on a plugin counts here what it removes of a target. Told at each term's start.
    pub(crate) fn sweeps(&self, plugin: &str, target: &str, records: &Arc<AtomicU64>) {
        let mut sweeps = self.sweeps.lock().expect("no holder panics");
        if !sweeps.iter().any(|(.., known)| Arc::ptr_eq(known, records)) {
            sweeps.push((plugin.to_owned(), target.to_owned(), Arc::clone(records)));
        }
    }

    /// How many records were removed so far, by plugin and target.
    pub(crate) fn swept(&self) -> BTreeMap<(String, String), u64> {
        let mut swept = BTreeMap::new();
        for (plugin, target, records) in &*self.sweeps.lock().expect("no holder panics") {
            let of = (plugin.clone(), target.clone());
            *swept.entry(of).or_default() += records.load(Ordering::Relaxed);
        }
        swept
    }

    pub(crate) fn events(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.events.iter().map(|(name, count)| (name, count.load(Ordering::Relaxed)))
    }

    /// For how long, at `now`, work has been seen to go on past its deadline. Counted from when the
    /// node noticed: a pause of the whole process is over by then.
    pub(crate) fn overrun_for(&self, now: Moment) -> Duration {
        since(&self.overran_at, now)
    }

    pub(crate) fn worked_for(&self, now: Moment) -> Duration {
        since(&self.working_since, now)
    }
}

/// How long ago that was at `now`; nothing if it never was.
fn since(moment: &AtomicU64, now: Moment) -> Duration {
    match moment.load(Ordering::Relaxed) {
        0 => Duration::ZERO,
        micros => now.since(Moment::from_micros(micros)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use baton_core::ids::Epoch;
    use baton_core::{DemotionReason, Event};

    use super::*;

    #[test]
    fn events_are_counted_by_their_first_name_and_a_term_is_timed() {
        let counts = NodeCounts::default();
        let at = Moment::from_micros;
        let epoch = Epoch(1);
        counts.count(&Event::CoordinatorPromoted { epoch }, at(5), 0);
        assert_eq!(counts.worked_for(at(8)), Duration::from_micros(3));
        counts.count(&Event::BreakerHalfOpen, at(6), 0);
        counts.count(&Event::BreakerHalfOpen, at(7), 0);
        let reason = DemotionReason::WindowClosed;
        counts.count(&Event::CoordinatorDemoted { epoch, reason }, at(9), 0);
        assert_eq!(counts.worked_for(at(12)), Duration::ZERO);
        counts.count(&Event::TermOverran { epoch }, at(9), 0);
        assert_eq!(counts.overrun_for(at(12)), Duration::from_micros(3));
        counts.count(&Event::CoordinatorPromoted { epoch: Epoch(2) }, at(20), 0);
        assert_eq!(counts.overrun_for(at(22)), Duration::ZERO, "that was another term");
        let mut told: Vec<_> = counts.events().filter(|(_, count)| *count > 0).collect();
        told.sort_unstable();
        let expected = [
            ("circuitBreaker:half-open", 2),
            ("coordinator-demoted", 1),
            ("coordinator-promoted", 2),
            ("term:overran", 1),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn events_that_alerts_are_about_are_there_from_the_start_under_their_names() {
        let plugin = || "p".to_owned();
        let events = [
            Event::LeaderFlapping { changes: 1, window_ms: 1 },
            Event::PluginFailed { plugin: plugin(), error: String::new(), restart_in_ms: None },
            Event::PluginIgnoredCancellation { plugin: plugin() },
            Event::StoreRejected,
            Event::StoreWentBack { seen: Epoch(2), stored: Epoch(1) },
            Event::TermOverran { epoch: Epoch(1) },
        ];
        let names: BTreeSet<&str> = events.iter().map(Event::name).collect();
        let there: BTreeSet<&str> = NodeCounts::default().events().map(|(name, _)| name).collect();
        assert_eq!(there, names);
    }
}
