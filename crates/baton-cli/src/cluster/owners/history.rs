//! What owners did, as their logs tell it: who worked on what, from when to when.
//!
//! ```text
//!   Start … Stop     from one to the other; to when it was last seen to be owned, if the process
//!                    was stopped in between: then it could not act any more
//!   Start … killed   to the kill, or to where the last Alive allows it: it may have been stopped
//!   Start …          still under way
//! ```

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use baton::NodeId;
use baton::clock::Moment;
use baton::partitions::{Partition, Token};

use super::OwnerLine;
use crate::cluster::{ClusterError, LogTail};

/// Work that was last seen to be owned longer ago than this when it ended, by a process that looks
/// every 20 ms, was stopped in between.
const STALL: Duration = Duration::from_millis(100);

/// A process that owns something notes so every 100 ms, and twice that is late.
const ALIVE_FOR: Duration = Duration::from_millis(200);

/// A process, by the order of its start.
pub type ProcessId = usize;

/// One owner's work on a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// On which partition.
    pub partition: Partition,
    /// The token of its writes.
    pub token: Token,
    /// By which process.
    pub process: ProcessId,
    /// Since when.
    pub start: Moment,
    /// Until when; `None` while it goes on.
    pub end: Option<Moment>,
}

/// One process's log, and what it said so far.
struct ProcessHistory {
    node: NodeId,
    log: LogTail,
    /// Its work under way, by its place among all works.
    under_way: BTreeMap<Partition, usize>,
    alive_at: Moment,
    has_ended: bool,
}

/// What all processes did.
#[derive(Default)]
pub struct History {
    processes: Vec<ProcessHistory>,
    /// In the order in which they were read.
    pub works: Vec<Work>,
}

impl History {
    /// Follows one more process.
    pub fn follow(&mut self, node: NodeId, log: &Path) -> ProcessId {
        self.processes.push(ProcessHistory {
            node,
            log: LogTail::new(log),
            under_way: BTreeMap::new(),
            alive_at: Moment::default(),
            has_ended: false,
        });
        self.processes.len() - 1
    }

    /// Reads on in all logs.
    pub fn read_on(&mut self) -> Result<(), ClusterError> {
        for process in 0..self.processes.len() {
            for line in self.processes[process].new_lines()? {
                self.take(process, line);
            }
        }
        Ok(())
    }

    /// This process was killed then, and its log is whole up to there.
    pub fn killed(&mut self, process: ProcessId, at: Moment) -> Result<(), ClusterError> {
        self.read_on()?;
        let it = &mut self.processes[process];
        it.has_ended = true;
        let end = at.min(it.alive_at + ALIVE_FOR);
        for work in std::mem::take(&mut it.under_way).into_values() {
            let start = self.works[work].start;
            // What began after the last note was alive by that.
            self.works[work].end = Some(if start > end { at } else { end });
        }
        Ok(())
    }

    fn take(&mut self, process: ProcessId, line: OwnerLine) {
        let it = &mut self.processes[process];
        match line {
            OwnerLine::Start { at, partition, token } => {
                it.under_way.insert(partition.clone(), self.works.len());
                self.works.push(Work { partition, token, process, start: at, end: None });
            }
            OwnerLine::Stop { at, partition, owned_at, .. } => {
                let Some(work) = it.under_way.remove(&partition) else { return };
                let was_stopped = at.since(owned_at) > STALL;
                self.works[work].end = Some(if was_stopped { owned_at } else { at });
            }
            OwnerLine::Alive { at } => it.alive_at = at,
        }
    }

    /// Which processes work on which partition now.
    pub fn owners(&self) -> BTreeMap<&Partition, Vec<ProcessId>> {
        let mut owners: BTreeMap<&Partition, Vec<ProcessId>> = BTreeMap::new();
        for (process, it) in self.processes.iter().enumerate() {
            for partition in it.under_way.keys() {
                owners.entry(partition).or_default().push(process);
            }
        }
        owners
    }

    /// On how many partitions a process works now.
    pub fn load(&self, process: ProcessId) -> usize {
        self.processes[process].under_way.len()
    }

