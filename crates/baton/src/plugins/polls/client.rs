//! Reading and changing the table of polls in the store, by compare-and-set.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Namespace};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Precondition, Store, StoreError, WriteOutcome};

use super::poll::{Poll, PollError};
use super::table::{Enqueued, PollEntry, PollRequestId};
use super::table::{FORMAT, PollTable};
use crate::node::Node;
use crate::shared::Shared;

/// The document.
pub const DOCUMENT: &str = "baton:polls";

/// No larger than this. Every change writes all of it.
const BYTES_MAX: usize = 256 * 1_024;

/// How often a change is tried when other nodes were faster.
const TRIES_MAX: u32 = 64;

static REQUESTS: AtomicU64 = AtomicU64::new(1);

/// The polls of a namespace: asks for one, takes one back, or looks.
#[derive(Clone, Debug)]
pub struct PollClient {
    store: Arc<dyn Store>,
    namespace: Namespace,
    boot: BootId,
}

impl Node {
    /// The polls of the namespace.
    pub fn polls(&self) -> PollClient {
        PollClient::new(&self.shared, self.shared.store.clone())
    }
}

impl PollClient {
    pub(super) fn new(node: &Shared, store: Arc<dyn Store>) -> Self {
        Self { store, namespace: node.namespace.clone(), boot: node.boot }
    }

    /// Asks for a poll, once. Within its uniqueness window, one of the same name counts for it.
    pub async fn request(&self, poll: &Poll) -> Result<Enqueued, PollError> {
        poll.check()?;
        let number = REQUESTS.fetch_add(1, Ordering::Relaxed);
        let ticket = PollRequestId { boot: self.boot, number };
        self.change(None, |table| table.enqueue(poll, ticket, SystemClock.wall_ms())).await
    }

    /// Takes a poll back that no node has begun.
    pub async fn cancel(&self, id: u64) -> Result<(), PollError> {
        self.change(None, |table| table.cancel(id, SystemClock.wall_ms())).await
    }

    /// Waits until a poll is done, looking this often.
    pub async fn wait_for(&self, id: u64, look_every: Duration) -> Result<PollEntry, PollError> {
        loop {
            let table = self.table().await?;
            let entry = table.poll(id).ok_or(PollError::Unknown { id })?;
            if entry.state.is_final() {
                return Ok(entry.clone());
            }
            SystemClock.sleep(look_every).await;
        }
    }

    /// All polls, as they stand.
    pub async fn table(&self) -> Result<PollTable, PollError> {
        Ok(self.read().await?.0)
    }

    /// The table, and the version of its document; 0 if there is none.
    async fn read(&self) -> Result<(PollTable, u64), PollError> {
        let Some(found) = self.store.read_document(&self.namespace, DOCUMENT).await? else {
            return Ok((PollTable::default(), 0));
        };
        let table: PollTable = serde_json::from_slice(&found.body)
            .map_err(|problem| PollError::Unreadable(problem.to_string()))?;
        if table.format != FORMAT {
            return Err(PollError::Unreadable(format!("it is of format {}", table.format)));
        }
        Ok((table, found.version))
    }

    /// Reads, changes and writes, again and again if other nodes were faster. A change that leaves
    /// the table as it was writes nothing. A write whose outcome is unknown is made again on what
    /// is there now: every change finds out whether it has been made.
    pub(super) async fn change<T>(
        &self,
        fence: Option<Epoch>,
        mut change: impl FnMut(&mut PollTable) -> Result<T, PollError>,
    ) -> Result<T, PollError> {
        for tried in 1..=TRIES_MAX {
            let (before, version) = self.read().await?;
            let mut table = before.clone();
            let made = change(&mut table)?;
            if table == before || self.write(&table, version, fence).await? {
                return Ok(made);
            }
            // The slower ones wait a little, each a little differently.
            let spread = u64::from(tried) * (1 + u64::from(self.boot.0.to_le_bytes()[0]) % 7);
            SystemClock.sleep(Duration::from_millis(spread)).await;
        }
        Err(PollError::Contended(TRIES_MAX))
    }

    /// False if another node was faster, or it is not known what became of the write.
    async fn write(
        &self,
        table: &PollTable,
        version: u64,
        fence: Option<Epoch>,
    ) -> Result<bool, PollError> {
        let body = serde_json::to_vec(table).expect("plain data has a JSON form");
        if body.len() > BYTES_MAX {
            let (what, count) = ("bytes of all polls would be", body.len());
            return Err(PollError::Full { what, count, limit: BYTES_MAX });
        }
        let precondition = match version {
            0 => Precondition::Absent,
            version => Precondition::Version(version),
        };
        let (store, namespace) = (&self.store, &self.namespace);
        match store.write_document(namespace, DOCUMENT, body, precondition, fence).await {
            Ok(WriteOutcome::Written(_)) => Ok(true),
            Ok(WriteOutcome::Conflict(_)) | Err(StoreError::Unknown { .. }) => Ok(false),
            Ok(WriteOutcome::Fenced) => Err(PollError::TermOver),
            Err(problem) => Err(problem.into()),
        }
    }
}
