//! Reads on in a log while it grows, so that a look costs no more than what is new.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::ClusterError;

/// A place in a log, and the piece of a line that stands there.
#[derive(Debug)]
pub struct LogTail {
    log: PathBuf,
    offset: u64,
    piece: Vec<u8>,
}

impl LogTail {
    /// Reads from the beginning. The log need not be there yet.
    pub fn new(log: &Path) -> Self {
        Self { log: log.to_owned(), offset: 0, piece: Vec::new() }
    }

    /// Reads what is written from now on.
    pub fn from_now(log: &Path) -> Result<Self, ClusterError> {
        let mut tail = Self::new(log);
        match std::fs::metadata(log) {
            Ok(file) => tail.offset = file.len(),
            Err(problem) if problem.kind() == ErrorKind::NotFound => {}
            Err(problem) => return Err(tail.trouble(problem)),
        }
        Ok(tail)
    }

    /// The log.
    pub fn path(&self) -> &Path {
        &self.log
    }

    /// The whole lines that were written since the last call, each with its end cut off. A kill may
    /// have torn the last line of a log: it is none.
    pub fn new_lines(&mut self) -> Result<Vec<Vec<u8>>, ClusterError> {
        self.read_on().map_err(|problem| self.trouble(problem))?;
        let Some(end) = self.piece.iter().rposition(|byte| *byte == b'\n') else {
            return Ok(Vec::new());
        };
        let rest = self.piece.split_off(end + 1);
        let whole = std::mem::replace(&mut self.piece, rest);
        let lines = whole.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        Ok(lines.map(<[u8]>::to_vec).collect())
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

    fn trouble(&self, problem: std::io::Error) -> ClusterError {
        ClusterError::File { path: self.log.clone(), problem }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn only_what_is_new_and_whole_is_read() {
        let folder = tempfile::tempdir().expect("there is room");
        let log = folder.path().join("log");
        let mut from_nothing = LogTail::from_now(&log).expect("a log need not be there");
        std::fs::write(&log, "one\n").expect("there is room");
        let mut from_now = LogTail::from_now(&log).expect("it is there");
        let mut file = File::options().append(true).open(&log).expect("it is there");
        write!(file, "two\nthr").expect("there is room");
        let lines = |tail: &mut LogTail| -> Vec<String> {
            let lines = tail.new_lines().expect("it reads");
            lines.into_iter().map(|line| String::from_utf8(line).expect("it is text")).collect()
        };
        assert_eq!(lines(&mut from_now), ["two"]);
        writeln!(file, "ee").expect("there is room");
        assert_eq!(lines(&mut from_now), ["three"]);
        assert_eq!(lines(&mut from_now), Vec::<String>::new());
        assert_eq!(lines(&mut from_nothing), ["one", "two", "three"]);
    }
}