    /// The work of a process on a partition, if it is under way.
    pub fn under_way(&self, process: ProcessId, partition: &Partition) -> Option<&Work> {
        self.processes[process].under_way.get(partition).map(|work| &self.works[*work])
    }

    /// The name of a process's node.
    pub fn node(&self, process: ProcessId) -> &NodeId {
        &self.processes[process].node
    }

    /// The log of a process.
    pub fn log(&self, process: ProcessId) -> &Path {
        self.processes[process].log.path()
    }

    /// The logs of all processes, also of those that have ended.
    pub fn logs(&self) -> impl Iterator<Item = &Path> {
        self.processes.iter().map(|it| it.log.path())
    }
}

impl ProcessHistory {
    fn new_lines(&mut self) -> Result<Vec<OwnerLine>, ClusterError> {
        if self.has_ended {
            return Ok(Vec::new());
        }
        let lines = self.log.new_lines()?.into_iter();
        let parsed = lines.map(|line| {
            let unreadable = |problem: serde_json::Error| ClusterError::File {
                path: self.log.path().to_owned(),
                problem: problem.into(),
            };
            serde_json::from_slice(&line).map_err(unreadable)
        });
        parsed.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::*;

    fn at(ms: u64) -> Moment {
        Moment::from_micros(ms * 1_000)
    }

    fn partition(number: u32) -> Partition {
        Partition { list: "orders".parse().expect("a plain name"), number }
    }

    fn start(number: u32, ms: u64) -> OwnerLine {
        OwnerLine::Start { at: at(ms), partition: partition(number), token: Token(1) }
    }

    fn stop(number: u32, ms: u64, owned_ms: u64) -> OwnerLine {
        let (partition, token) = (partition(number), Token(1));
        OwnerLine::Stop { at: at(ms), partition, token, owned_at: at(owned_ms) }
    }

    /// A history of one process with these lines, and something after them.
    fn history(lines: &[OwnerLine], tail: &str) -> History {
        let folder = tempfile::tempdir().expect("there is room");
        let log = folder.path().join("log");
        let mut file = File::create(&log).expect("there is room");
        for line in lines {
            writeln!(file, "{}", serde_json::to_string(line).expect("plain data")).expect("room");
        }
        write!(file, "{tail}").expect("room");
        let mut history = History::default();
        history.follow(NodeId::new("a").expect("a plain name"), &log);
        history.read_on().expect("it is readable");
        history
    }

    fn ends(history: &History) -> Vec<Option<Moment>> {
        history.works.iter().map(|work| work.end).collect()
    }

    #[test]
    fn work_ends_when_it_stopped_or_when_its_process_was_stopped() {
        let lines = [start(1, 0), start(2, 0), start(3, 0), stop(1, 900, 890), stop(2, 900, 500)];
        let history = history(&lines, "");
        assert_eq!(ends(&history), [Some(at(900)), Some(at(500)), None]);
        assert_eq!(history.owners().into_keys().collect::<Vec<_>>(), [&partition(3)]);
    }

    #[test]
    fn a_killed_process_ends_with_the_kill_or_where_it_was_last_alive() {
        let alive = OwnerLine::Alive { at: at(1_000) };
        let mut lively = history(&[start(1, 0), alive.clone()], "{\"did\":\"sto");
        lively.killed(0, at(1_100)).expect("it is readable");
        assert_eq!(ends(&lively), [Some(at(1_100))]);
        let mut stopped = history(&[start(1, 0), alive], "");
        stopped.killed(0, at(9_000)).expect("it is readable");
        assert_eq!(ends(&stopped), [Some(at(1_200))]);
        assert_eq!(stopped.load(0), 0);
    }

    #[test]
    fn a_line_that_is_none_is_no_end_of_a_log() {
        let folder = tempfile::tempdir().expect("there is room");
        let log = folder.path().join("log");
        std::fs::write(&log, "what\n").expect("there is room");
        let mut history = History::default();
        history.follow(NodeId::new("a").expect("a plain name"), &log);
        assert!(history.read_on().is_err());
    }
}
