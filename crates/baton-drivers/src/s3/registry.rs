//! Node records: one object each, written by its own node alone.
//!
//! The count of beats stands beside the body. A body that says nothing new keeps its ETag, and a
//! listing, which shows when each was last written, tells the leader that its node has beaten:
//! the record need not be read. Only what was written in the very second of a listing is read,
//! since more may have been written in it.
//!
//! A node that leaves is marked as gone, because no S3 call removes an object only if it is still
//! the one that was read. The mark is swept once it is old.

use std::collections::BTreeMap;
use std::sync::Arc;

use baton_core::ids::{BootId, NodeId};
use baton_core::protocol::{BeatRequest, Member, NodeRecord, Outcome, Registration};
use baton_store::StoreError;
use baton_store::memory::registration;
use object_store::ObjectMeta;
use object_store::path::Path;
use serde::{Deserialize, Serialize};

use super::bucket::{GetOutcome, Listing, for_each};
use super::context::CallContext;
use super::schema::{self, FIRST_FORMAT, corrupt};
use crate::reader::Access;

/// A mark is swept when it is so much older than the newest record, both by the server's clock.
const SWEPT_AFTER_SECONDS: i64 = 3_600;

/// `worker=….json` as it is written.
#[derive(Debug, Serialize, Deserialize)]
struct StoredRecord {
    format: u32,
    /// Has the node left?
    left: bool,
    /// Without its count.
    node: NodeRecord,
}

/// A node record as this handle last saw it.
#[derive(Clone, Debug)]
pub(super) struct SeenRecord {
    etag: String,
    left: bool,
    node: NodeRecord,
    /// When it was written, in Unix seconds of the server's; `None` if it was written here.
    written: Option<i64>,
}

impl SeenRecord {
    fn read(record: &str, got: GetOutcome) -> Result<Option<Self>, StoreError> {
        let GetOutcome::Found { body, etag, beat, written } = got else { return Ok(None) };
        let StoredRecord { left, mut node, .. } = schema::read(record, &body)?;
        node.beat = beat.ok_or_else(|| corrupt(record, &"its metadata names no count of beats"))?;
        Ok(Some(Self { etag, left, node, written: Some(written) }))
    }

    /// The same as a listing at that time shows it, if the listing says all there is to know.
    fn listed(&self, meta: &ObjectMeta, at: Option<i64>) -> Option<Self> {
        let written = meta.last_modified.timestamp();
        let same = meta.e_tag.as_ref() == Some(&self.etag);
        let settled = at.is_some_and(|at| written < at);
        let mut seen = (same && settled).then(|| self.clone())?;
        let moved = seen.written.replace(written).is_some_and(|before| before != written);
        // How many beats there were is not known; that there was one is.
        seen.node.beat = seen.node.beat.saturating_add(u64::from(moved));
        Some(seen)
    }

    /// Was it not written since the listing?
    fn is_still(&self, listed: &ObjectMeta) -> bool {
        self.written.is_some_and(|written| written == listed.last_modified.timestamp())
    }

    /// The record, unless its node has left.
    fn present(&self) -> Option<&NodeRecord> {
        (!self.left).then_some(&self.node)
    }
}

