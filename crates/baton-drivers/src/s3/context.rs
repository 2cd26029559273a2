//! The driver on its thread, and one call: where it happens, and how an object is changed in it.
//!
//! ```text
//!   what this handle last saw ──► rule ──► PUT if it is still so ──► 200 done
//!            ▲                      │ nothing to write                412, 409: lost, read and
//!            └── GET, 304 if same ◄─┴──────────────────────────────── decide anew
//! ```
//!
//! A write that lost wrote nothing, so deciding anew repeats nothing. A write without an answer
//! ends the call as unknown, and the object is read anew by the next one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use baton_store::memory::StepTime;
use baton_store::{Answer, Call, Capability, Class, Declaration, ExpiryClock, Finding, StoreError};
use object_store::path::Path;
use tokio::time::Instant;

use super::bucket::{Bucket, BucketCall, GetOutcome};
use super::config::S3Config;
use super::json_object::{self, Cached, JsonObject, NamespaceCache, Stored};
use super::schema::{self, Keys};
use super::{connect, random};
use crate::OpenError;
use crate::reader::Access;
use crate::service::Engine;

pub(super) struct S3Engine {
    pub(super) config: S3Config,
    pub(super) access: Access,
    pub(super) bucket: Bucket,
    /// What all keys begin with.
    pub(super) prefix: Path,
    /// A number that no other handle has, and how many marks were made with it.
    handle: u128,
    marks: AtomicU64,
    caches: Mutex<BTreeMap<Namespace, Arc<NamespaceCache>>>,
}

impl S3Engine {
    /// Makes sure that the server does what everything rests on. That test writes; a reader needs
    /// no conditions to be honoured.
    pub(super) async fn open(config: S3Config, access: Access) -> Result<Self, OpenError> {
        let prefix = Path::parse(&config.prefix).map_err(|problem| config.strange(&problem))?;
        let bucket = connect::bucket(&config)?;
        let handle = random().map_err(|problem| config.strange(&problem))?;
        let (marks, caches) = (AtomicU64::new(0), Mutex::default());
        let engine = Self { config, access, bucket, prefix, handle, marks, caches };
        if access == Access::Write {
            engine.self_test(handle).await?;
        }
        Ok(engine)
    }

    fn context(&self, namespace: &Namespace) -> CallContext<'_> {
        let mut caches = self.caches.lock().expect("no holder of this lock panics");
        CallContext {
            engine: self,
            keys: Keys::new(&self.prefix, namespace),
            cache: Arc::clone(caches.entry(namespace.clone()).or_default()),
            bucket: self.bucket.call(),
        }
    }

    /// A mark for a write that no other write of any process has.
    pub(super) fn next_mark(&self) -> String {
        format!("{:032x}-{}", self.handle, self.marks.fetch_add(1, Ordering::Relaxed))
    }
}

#[async_trait]
impl Engine for S3Engine {
    fn declaration(&self) -> Declaration {
        Declaration {
            name: "s3".to_owned(),
            class: Class::Linearizable,
            expiry: ExpiryClock::Observer,
            capabilities: [Capability::Counters].into(),
        }
    }

    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        self.context(namespace).perform(call).await
    }

    async fn afterwards(&self, namespace: &Namespace) {
        self.context(namespace).remove_discarded().await;
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        self.findings().await
    }
}

pub(super) struct CallContext<'a> {
    pub(super) engine: &'a S3Engine,
    pub(super) keys: Keys,
    pub(super) cache: Arc<NamespaceCache>,
    pub(super) bucket: BucketCall,
}

impl CallContext<'_> {
    /// The object as the server has it now; `None` if there is none.
    pub(super) async fn read<J: JsonObject>(&self) -> Result<Option<Arc<Cached<J>>>, StoreError> {
        let known = self.cache.object::<J>().clone();
        let etag = known.as_ref().map(|known| known.etag.as_str());
        let found = match self.bucket.get(J::key(&self.keys), etag).await? {
            GetOutcome::Same => return Ok(known),
            GetOutcome::Absent => None,
            GetOutcome::Found { body, etag, .. } => {
                let key = J::key(&self.keys).as_ref();
                let content = schema::read::<Stored<J>>(key, &body)?.space;
                Some(Arc::new(Cached { etag, content }))
            }
        };
        self.cache.object().clone_from(&found);
        Ok(found)
    }

    /// Shows something of the object as it is now.
    pub(super) async fn look<J: JsonObject, T>(
        &self,
        rule: impl FnOnce(&J) -> T,
    ) -> Result<T, StoreError> {
        Ok(match self.read().await? {
            Some(found) => rule(&found.content),
            None => rule(&J::default()),
        })
    }

    /// Applies a rule, which says whether it changed anything.
    pub(super) async fn change<J: JsonObject, T>(
        &self,
        rule: impl Fn(&mut J, StepTime) -> (T, bool),
    ) -> Result<T, StoreError> {
        let commit = |answer, etag, content| async move {
            Ok(self.write(etag, content).await?.then_some(answer))
        };
        self.change_by(rule, commit).await
    }

    /// The same where the write is a step of what `commit` does: it is given the answer, the ETag
    /// of the object as it was known and what the rule made of it, and gives the answer back if no
    /// other write came between. Begins with the object as this handle remembers it, or else as the
    /// server has it.
    pub(super) async fn change_by<J, T, F>(
        &self,
        rule: impl Fn(&mut J, StepTime) -> (T, bool),
        commit: impl Fn(T, Option<String>, J) -> F,
    ) -> Result<T, StoreError>
    where
        J: JsonObject,
        F: Future<Output = Result<Option<T>, StoreError>>,
    {
        let remembered = self.cache.object::<J>().clone();
        let (mut is_fresh, mut lost) = (remembered.is_none(), 0);
        let mut known = if is_fresh { self.read().await? } else { remembered };
        loop {
            let mut content = known.as_ref().map_or_else(J::default, |it| it.content.clone());
            match rule(&mut content, step_time()) {
                (answer, false) if is_fresh => return Ok(answer),
                (_, false) => {}
                (answer, true) => {
                    let etag = known.as_ref().map(|known| known.etag.clone());
                    match commit(answer, etag, content).await? {
                        Some(answer) => return Ok(answer),
                        None => lost += 1,
                    }
                }
            }
            if Instant::now() >= self.bucket.deadline {
                let key = J::key(&self.keys);
                let detail = format!("other processes wrote {key} first, {lost} times");
                return Err(StoreError::Throttled { detail });
            }
            (known, is_fresh) = (self.read().await?, true);
        }
    }

    /// Writes the object, if it is still the one with this ETag. Says whether it was.
    pub(super) async fn write<J: JsonObject>(
        &self,
        etag: Option<String>,
        mut content: J,
    ) -> Result<bool, StoreError> {
        content.trim();
        let body = json_object::to_bytes(&self.keys, &content, self.engine.next_mark())?;
        let etag = etag.as_deref();
        match self.bucket.put(J::key(&self.keys), body, None, etag).await {
            Ok(Some(etag)) => {
                *self.cache.object() = Some(Arc::new(Cached { etag, content }));
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(error) => {
                *self.cache.object::<J>() = None;
                Err(error.into())
            }
        }
    }
}

/// No lease is judged by this: it is what people read in the object and in the history.
pub(super) fn step_time() -> StepTime {
    let wall_ms = SystemClock.wall_ms();
    StepTime { now: Moment::from_micros(wall_ms.saturating_mul(1_000)), wall_ms }
}
