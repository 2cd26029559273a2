//! The store of the pages: the rules of the memory store, and the pages as they are.

use baton_core::ids::{Epoch, Lineage};
use baton_core::schedule::Page;
use baton_store::memory::Space;
use baton_store::{DocumentWrite, ExpiryClock, Precondition, WriteOutcome};

/// The store. Epochs are granted by the script of the world, not by a lease.
pub struct PageStore {
    space: Space,
    /// The pages as they are, beside their documents.
    pages: Vec<Page>,
    /// The highest epoch that was granted.
    pub granted: Epoch,
    /// Does it not answer?
    pub is_away: bool,
}

impl Default for PageStore {
    fn default() -> Self {
        Self {
            space: Space::new(ExpiryClock::Store, Lineage(0)),
            pages: Vec::new(),
            granted: Epoch::NONE,
            is_away: false,
        }
    }
}

impl PageStore {
    /// Grants a term.
    pub fn grant(&mut self, epoch: Epoch) {
        self.granted = epoch;
        self.space.raise_fence(epoch);
    }

    /// Reads a page, with the version of its document.
    pub fn read(&self, page: usize) -> Option<(u64, Page)> {
        let document = self.space.read_document(&Page::document(page))?;
        let page = serde_json::from_slice(&document.body).expect("a page was written there");
        Some((document.version, page))
    }

    /// Writes a page over this version, 0 for none. What it says then, and said before, if so.
    pub fn write(
        &mut self,
        number: usize,
        version: u64,
        content: &Page,
        fence: Option<Epoch>,
    ) -> (WriteOutcome, Option<(Page, Page)>) {
        let precondition = match version {
            0 => Precondition::Absent,
            version => Precondition::Version(version),
        };
        let body = serde_json::to_vec(content).expect("plain data");
        let name = Page::document(number);
        let write = DocumentWrite { name, body, precondition };
        let outcome = self.space.write_documents(vec![write], fence).of_one();
        if !matches!(outcome, WriteOutcome::Written(_)) {
            return (outcome, None);
        }
        if self.pages.len() <= number {
            self.pages.resize_with(number + 1, Page::default);
        }
        let before = std::mem::replace(&mut self.pages[number], content.clone());
        (outcome, Some((before, content.clone())))
    }

    /// The pages as they are.
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }
}