impl CallContext<'_> {
    /// Writes a node's record, if it may be written. One that can wait costs nothing, as long as
    /// this handle knows of no other: a process that took the id over is met at the next beat.
    pub(super) async fn register(&self, beat: &BeatRequest) -> Result<Registration, StoreError> {
        let (node, replaces) = (&beat.node, beat.replaces);
        let mut seen = self.cache.records().get(&self.keys.worker(&node.id)).cloned();
        let present = seen.as_deref().and_then(SeenRecord::present);
        if beat.may_leave_record() && present.is_some_and(|known| known.boot == node.boot) {
            return Ok(Registration::Registered);
        }
        let mut is_fresh = false;
        loop {
            let present = seen.as_deref().and_then(SeenRecord::present);
            let wanted = registration(present, node, |boot| Some(boot) == replaces);
            let is_settled = match wanted {
                Registration::TakenBy { .. } => is_fresh,
                Registration::Registered => self.write_record(seen.as_deref(), node, false).await?,
            };
            if is_settled {
                return Ok(wanted);
            }
            (seen, is_fresh) = (self.read_record(&node.id).await?, true);
        }
    }

    /// Marks a node's record as left, if it is this boot's.
    pub(super) async fn leave(&self, node: &NodeId, boot: BootId) -> Result<Outcome, StoreError> {
        loop {
            let seen = self.read_record(node).await?;
            let present = seen.as_deref().and_then(SeenRecord::present);
            let Some(record) = present.filter(|record| record.boot == boot) else {
                return Ok(Outcome::Conflict);
            };
            if self.write_record(seen.as_deref(), record, true).await? {
                return Ok(Outcome::Applied);
            }
        }
    }

    /// Every node record, sorted. Only those are read that say something new, or may.
    pub(super) async fn members(&self) -> Result<Vec<Member>, StoreError> {
        let Listing { objects, at, .. } = self.bucket.list(&self.keys.workers).await?;
        let newest = objects.iter().map(|meta| meta.last_modified.timestamp()).max().unwrap_or(0);
        let known = self.cache.records().clone();
        let (mut found, mut unread) = (Vec::new(), Vec::new());
        for meta in objects {
            match known.get(&meta.location).and_then(|seen| seen.listed(&meta, at)) {
                Some(seen) => found.push((meta, Arc::new(seen))),
                None => unread.push(meta),
            }
        }
        found.extend(self.read_all(unread).await?);
        let records = found.iter().map(|(meta, seen)| (meta.location.clone(), Arc::clone(seen)));
        *self.cache.records() = records.collect();
        let old = |meta: &ObjectMeta| {
            let age = newest - meta.last_modified.timestamp();
            self.engine.access == Access::Write && age > SWEPT_AFTER_SECONDS
        };
        for (meta, _) in found.iter().filter(|(meta, seen)| seen.left && old(meta)) {
            // A mark that stays costs one line of the next listing.
            let _ = self.bucket.delete(&meta.location, None).await;
        }
        let present = found.iter().filter_map(|(_, seen)| seen.present().cloned());
        let sorted: BTreeMap<NodeId, NodeRecord> =
            present.map(|record| (record.id.clone(), record)).collect();
        Ok(sorted.into_values().map(|record| Member { record, silent_for: None }).collect())
    }

    /// Marks the records of nodes that were silent for this many seconds, at most `limit` of them.
    pub(super) async fn forget_silent(
        &self,
        seconds: i64,
        limit: usize,
    ) -> Result<usize, StoreError> {
        let listing = self.bucket.list(&self.keys.workers).await?;
        let mut gone = 0;
        for (meta, seen) in self.read_all(listing.older_than(seconds)).await? {
            if gone == limit {
                break;
            }
            let Some(node) = seen.present().filter(|_| seen.is_still(&meta)) else { continue };
            gone += usize::from(self.write_record(Some(&*seen), node, true).await?);
        }
        Ok(gone)
    }

    async fn read_all(
        &self,
        unread: Vec<ObjectMeta>,
    ) -> Result<Vec<(ObjectMeta, Arc<SeenRecord>)>, StoreError> {
        let mut found = Vec::new();
        // It may have been removed since it was listed.
        let read = |meta: ObjectMeta| {
            let bucket = self.bucket.clone();
            async move {
                let got = bucket.get(&meta.location, None).await?;
                let seen = SeenRecord::read(meta.location.as_ref(), got)?;
                Ok(seen.map(|seen| (meta, Arc::new(seen))))
            }
        };
        for_each(unread, read, |read| {
            // Remembered one by one: if there is no time for all, the next reading has fewer.
            if let Some((meta, seen)) = read {
                self.remember(&meta.location, Some(Arc::clone(&seen)));
                found.push((meta, seen));
            }
        })
        .await?;
        Ok(found)
    }

    async fn read_record(&self, node: &NodeId) -> Result<Option<Arc<SeenRecord>>, StoreError> {
        let key = self.keys.worker(node);
        let got = self.bucket.get(&key, None).await?;
        let seen = SeenRecord::read(key.as_ref(), got)?.map(Arc::new);
        self.remember(&key, seen.clone());
        Ok(seen)
    }

    /// Writes the record if it is still the one that is known. Says whether it was.
    async fn write_record(
        &self,
        known: Option<&SeenRecord>,
        node: &NodeRecord,
        left: bool,
    ) -> Result<bool, StoreError> {
        let written = StoredRecord {
            format: FIRST_FORMAT,
            left,
            node: NodeRecord { beat: 0, ..node.clone() },
        };
        let body = serde_json::to_vec(&written).expect("it is plain data");
        let etag = known.map(|seen| seen.etag.as_str());
        let key = self.keys.worker(&node.id);
        match self.bucket.put(&key, body, Some(node.beat), etag).await {
            Ok(Some(etag)) => {
                let seen = SeenRecord { etag, left, node: node.clone(), written: None };
                self.remember(&key, Some(Arc::new(seen)));
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(error) => {
                self.remember(&key, None);
                Err(error.into())
            }
        }
    }

    fn remember(&self, key: &Path, seen: Option<Arc<SeenRecord>>) {
        match seen {
            Some(seen) => self.cache.records().insert(key.clone(), seen),
            None => self.cache.records().remove(key),
        };
    }
}
