//! When no node could act as the leader.

use std::time::Duration;

use crate::clock::TrueTime;
use crate::outcome::{FaultKind, FaultSpan, Stats};

/// A stretch without a leader that could act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    pub from: TrueTime,
    pub until: TrueTime,
}

impl Gap {
    /// How long it was.
    pub fn span(&self) -> Duration {
        self.until.since(self.from)
    }
}

/// The stretches between the first term's start and the end of the run in which no node could act.
pub fn leaderless(stats: &Stats) -> Vec<Gap> {
    let end = TrueTime::default() + stats.simulated;
    let mut acting = Vec::new();
    for span in &stats.terms {
        let until = span.until.map_or(end, |(at, _)| at);
        acting.extend(able(span.from, until, span.pid.slot, &stats.faults));
    }
    acting.sort_unstable();
    let Some((_, mut covered)) = acting.first().copied() else { return Vec::new() };
    let mut gaps = Vec::new();
    for (from, until) in acting {
        if from > covered {
            gaps.push(Gap { from: covered, until: from });
        }
        covered = covered.max(until);
    }
    if covered < end {
        gaps.push(Gap { from: covered, until: end });
    }
    gaps
}

/// A span without the stretches in which its process was paused or its machine had no network.
fn able(
    from: TrueTime,
    until: TrueTime,
    slot: usize,
    faults: &[FaultSpan],
) -> Vec<(TrueTime, TrueTime)> {
    let mut parts = vec![(from, until)];
    let unable = |fault: &&FaultSpan| {
        fault.slot == Some(slot) && matches!(fault.kind, FaultKind::Pause | FaultKind::Cut)
    };
    // Faults are in the order of their beginning: only the last part can be affected.
    for fault in faults.iter().filter(unable).take_while(|fault| fault.from < until) {
        let Some((start, stop)) = parts.pop() else { break };
        if fault.from > start {
            parts.push((start, fault.from.min(stop)));
        }
        if fault.until < stop {
            parts.push((start.max(fault.until), stop));
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use baton_core::ids::{BootId, Epoch};

    use super::*;
    use crate::fact::ProcessId;
    use crate::outcome::GapCause;

    fn at(seconds: u64) -> TrueTime {
        TrueTime::from_micros(seconds * 1_000_000)
    }

    fn lived(seconds: u64) -> Stats {
        Stats { simulated: Duration::from_secs(seconds), ..Stats::default() }
    }

    fn pid(slot: usize) -> ProcessId {
        ProcessId { slot, boot: BootId(slot as u128) }
    }

    #[test]
    fn a_pause_counts_from_its_beginning_and_a_lost_store_from_the_end_of_the_term() {
        let mut stats = lived(100);
        stats.term_begins(at(10), pid(0), Epoch(1));
        stats.fault(FaultKind::Pause, Some(0), at(20), at(50));
        stats.term_ends(at(30), pid(0), GapCause::Pause);
        stats.term_begins(at(35), pid(1), Epoch(2));
        stats.fault(FaultKind::StoreAway, None, at(40), at(70));
        stats.term_ends(at(52), pid(1), GapCause::Unreachable);
        stats.term_begins(at(72), pid(1), Epoch(3));
        let gaps: Vec<_> = leaderless(&stats).iter().map(|gap| (gap.from, gap.until)).collect();
        assert_eq!(gaps, [(at(20), at(35)), (at(52), at(72))]);
    }

    #[test]
    fn a_short_pause_is_a_gap_within_a_term_and_a_dead_cluster_one_to_the_end() {
        let mut stats = lived(100);
        stats.term_begins(at(10), pid(0), Epoch(1));
        stats.fault(FaultKind::Pause, Some(0), at(20), at(22));
        stats.fault(FaultKind::Cut, Some(1), at(25), at(60));
        stats.term_ends(at(80), pid(0), GapCause::CrashSilent);
        let gaps: Vec<_> = leaderless(&stats).iter().map(|gap| (gap.from, gap.until)).collect();
        assert_eq!(gaps, [(at(20), at(22)), (at(80), at(100))]);
    }
}
