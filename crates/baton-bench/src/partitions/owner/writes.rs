//! Writes that a late owner cannot make: a document for each partition, changed by compare-and-set
//! and with the token in it. An owner that finds a higher token than its own has come too late.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use baton::partitions::{OwnedPartition, Partition, Token};
use baton::{Namespace, Store, StoreError};
use baton_cli::cluster::owners::{OwnerLog, Works};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Precondition, WriteOutcome};
use serde::{Deserialize, Serialize};

use super::notes::{AcknowledgedWrite, Note};

/// What a document says.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Written {
    token: Token,
    count: u64,
}

/// What is known of a document: its version, 0 if there is none, and what it says.
type Known = (u64, Written);

/// Writes for the partitions of this process, one after the other.
pub struct FencedWrites {
    pub store: Arc<dyn Store>,
    pub namespace: Namespace,
    pub works: Works,
    pub notes: Arc<OwnerLog>,
    pub every: Duration,
}

impl FencedWrites {
    /// Writes until it is dropped.
    pub async fn run(self) {
        let mut known: BTreeMap<Partition, (Token, Known)> = BTreeMap::new();
        let mut last: Option<Partition> = None;
        loop {
            SystemClock.sleep(self.every / 2).await;
            let Some(owned) = self.works.next_after(last.as_ref()) else { continue };
            let (partition, token) = (owned.partition().clone(), owned.token());
            last = Some(partition.clone());
            let of_token = known.remove(&partition).filter(|(of, _)| *of == token);
            let found = match of_token {
                Some((_, found)) => Ok(found),
                None => self.read(&partition).await,
            };
            // Half of the time is work between the look whether it may and the write.
            let may_act = owned.is_owned();
            SystemClock.sleep(self.every / 2).await;
            if let Ok(found) = found.as_ref()
                && may_act
                && let Some(found) = self.write(&owned, *found).await
            {
                known.insert(partition, (token, found));
            }
        }
    }

    async fn read(&self, partition: &Partition) -> Result<Known, StoreError> {
        let found = self.store.read_document(&self.namespace, &name(partition)).await?;
        Ok(found.map_or_else(Known::default, |found| {
            let written = serde_json::from_slice(&found.body);
            (found.version, written.expect("only owners write it"))
        }))
    }

    /// Writes over what was found there. Returns what is there now, if that is known.
    async fn write(&self, owned: &OwnedPartition, (version, found): Known) -> Option<Known> {
        let (partition, token) = (owned.partition().clone(), owned.token());
        if found.token > token {
            self.notes.note(&Note::Refused { partition, token });
            return None;
        }
        let new = Written { token, count: found.count + 1 };
        let body = serde_json::to_vec(&new).expect("plain data has a JSON form");
        let over = match version {
            0 => Precondition::Absent,
            version => Precondition::Version(version),
        };
        let name = name(&partition);
        match self.store.write_document(&self.namespace, &name, body, over, None).await {
            Ok(WriteOutcome::Written(version)) => {
                let write = AcknowledgedWrite { partition, token, count: new.count };
                self.notes.note(&Note::Wrote(write));
                Some((version, new))
            }
            Ok(WriteOutcome::Conflict(_) | WriteOutcome::Fenced) => {
                // A write of its own without an answer looks the same: what stands there says.
                let now = self.read(&partition).await.ok()?;
                if now.1.token > token {
                    self.notes.note(&Note::Refused { partition, token });
                }
                None
            }
            Err(_) => None,
        }
    }
}

fn name(partition: &Partition) -> String {
    format!("work-{}-{}", partition.list.name(), partition.number)
}
