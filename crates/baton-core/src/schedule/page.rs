//! Pages: the documents that keep the schedules of a namespace, some dozens in each.
//!
//! A page is changed as a whole, by compare-and-set on the version of its document: whatever was
//! computed before another change of the page loses against it. The leader writes under its epoch;
//! an edit that people make carries none.

use serde::{Deserialize, Serialize};

use super::entry::{Claimant, Entry};
use crate::ids::BootId;

/// The format of the pages that this version writes.
const FORMAT: u32 = 1;

/// The most schedules of one page: it is written as a whole.
pub const ENTRIES_MAX: usize = 50;

/// The most pages of a namespace.
pub const PAGES_MAX: usize = 64;

/// The largest page, in bytes.
const BYTES_MAX: usize = 1_000_000;

/// One of the documents that keep schedules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    format: u32,
    /// The write that made it what it is: how a writer without an answer finds out whether its
    /// write was made.
    pub writer: WriterId,
    /// The schedules of this page, in no particular order.
    pub entries: Vec<Entry>,
}

/// Names one write of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriterId {
    /// The process.
    pub boot: BootId,
    /// The scheduler; epoch 0 for a person's edit.
    pub claimant: Claimant,
    /// Which of the scheduler's writes, or of the process's edits.
    pub number: u64,
}

impl Default for WriterId {
    fn default() -> Self {
        Self { boot: BootId(0), claimant: Claimant::default(), number: 0 }
    }
}

/// Why a page is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// A later version of the program wrote it.
    #[error("document {document} is of format {found}, and this version knows format {FORMAT}")]
    Format {
        /// The document.
        document: String,
        /// Its format.
        found: u32,
    },
    /// Remove some schedules, or shorten what they keep.
    #[error("document {document} would have {bytes} bytes; at most {BYTES_MAX} are allowed")]
    TooLarge {
        /// The document.
        document: String,
        /// Its size.
        bytes: usize,
    },
}

impl Default for Page {
    fn default() -> Self {
        Self { format: FORMAT, writer: WriterId::default(), entries: Vec::new() }
    }
}

impl Page {
    /// The document that keeps the page of this number, from 0.
    pub fn document(number: usize) -> String {
        format!("baton:schedules:{number}")
    }

    /// Refuses a page that this version does not understand.
    pub fn check_format(&self, number: usize) -> Result<(), PageError> {
        if self.format == FORMAT {
            return Ok(());
        }
        Err(PageError::Format { document: Self::document(number), found: self.format })
    }

    /// Refuses a page that is too large to be written.
    pub fn check_size(number: usize, bytes: usize) -> Result<(), PageError> {
        if bytes <= BYTES_MAX {
            return Ok(());
        }
        Err(PageError::TooLarge { document: Self::document(number), bytes })
    }

    /// The schedule of this name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name() == name)
    }

    /// The schedule of this name, to be changed.
    pub fn entry_mut(&mut self, name: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.name() == name)
    }
}
