//! Documents: the body of each version is an object of its own, and `state.json` says which.
//!
//! ```text
//!   write   PUT documents/…  a key that no other write has
//!           PUT state.json   if it is still so: the commit. Lost ─► DELETE documents/…, again
//!   later   DELETE           the body before, once no reader can still be on its way to it
//!   read    GET state.json   304 if it is known
//!           GET documents/…  unless it is known. Gone ─► another version was written: again
//! ```
//!
//! Every attempt has an object of its own, written after the state that it is based on was read. So
//! a prune that has rewritten the state knows of every object which no document had before: none
//! ever will have it.

use baton_core::ids::Epoch;
use baton_core::protocol::Failure;
use baton_store::{Document, Precondition, StoreError, WriteOutcome};
use object_store::path::Path;
use tokio::time::Instant;

use super::bucket::GetOutcome;
use super::context::CallContext;
use super::error::RequestError;
use super::schema::corrupt;
use super::state::State;

const BYTES_MAX: usize = 1024 * 1024;

impl CallContext<'_> {
    pub(super) async fn read_document(&self, name: &str) -> Result<Option<Document>, StoreError> {
        let mut gone = None;
        loop {
            let look = |state: &State| (state.space.read_document(name), state.body_key(name));
            let (found, key) = self.look(look).await?;
            let (Some(Document { version, .. }), Some(key)) = (&found, key) else {
                return Ok(found);
            };
            let version = *version;
            if let Some(body) = self.cache.body(name, &key) {
                return Ok(Some(Document { version, body }));
            }
            let path = self.keys.body(&key)?;
            if let GetOutcome::Found { body, .. } = self.bucket.get(&path, None).await? {
                self.cache.keep_body(name, key, body.clone());
                return Ok(Some(Document { version, body }));
            }
            if gone.as_ref() == Some(&key) {
                return Err(corrupt(
                    path.as_ref(),
                    &format!("document {name:?} has lost its body"),
                ));
            }
            gone = Some(key);
        }
    }

    pub(super) async fn write_document(
        &self,
        name: &str,
        body: Vec<u8>,
        precondition: Precondition,
        fence: Option<Epoch>,
    ) -> Result<WriteOutcome, StoreError> {
        let bytes = body.len();
        if bytes > BYTES_MAX {
            let detail = format!(
                "document {name:?} has {bytes} bytes, and at most {BYTES_MAX} are allowed; keep it \
                 elsewhere and its name here"
            );
            return Err(StoreError::Refused { detail });
        }
        self.admit(true).await?;
        let rule = |state: &mut State, _| {
            let before = state.body_key(name);
            let key = self.keys.new_body(name, &self.engine.next_mark());
            let outcome = state.write_document(name, &key, precondition, fence);
            ((outcome, key, before), matches!(outcome, WriteOutcome::Written(_)))
        };
        let commit = |(outcome, key, before): (_, String, _), etag, state| {
            let committed = self.commit_body(key.clone(), &body, etag, state);
            async move { Ok(committed.await?.then_some((outcome, key, before))) }
        };
        let (outcome, key, before) = self.change_by(rule, commit).await?;
        if let WriteOutcome::Written(_) = outcome {
            self.cache.keep_body(name, key, body);
            if let Some(before) = before {
                // A call that has read the state before ends in this time.
                let from = Instant::now() + self.engine.bucket.timeout * 2;
                self.cache.discard(self.keys.body(&before)?, from);
            }
        }
        Ok(outcome)
    }

    /// Writes the body and then the state that names it. Says whether that was still the state.
    async fn commit_body(
        &self,
        key: String,
        body: &[u8],
        etag: Option<String>,
        state: State,
    ) -> Result<bool, StoreError> {
        let path = self.keys.body(&key)?;
        let put = self.bucket.put(&path, body.to_vec(), None, None);
        // Whatever became of it: the document is as it was.
        let put = put.await.map_err(|error| RequestError { writes: false, ..error })?;
        let committed = match put {
            Some(_) => self.write(etag, state).await,
            None => Err(StoreError::Throttled { detail: format!("{path} is taken") }),
        };
        let is_unknown = |error: &StoreError| error.failure() == Failure::Unknown;
        if committed != Ok(true) && !committed.as_ref().is_err_and(is_unknown) {
            self.cache.discard(path, Instant::now());
        }
        committed
    }

    /// Removes the bodies that this handle replaced or wrote in vain, as far as they are due. One
    /// that stays is pruned.
    pub(super) async fn remove_discarded(&self) {
        for body in self.cache.take_discarded(Instant::now()) {
            let _ = self.bucket.delete(&body, None).await;
        }
    }

    /// Removes bodies that no document has and that are this many seconds old, at most `limit`:
    /// what processes left that ended between two writes. `None` if a later epoch is known.
    pub(super) async fn prune_bodies(
        &self,
        fence: Epoch,
        seconds: i64,
        limit: usize,
    ) -> Result<Option<usize>, StoreError> {
        let folder = format!("{}/", self.keys.documents);
        let listing = self.bucket.all(&folder).await?;
        let old: Vec<Path> =
            listing.older_than(seconds).into_iter().map(|meta| meta.location).collect();
        if old.is_empty() {
            return Ok(Some(0));
        }
        // Rewritten if there is one: a write that is still under way loses, and draws another key.
        let orphans = self.change(|state: &mut State, _| {
            if state.space.is_fenced_off(fence) {
                return (None, false);
            }
            let used = state.body_keys();
            let used: Vec<Path> = used.iter().filter_map(|key| self.keys.body(key).ok()).collect();
            let orphans = old.iter().filter(|body| !used.contains(body)).take(limit);
            let orphans: Vec<Path> = orphans.cloned().collect();
            let changes = !orphans.is_empty();
            if changes {
                state.space.raise_fence(fence);
            }
            (Some(orphans), changes)
        });
        let Some(orphans) = orphans.await? else { return Ok(None) };
        for body in &orphans {
            self.bucket.delete(body, None).await?;
        }
        Ok(Some(orphans.len()))
    }
}
