//! Reading and writing the record of a key in the store, by compare-and-set.

use std::sync::Arc;
use std::time::Duration;

use baton_core::schedule::once::{
    DOCUMENT, EndingStep, FORMAT, FoundRecord, OnceEnding, OnceRecord, OnceWrite, OnceWritten,
};
use baton_core::schedule::once_key::OnceKey;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Precondition, Store, StoreError, WriteOutcome};

use super::error::OnceError;
use crate::leadership::Leadership;

/// Time between two requests to a store that did not answer the first.
const AGAIN_AFTER: Duration = Duration::from_millis(200);

/// The record of one key, in its store.
#[derive(Clone, Debug)]
pub struct OnceRecords {
    store: Arc<dyn Store>,
    key: OnceKey,
}

impl OnceRecords {
    /// The record of this key.
    pub fn new(store: Arc<dyn Store>, key: OnceKey) -> Self {
        Self { store, key }
    }

    /// The key.
    pub fn key(&self) -> &OnceKey {
        &self.key
    }

    /// Reads the record.
    pub async fn read(&self) -> Result<FoundRecord, OnceError> {
        let namespace = self.key.namespace();
        let Some(found) = self.store.read_document(namespace, DOCUMENT).await? else {
            return Ok(FoundRecord { record: None, version: 0 });
        };
        let unreadable =
            |problem: String| OnceError::Unreadable { namespace: namespace.to_string(), problem };
        let record: OnceRecord = serde_json::from_slice(&found.body)
            .map_err(|problem| unreadable(problem.to_string()))?;
        if record.format != FORMAT {
            return Err(unreadable(format!("it is of format {}", record.format)));
        }
        Ok(FoundRecord { record: Some(record), version: found.version })
    }

    /// Reads the record, again and again while the store does not answer. `on_problem` is called
    /// each time that it does not.
    pub async fn read_patiently(
        &self,
        mut on_problem: impl FnMut(&OnceError),
    ) -> Result<FoundRecord, OnceError> {
        loop {
            match self.read().await {
                Err(problem) if problem.is_transient() => on_problem(&problem),
                answered => return answered,
            }
            SystemClock.sleep(AGAIN_AFTER).await;
        }
    }

    /// Writes a record in place of the one that was read, under the epoch of a term.
    pub(super) async fn write(
        &self,
        term: &Leadership,
        write: &OnceWrite,
    ) -> Result<OnceWritten, OnceError> {
        let body = serde_json::to_vec(&write.record).expect("plain data has a JSON form");
        let precondition = match write.over {
            0 => Precondition::Absent,
            version => Precondition::Version(version),
        };
        match term.write_document(DOCUMENT, body, precondition).await {
            Ok(WriteOutcome::Written(version)) => Ok(OnceWritten::Yes(version)),
            Ok(WriteOutcome::Fenced) => Ok(OnceWritten::Fenced),
            Ok(WriteOutcome::Conflict(_)) | Err(StoreError::Unknown { .. }) => {
                Ok(OnceWritten::Unsure)
            }
            Err(problem) => Err(problem.into()),
        }
    }

    /// Records the end of an attempt, again and again while the store does not answer and the term
    /// has time left. False if that did not succeed: then the attempt counts as cut off.
    pub(super) async fn write_end(
        &self,
        term: &Leadership,
        ending: &OnceEnding,
    ) -> Result<bool, OnceError> {
        let mut step = ending.begin();
        loop {
            let answered = match &step {
                EndingStep::Write(write) => {
                    self.write(term, write).await.map(|written| ending.handle_written(written))
                }
                EndingStep::Read => self.read().await.map(|found| ending.handle_read(&found)),
                EndingStep::Recorded => return Ok(true),
                EndingStep::NotRecorded => return Ok(false),
            };
            match answered {
                Ok(next) => {
                    step = next;
                    if !matches!(step, EndingStep::Write(_)) {
                        continue;
                    }
                }
                Err(problem) if problem.is_transient() => {}
                Err(problem) => return Err(problem),
            }
            if SystemClock.now() >= term.deadline() {
                return Ok(false);
            }
            SystemClock.sleep(AGAIN_AFTER).await;
        }
    }
}
