//! What the jobs wrote, and what that says: who ran when, and whether ever two at once.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use baton::clock::Moment;

use super::{ClusterError, Tick, TickKind};

/// A line of an earlier epoch after one of a later: two jobs at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The later epoch's line.
    pub newer: Tick,
    /// The earlier epoch's line that came after it.
    pub stale: Tick,
}

/// The log, in the order it was written.
#[derive(Clone, Debug, Default)]
pub struct Ticks(Vec<Tick>);

impl Ticks {
    /// Reads a log. One that is not there yet is empty; a last line that a kill cut off is left
    /// out.
    pub fn read(log: &Path) -> Result<Self, ClusterError> {
        let text = match std::fs::read(log) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(problem) => return Err(ClusterError::File { path: log.to_owned(), problem }),
        };
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let parse = |(index, line): (usize, &str)| {
            let path = log.to_owned();
            let bad = |problem| ClusterError::Log { path, line: index + 1, problem };
            serde_json::from_str(line).map_err(bad)
        };
        let lines = whole.lines().enumerate().map(parse);
        lines.collect::<Result<Vec<Tick>, _>>().map(Self)
    }

    /// Every line.
    pub fn all(&self) -> &[Tick] {
        &self.0
    }

    /// The lines of this epoch and of later ones.
    #[must_use]
    pub fn since_epoch(&self, epoch: u64) -> Self {
        Self(self.0.iter().filter(|tick| tick.epoch >= epoch).cloned().collect())
    }

    /// The first line after this moment that is of a later epoch than this one.
    pub fn first_beyond(&self, after: Moment, beyond: u64) -> Option<&Tick> {
        self.0.iter().find(|tick| tick.at > after && tick.epoch > beyond)
    }

    /// Lines of an epoch that was over, because a later one had begun to write.
    pub fn overlaps(&self) -> Vec<Overlap> {
        let mut sorted: Vec<&Tick> = self.0.iter().collect();
        sorted.sort_by_key(|tick| tick.at);
        let mut newest: Option<&Tick> = None;
        let mut found = Vec::new();
        for tick in sorted {
            match newest {
                Some(newer) if tick.epoch < newer.epoch => {
                    found.push(Overlap { newer: newer.clone(), stale: tick.clone() });
                }
                Some(newer) if tick.epoch == newer.epoch => {}
                _ => newest = Some(tick),
            }
        }
        found
    }

    /// Slots that were done more than once.
    pub fn doubles(&self) -> Vec<u64> {
        let mut counts = BTreeMap::<u64, u32>::new();
        for tick in self.0.iter().filter(|tick| tick.kind == TickKind::Tick) {
            *counts.entry(tick.slot).or_default() += 1;
        }
        counts.into_iter().filter(|(_, count)| *count > 1).map(|(slot, _)| slot).collect()
    }

    /// Epochs that two nodes wrote in, or two processes by turns. A job may be started again within
    /// its term; then the first one writes no more.
    pub fn shared_epochs(&self) -> Vec<u64> {
        let mut writers = BTreeMap::<u64, Vec<(&str, u32)>>::new();
        for tick in &self.0 {
            let writer = (tick.node.as_str(), tick.pid);
            let of_epoch = writers.entry(tick.epoch).or_default();
            if of_epoch.last() != Some(&writer) {
                of_epoch.push(writer);
            }
        }
        let is_shared = |writers: &[(&str, u32)]| {
            let returned = |at: usize| writers[..at].contains(&writers[at]);
            writers.iter().any(|writer| writer.0 != writers[0].0)
                || (0..writers.len()).any(returned)
        };
        let shared = writers.into_iter().filter(|(_, writers)| is_shared(writers));
        shared.map(|(epoch, _)| epoch).collect()
    }

    /// Each epoch with its node, its first and its last line.
    pub fn terms(&self) -> Vec<(u64, String, Moment, Moment)> {
        let mut terms = BTreeMap::<u64, (String, Moment, Moment)>::new();
        for tick in &self.0 {
            let fresh = || (tick.node.clone(), tick.at, tick.at);
            let (_, first, last) = terms.entry(tick.epoch).or_insert_with(fresh);
            *first = (*first).min(tick.at);
            *last = (*last).max(tick.at);
        }
        let flat = |(epoch, (node, first, last))| (epoch, node, first, last);
        terms.into_iter().map(flat).collect()
    }

    /// The longest time without a line.
    pub fn longest_gap(&self) -> Duration {
        let mut times: Vec<Moment> = self.0.iter().map(|tick| tick.at).collect();
        times.sort();
        times.windows(2).map(|pair| pair[1].since(pair[0])).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(at: u64, epoch: u64, node: &str, slot: u64) -> Tick {
        let (at, node) = (Moment::from_micros(at), node.to_owned());
        Tick { at, epoch, node, pid: 1, kind: TickKind::Tick, slot }
    }

    #[test]
    fn an_earlier_epoch_after_a_later_one_is_an_overlap() {
        let good = Ticks(vec![tick(1, 1, "a", 1), tick(2, 1, "a", 2), tick(3, 2, "b", 3)]);
        assert_eq!(
            (good.overlaps(), good.doubles(), good.shared_epochs()),
            (vec![], vec![], vec![])
        );
        let stale = tick(4, 1, "a", 4);
        let bad = Ticks([&good.0[..], std::slice::from_ref(&stale)].concat());
        assert_eq!(bad.overlaps(), [Overlap { newer: tick(3, 2, "b", 3), stale }]);
        assert_eq!(bad.since_epoch(2).all(), [tick(3, 2, "b", 3)]);
    }

    #[test]
    fn a_slot_done_twice_and_an_epoch_shared_are_found() {
        let bad = Ticks(vec![tick(1, 1, "a", 1), tick(2, 1, "b", 1), tick(9, 2, "b", 2)]);
        assert_eq!((bad.doubles(), bad.shared_epochs()), (vec![1], vec![1]));
        assert_eq!(bad.longest_gap(), Duration::from_micros(7));
    }

    #[test]
    fn a_job_started_again_is_not_two_at_once_unless_the_first_goes_on() {
        let by = |pid, at| Tick { pid, ..tick(at, 1, "a", at) };
        let again = Ticks(vec![by(1, 1), by(1, 2), by(2, 3), by(2, 4)]);
        assert!(again.shared_epochs().is_empty());
        let both = Ticks(vec![by(1, 1), by(2, 2), by(1, 3)]);
        assert_eq!(both.shared_epochs(), [1]);
    }

    #[test]
    fn a_line_that_a_kill_cut_off_is_left_out_and_garbage_is_not() {
        let folder = tempfile::tempdir().expect("there is room");
        let log = folder.path().join("log");
        let line = serde_json::to_string(&tick(1, 1, "a", 1)).expect("plain data");
        std::fs::write(&log, format!("{line}\n{{\"at\":")).expect("there is room");
        assert_eq!(Ticks::read(&log).expect("it reads").all(), [tick(1, 1, "a", 1)]);
        std::fs::write(&log, format!("{line}\nnonsense\n{line}\n")).expect("there is room");
        let message = Ticks::read(&log).expect_err("garbage").to_string();
        assert!(message.contains("line 2"), "{message}");
    }
}
