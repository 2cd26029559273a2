//! Reads on in the log of a cluster while it grows, so that a wait costs no more than what is new.

use std::path::Path;
use std::time::Duration;

use baton_cli::attempts::Attempts;
use baton_cli::cluster::{ClusterError, LogTail, Tick};

/// How often the log is looked at. A line says itself when it was written, so that looking seldom
/// costs a measure nothing, and looking often would disturb it.
const READ_EVERY: Duration = Duration::from_millis(5);

/// A place in the log.
pub struct LogReader(LogTail);

impl LogReader {
    /// Starts at the present end of the log.
    pub fn from_now(log: &Path) -> Result<Self, ClusterError> {
        LogTail::from_now(log).map(Self)
    }

    /// The lines that were written since the last call.
    pub fn new_ticks(&mut self) -> Result<Vec<Tick>, ClusterError> {
        // The place may be within a line, and a kill may have torn one: neither is a tick.
        let lines = self.0.new_lines()?.into_iter();
        Ok(lines.filter_map(|line| serde_json::from_slice(&line).ok()).collect())
    }

    /// Waits for the first line of a later epoch than this one.
    pub async fn next_term(&mut self, beyond: u64, limit: Duration) -> Result<Tick, ClusterError> {
        let mut attempts = Attempts::new(READ_EVERY, limit);
        while attempts.next().await {
            let found = self.new_ticks()?.into_iter().find(|tick| tick.epoch > beyond);
            if let Some(tick) = found {
                return Ok(tick);
            }
        }
        Err(ClusterError::TimedOut { what: "a tick of the next term", limit })
    }
}

#[cfg(test)]
mod tests {
    use baton::clock::Moment;
    use baton_cli::cluster::TickKind;

    use super::*;

    #[test]
    fn a_torn_line_is_no_tick() {
        let folder = tempfile::tempdir().expect("there is room");
        let log = folder.path().join("log");
        let mut reader = LogReader::from_now(&log).expect("a log need not be there");
        let (at, node) = (Moment::from_micros(7), "a".to_owned());
        let tick = Tick { at, epoch: 3, node, pid: 1, kind: TickKind::Began, slot: 0 };
        let line = serde_json::to_string(&tick).expect("plain data");
        std::fs::write(&log, format!("{{\"at\":\n{line}\n")).expect("there is room");
        assert_eq!(reader.new_ticks().expect("it reads"), [tick]);
    }
}
