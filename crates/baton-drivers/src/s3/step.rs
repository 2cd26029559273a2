//! One step: read a sheet, apply the rule, write it back on the condition that nobody else did.
//!
//! ```text
//!   what this handle last saw ──► rule ──► PUT if it is still so ──► 200 done
//!            ▲                      │ nothing to write                412, 409: lost, read and
//!            └── GET, 304 if same ◄─┴──────────────────────────────── decide anew
//! ```
//!
//! A write that lost wrote nothing, so deciding anew repeats nothing. A write without an answer
//! ends the step as unknown, and what this handle believed to know is forgotten.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use baton_core::ids::NodeId;
use baton_core::time::Moment;
use baton_store::StoreError;
use baton_store::clock::{Clock, SystemClock};
use baton_store::memory::{Space, Stamp};
use tokio::time::Instant;

use super::bucket::{Bucket, Condition, Got, Put};
use super::counters::{Tallies, Watched};
use super::layout::Keys;
use super::registry::Seen;
use super::sheet::{self, Kept, Sheet, Slot};
use crate::reader::Access;

/// What a handle remembers of one namespace. Only ever a guess: the server decides by the ETag.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    pub(super) admitted: AtomicBool,
    pub(super) state: Slot<Space>,
    pub(super) counters: Slot<Tallies>,
    pub(super) watched: Mutex<Watched>,
    records: Mutex<BTreeMap<NodeId, Arc<Seen>>>,
}

impl Shelf {
    fn sheet<S: Sheet>(&self) -> MutexGuard<'_, Option<Arc<Kept<S>>>> {
        S::slot(self).lock().expect("no holder of this lock panics")
    }

    /// The node records as this handle last saw them.
    pub(super) fn records(&self) -> MutexGuard<'_, BTreeMap<NodeId, Arc<Seen>>> {
        self.records.lock().expect("no holder of this lock panics")
    }
}

/// Makes a mark for every write that no other write of any process has.
#[derive(Debug)]
pub(super) struct Marks {
    handle: u128,
    made: AtomicU64,
}

impl Marks {
    /// Of this handle.
    pub(super) fn new(handle: u128) -> Self {
        Self { handle, made: AtomicU64::new(0) }
    }

    /// The next one.
    pub(super) fn next(&self) -> String {
        format!("{:032x}-{}", self.handle, self.made.fetch_add(1, Ordering::Relaxed))
    }
}

/// One call, and what it needs to be carried out.
pub(super) struct Step<'a> {
    pub(super) bucket: &'a Arc<Bucket>,
    pub(super) keys: Keys,
    pub(super) shelf: Arc<Shelf>,
    pub(super) marks: &'a Marks,
    pub(super) access: Access,
    pub(super) deadline: Instant,
}

impl Step<'_> {
    /// The object as the server has it now; `None` if there is none.
    pub(super) async fn read<S: Sheet>(&self) -> Result<Option<Arc<Kept<S>>>, StoreError> {
        let known = self.shelf.sheet::<S>().clone();
        let etag = known.as_ref().map(|kept| kept.etag.as_str());
        let kept = match self.bucket.get(S::key(&self.keys), etag, self.deadline).await? {
            Got::Same => return Ok(known),
            Got::Absent => None,
            Got::Found { body, etag, .. } => {
                let sheet = sheet::read(&self.keys, &body)?;
                Some(Arc::new(Kept { etag, sheet }))
            }
        };
        self.shelf.sheet().clone_from(&kept);
        Ok(kept)
    }

    /// Shows something of the object as it is now.
    pub(super) async fn look<S: Sheet, T>(
        &self,
        rule: impl FnOnce(&S) -> T,
    ) -> Result<T, StoreError> {
        self.admit(false).await?;
        Ok(match self.read().await? {
            Some(kept) => rule(&kept.sheet),
            None => rule(&S::empty()),
        })
    }

    /// Applies a rule, which says whether it changed anything.
    pub(super) async fn change<S: Sheet, T>(
        &self,
        rule: impl Fn(&mut S, Stamp) -> (T, bool),
    ) -> Result<T, StoreError> {
        let mut known = self.shelf.sheet::<S>().clone();
        let mut is_fresh = known.is_none();
        if is_fresh {
            known = self.read().await?;
        }
        let mut lost = 0_u32;
        loop {
            let mut sheet = known.as_ref().map_or_else(S::empty, |kept| kept.sheet.clone());
            let (answer, changed) = rule(&mut sheet, stamp());
            if !changed && is_fresh {
                return Ok(answer);
            }
            if changed {
                if self.write(known.as_deref(), sheet).await? {
                    return Ok(answer);
                }
                lost += 1;
            }
            if Instant::now() >= self.deadline {
                let key = S::key(&self.keys);
                let detail = format!("others wrote {key} first, {lost} times");
                return Err(StoreError::Throttled { detail });
            }
            known = self.read().await?;
            is_fresh = true;
        }
    }

    /// Writes the object, if it is still the one that is known. Says whether it was.
    async fn write<S: Sheet>(
        &self,
        known: Option<&Kept<S>>,
        mut sheet: S,
    ) -> Result<bool, StoreError> {
        sheet.trim();
        let body = sheet::write(&self.keys, &sheet, self.marks.next())?;
        let condition = match known {
            Some(kept) => Condition::Matches(&kept.etag),
            None => Condition::Absent,
        };
        match self.bucket.put(S::key(&self.keys), body, None, condition, self.deadline).await {
            Ok(Put::Written(etag)) => {
                *self.shelf.sheet() = Some(Arc::new(Kept { etag, sheet }));
                Ok(true)
            }
            Ok(Put::Lost) => Ok(false),
            Err(trouble) => {
                *self.shelf.sheet::<S>() = None;
                Err(trouble.into())
            }
        }
    }
}

/// Nobody judges a lease by this: it is what people read in the object and in the history.
pub(super) fn stamp() -> Stamp {
    let wall_ms = SystemClock.wall_ms();
    Stamp { now: Moment::from_micros(wall_ms.saturating_mul(1_000)), wall_ms }
}
