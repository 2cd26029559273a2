//! Documents: the body of each version is an object of its own, and `state.json` says which.
//!
//! ```text
//!   write   PUT documents/…  side by side, each a key that no other write has
//!           PUT state.json   if it is still so: the commit. Lost ─► DELETE documents/…, again
//!   later   DELETE           the bodies before, once no reader can still be on its way to them
//!   read    GET state.json   304 if it is known
//!           GET documents/…  side by side, unless they are known. One is gone ─► another version
//!                            was written: again
//! ```
//!
//! Every attempt has objects of its own, written after the state that it is based on was read. So
//! a prune that has rewritten the state knows of every object which no document had before: none
//! ever will have it.

use std::collections::BTreeSet;
use std::mem;

use baton_core::ids::Epoch;
use baton_core::protocol::Failure;
use baton_store::{BatchOutcome, Document, DocumentWrite, StoreError};
use object_store::path::Path;
use tokio::time::Instant;

use super::bucket::{GetOutcome, for_each};
use super::context::CallContext;
use super::error::RequestError;
use super::schema::corrupt;
use super::state::State;

/// A body that is to be fetched: of which of the documents asked for, its version, and its key.
struct UnknownBody {
    at: usize,
    version: u64,
    key: String,
}

impl CallContext<'_> {
    /// What was found, in the order of the names, by one look at the state.
    pub(super) async fn read_documents(
        &self,
        names: &[String],
    ) -> Result<Vec<Option<Document>>, StoreError> {
        let mut gone = BTreeSet::new();
        loop {
            let look = |state: &State| {
                let named = |name: &String| (state.space.read_document(name), state.body_key(name));
                names.iter().map(named).collect::<Vec<_>>()
            };
            let (mut found, mut unknown) = (Vec::new(), Vec::new());
            for (at, (document, key)) in self.look(look).await?.into_iter().enumerate() {
                let (Some(Document { version, .. }), Some(key)) = (&document, key) else {
                    found.push(document);
                    continue;
                };
                let version = *version;
                let body = self.cache.body(&names[at], &key);
                if body.is_none() {
                    unknown.push(UnknownBody { at, version, key });
                }
                found.push(body.map(|body| Document { version, body }));
            }
            let lost = self.fetch_bodies(names, unknown, &mut found).await?;
            if lost.is_empty() {
                return Ok(found);
            }
            if let Some(UnknownBody { at, key, .. }) = lost.iter().find(|it| gone.contains(&it.key))
            {
                let detail = format!("document {:?} has lost its body", names[*at]);
                return Err(corrupt(self.keys.body(key)?.as_ref(), &detail));
            }
            gone = lost.into_iter().map(|body| body.key).collect();
        }
    }

    /// Fetches bodies side by side, and gives those that are gone.
    async fn fetch_bodies(
        &self,
        names: &[String],
        unknown: Vec<UnknownBody>,
        found: &mut [Option<Document>],
    ) -> Result<Vec<UnknownBody>, StoreError> {
        let with_path = |body: UnknownBody| Ok((self.keys.body(&body.key)?, body));
        let unknown = unknown.into_iter().map(with_path).collect::<Result<Vec<_>, StoreError>>()?;
        let get = |(path, unknown): (Path, UnknownBody)| {
            let bucket = self.bucket.clone();
            async move { Ok((bucket.get(&path, None).await?, unknown)) }
        };
        let mut lost = Vec::new();
        for_each(unknown, get, |(got, unknown)| match got {
            GetOutcome::Found { body, .. } => {
                let UnknownBody { at, version, key } = unknown;
                self.cache.keep_body(&names[at], key, body.clone());
                found[at] = Some(Document { version, body });
            }
            GetOutcome::Absent | GetOutcome::Same => lost.push(unknown),
        })
        .await?;
        Ok(lost)
    }

    /// Writes all of them, if every precondition holds and no later epoch is known.
    pub(super) async fn write_documents(
        &self,
        mut writes: Vec<DocumentWrite>,
        fence: Option<Epoch>,
    ) -> Result<BatchOutcome, StoreError> {
        let bodies: Vec<Vec<u8>> =
            writes.iter_mut().map(|write| mem::take(&mut write.body)).collect();
        let rule = |state: &mut State, _| {
            let before: Vec<_> = writes.iter().map(|write| state.body_key(&write.name)).collect();
            let (mut keyed, mut keys) = (writes.clone(), Vec::new());
            for write in &mut keyed {
                let key = self.keys.new_body(&write.name, &self.engine.next_mark());
                write.body = key.clone().into_bytes();
                keys.push(key);
            }
            let outcome = state.write_documents(keyed, fence);
            let is_written = matches!(outcome, BatchOutcome::Written(_));
            ((outcome, keys, before), is_written)
        };
        let commit = |(outcome, keys, before): (_, Vec<String>, _), etag, state| {
            let committed = self.commit_bodies(keys.clone(), &bodies, etag, state);
            async move { Ok(committed.await?.then_some((outcome, keys, before))) }
        };
        let (outcome, keys, before) = self.change_by(rule, commit).await?;
        if let BatchOutcome::Written(_) = outcome {
            // A call that has read the state before ends in this time.
            let from = Instant::now() + self.engine.bucket.timeout * 2;
            for before in before.into_iter().flatten() {
                self.cache.discard(self.keys.body(&before)?, from);
            }
            for ((write, key), body) in writes.iter().zip(keys).zip(bodies) {
                self.cache.keep_body(&write.name, key, body);
            }
        }
        Ok(outcome)
    }

    /// Writes the bodies and then the state that names them. Says whether that was still the state.
    async fn commit_bodies(
        &self,
        keys: Vec<String>,
        bodies: &[Vec<u8>],
        etag: Option<String>,
        state: State,
    ) -> Result<bool, StoreError> {
        let paths = keys.iter().map(|key| self.keys.body(key)).collect::<Result<Vec<_>, _>>()?;
        self.put_bodies(&paths, bodies).await?;
        let committed = self.write(etag, state).await;
        let is_unknown = |error: &StoreError| error.failure() == Failure::Unknown;
        if committed != Ok(true) && !committed.as_ref().is_err_and(is_unknown) {
            paths.into_iter().for_each(|path| self.cache.discard(path, Instant::now()));
        }
        committed
    }

    /// Writes bodies side by side. If one cannot be written, those that were are discarded.
    async fn put_bodies(&self, paths: &[Path], bodies: &[Vec<u8>]) -> Result<(), StoreError> {
        let put = |(path, body): (Path, Vec<u8>)| {
            let bucket = self.bucket.clone();
            async move { Ok((bucket.put(&path, body, None, None).await, path)) }
        };
        let (mut present, mut failed) = (Vec::new(), None);
        let all = paths.iter().cloned().zip(bodies.iter().cloned()).collect();
        for_each(all, put, |(put, path)| match put {
            Ok(Some(_)) => present.push(path),
            Ok(None) => {
                failed = Some(StoreError::Throttled { detail: format!("{path} is taken") });
                present.push(path);
            }
            // Whatever became of it: the documents are as they were.
            Err(error) => failed = Some(RequestError { writes: false, ..error }.into()),
        })
        .await?;
        let Some(failed) = failed else { return Ok(()) };
        present.into_iter().for_each(|path| self.cache.discard(path, Instant::now()));
        Err(failed)
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
