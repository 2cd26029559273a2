//! One call: where it happens, and how an object is changed in it.
//!
//! ```text
//!   what this handle last saw ──► rule ──► PUT if it is still so ──► 200 done
//!            ▲                      │ nothing to write                412, 409: lost, read and
//!            └── GET, 304 if same ◄─┴──────────────────────────────── decide anew
//! ```
//!
//! A write that lost wrote nothing, so deciding anew repeats nothing. A write without an answer
//! ends the call as unknown, and the object is read anew by the next one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use baton_core::ids::Namespace;
use baton_core::protocol::{Outcome, Reply, Request};
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use baton_store::memory::Stamp;
use baton_store::{Answer, Call, StoreError, namespace_page};
use tokio::time::Instant;

use super::bucket::{Bucket, Condition, Got, Put};
use super::cache::NamespaceCache;
use super::json_object::{self, Cached, JsonObject};
use super::layout::{self, Keys};
use super::state::State;
use crate::reader::Access;

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
pub(super) struct CallContext<'a> {
    pub(super) bucket: &'a Arc<Bucket>,
    pub(super) keys: Keys,
    pub(super) cache: Arc<NamespaceCache>,
    pub(super) marks: &'a Marks,
    pub(super) access: Access,
    /// How long any call of this handle may take.
    pub(super) timeout: Duration,
    pub(super) deadline: Instant,
}

/// An object between being read and being written.
pub(super) struct Attempt<J> {
    known: Option<Arc<Cached<J>>>,
    /// Was it read by this call? Otherwise it is what this handle remembered.
    pub(super) is_fresh: bool,
    /// How many writes of this call lost.
    lost: u32,
}

impl<J: JsonObject> Attempt<J> {
    pub(super) fn known(&self) -> Option<&Cached<J>> {
        self.known.as_deref()
    }

    /// A copy of the content, to be changed.
    pub(super) fn content(&self) -> J {
        self.known.as_ref().map_or_else(J::empty, |known| known.content.clone())
    }
}

