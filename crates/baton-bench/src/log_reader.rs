//! Reads on in the log of a cluster while it grows, so that a wait costs no more than what is new.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_cli::attempts::Attempts;
use baton_cli::cluster::{ClusterError, Tick};

/// How often the log is looked at. A line says itself when it was written, so that looking seldom
/// costs a measure nothing, and looking often would disturb it.
const READ_EVERY: Duration = Duration::from_millis(5);

/// A place in the log, and the piece of a line that stands there.
pub struct LogReader {
    log: PathBuf,
    offset: u64,
    piece: Vec<u8>,
}

impl LogReader {
    /// Starts at the present end of the log.
    pub fn from_now(log: &Path) -> Result<Self, ClusterError> {
        let offset = match std::fs::metadata(log) {
            Ok(file) => file.len(),
            Err(problem) if problem.kind() == ErrorKind::NotFound => 0,
            Err(problem) => return Err(ClusterError::File { path: log.to_owned(), problem }),
        };
        Ok(Self { log: log.to_owned(), offset, piece: Vec::new() })
    }

    /// The lines that were written since the last call.
    pub fn new_ticks(&mut self) -> Result<Vec<Tick>, ClusterError> {
        let read = self.read_on();
        read.map_err(|problem| ClusterError::File { path: self.log.clone(), problem })?;
        let Some(end) = self.piece.iter().rposition(|byte| *byte == b'\n') else {
            return Ok(Vec::new());
        };
        let rest = self.piece.split_off(end + 1);
        let whole = std::mem::replace(&mut self.piece, rest);
        // The place may be within a line, and a kill may have torn one: neither is a tick.
        let lines = whole.split(|byte| *byte == b'\n');
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
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

    fn read_on(&mut self) -> std::io::Result<()> {
        let mut file = match File::open(&self.log) {
            Ok(file) => file,
            Err(problem) if problem.kind() == ErrorKind::NotFound => return Ok(()),
            Err(problem) => return Err(problem),
        };
        file.seek(SeekFrom::Start(self.offset))?;
        self.offset += file.read_to_end(&mut self.piece)? as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use baton::clock::Moment;
    use baton_cli::cluster::TickKind;

    use super::*;

    fn line(epoch: u64) -> String {
        let (at, node) = (Moment::from_micros(epoch), "a".to_owned());
        let tick = Tick { at, epoch, node, pid: 1, kind: TickKind::Began, slot: 0 };
        format!("{}\n", serde_json::to_string(&tick).expect("plain data"))
    }

    #[test]
    fn only_what_is_new_and_whole_is_read() {
        let folder = tempfile::tempdir().expect("there is room");
        let log = folder.path().join("log");
        let mut from_nothing = LogReader::from_now(&log).expect("a log need not be there");
        std::fs::write(&log, line(1)).expect("there is room");
        let mut reader = LogReader::from_now(&log).expect("it is there");
        let mut file = File::options().append(true).open(&log).expect("it is there");
        let (second, third) = (line(2), line(3));
        write!(file, "{second}{}", &third[..9]).expect("there is room");
        let epochs = |reader: &mut LogReader| -> Vec<u64> {
            reader.new_ticks().expect("it reads").iter().map(|tick| tick.epoch).collect()
        };
        assert_eq!(epochs(&mut reader), [2]);
        write!(file, "{}", &third[9..]).expect("there is room");
        assert_eq!(epochs(&mut reader), [3]);
        assert_eq!(epochs(&mut from_nothing), [1, 2, 3]);
    }
}