impl CallContext<'_> {
    /// Carries the call out.
    pub(super) async fn perform(&self, call: Call) -> Result<Answer, StoreError> {
        match call {
            Call::Core(request) => self.perform_core(request).await.map(Answer::Core),
            Call::WriteDocument { name, body, precondition, fence } => {
                let written = self.write_document(&name, body, precondition, fence);
                written.await.map(Answer::Written)
            }
            Call::Inspect => {
                self.look(|it: &State| Answer::Inspected(it.space.inspect(stamp().now))).await
            }
            Call::ReadDocument { name } => self.read_document(&name).await.map(Answer::Document),
            Call::Namespaces { after, limit } => {
                let all = self.namespaces().await?;
                Ok(Answer::Namespaces(namespace_page(all, after.as_ref(), limit)))
            }
            Call::Counters(call) => self.count(call).await.map(Answer::Counters),
            Call::History { limit } => {
                self.look(|it: &State| Answer::History(it.space.history(limit))).await
            }
            Call::Prune { fence, prune } => self.prune(fence, prune).await.map(Answer::Pruned),
        }
    }

    async fn perform_core(&self, request: Request) -> Result<Reply, StoreError> {
        match request {
            Request::Beat(beat) => self.beat(beat).await.map(Reply::Beat),
            Request::ReadMembers => {
                self.admit(false).await?;
                self.members().await.map(Reply::Members)
            }
            Request::Leave { node, boot } => {
                self.admit(false).await?;
                self.leave(&node, boot).await.map(Reply::Done)
            }
            request => {
                self.admit(true).await?;
                let rule = |state: &mut State, at| {
                    let reply = state.space.perform(at, request.clone(), false);
                    let changed = reply == Reply::Done(Outcome::Applied);
                    (reply, changed)
                };
                self.change(rule).await
            }
        }
    }

    /// The object as the server has it now; `None` if there is none.
    pub(super) async fn read<J: JsonObject>(&self) -> Result<Option<Arc<Cached<J>>>, StoreError> {
        let known = self.cache.object::<J>().clone();
        let etag = known.as_ref().map(|known| known.etag.as_str());
        let found = match self.bucket.get(J::key(&self.keys), etag, self.deadline).await? {
            Got::Same => return Ok(known),
            Got::Absent => None,
            Got::Found { body, etag, .. } => {
                let content = json_object::read(&self.keys, &body)?;
                Some(Arc::new(Cached { etag, content }))
            }
        };
        self.cache.object().clone_from(&found);
        Ok(found)
    }

    /// Every namespace in which something was written.
    async fn namespaces(&self) -> Result<Vec<Namespace>, StoreError> {
        let found = self.bucket.list(&self.keys.prefix, self.deadline).await?;
        Ok(found.folders.iter().filter_map(layout::namespace).collect())
    }

    /// Shows something of the object as it is now.
    pub(super) async fn look<J: JsonObject, T>(
        &self,
        rule: impl FnOnce(&J) -> T,
    ) -> Result<T, StoreError> {
        self.admit(false).await?;
        Ok(match self.read().await? {
            Some(found) => rule(&found.content),
            None => rule(&J::empty()),
        })
    }

    /// Applies a rule, which says whether it changed anything.
    pub(super) async fn change<J: JsonObject, T>(
        &self,
        rule: impl Fn(&mut J, Stamp) -> (T, bool),
    ) -> Result<T, StoreError> {
        let mut attempt = self.first_attempt().await?;
        loop {
            let mut content = attempt.content();
            let (answer, changed) = rule(&mut content, stamp());
            if !changed && attempt.is_fresh {
                return Ok(answer);
            }
            if changed && self.write(attempt.known(), content).await? {
                return Ok(answer);
            }
            self.try_again(&mut attempt, changed).await?;
        }
    }

    /// The object as this handle remembers it, or else as the server has it.
    pub(super) async fn first_attempt<J: JsonObject>(&self) -> Result<Attempt<J>, StoreError> {
        let known = self.cache.object::<J>().clone();
        let is_fresh = known.is_none();
        let known = if is_fresh { self.read().await? } else { known };
        Ok(Attempt { known, is_fresh, lost: 0 })
    }

    /// The same as the server has it now, if there is time left.
    pub(super) async fn try_again<J: JsonObject>(
        &self,
        attempt: &mut Attempt<J>,
        has_lost: bool,
    ) -> Result<(), StoreError> {
        attempt.lost += u32::from(has_lost);
        if Instant::now() >= self.deadline {
            let (key, lost) = (J::key(&self.keys), attempt.lost);
            let detail = format!("others wrote {key} first, {lost} times");
            return Err(StoreError::Throttled { detail });
        }
        attempt.known = self.read().await?;
        attempt.is_fresh = true;
        Ok(())
    }

    /// Writes the object, if it is still the one that is known. Says whether it was.
    pub(super) async fn write<J: JsonObject>(
        &self,
        known: Option<&Cached<J>>,
        mut content: J,
    ) -> Result<bool, StoreError> {
        content.trim();
        let body = json_object::to_bytes(&self.keys, &content, self.marks.next())?;
        let condition = match known {
            Some(known) => Condition::Matches(&known.etag),
            None => Condition::Absent,
        };
        match self.bucket.put(J::key(&self.keys), body, None, condition, self.deadline).await {
            Ok(Put::Written(etag)) => {
                *self.cache.object() = Some(Arc::new(Cached { etag, content }));
                Ok(true)
            }
            Ok(Put::Lost) => Ok(false),
            Err(error) => {
                *self.cache.object::<J>() = None;
                Err(error.into())
            }
        }
    }
}

/// No lease is judged by this: it is what people read in the object and in the history.
pub(super) fn stamp() -> Stamp {
    let wall_ms = SystemClock.wall_ms();
    Stamp { now: Moment::from_micros(wall_ms.saturating_mul(1_000)), wall_ms }
}
