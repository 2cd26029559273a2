//! What runs on the driver's thread.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_store::{Answer, Call, Capability, Class, Declaration, ExpiryClock, Finding, StoreError};
use tokio::time::Instant;

use super::bucket::Bucket;
use super::cache::NamespaceCache;
use super::config::Config;
use super::context::{CallContext, Marks};
use super::layout::Layout;
use crate::reader::Access;
use crate::service::Engine;

/// A handle on a bucket.
pub(super) struct S3Engine {
    pub(super) config: Config,
    pub(super) access: Access,
    pub(super) bucket: Arc<Bucket>,
    pub(super) layout: Layout,
    pub(super) marks: Marks,
    pub(super) caches: Mutex<BTreeMap<Namespace, Arc<NamespaceCache>>>,
}

impl S3Engine {
    fn context(&self, namespace: &Namespace) -> CallContext<'_> {
        let mut caches = self.caches.lock().expect("no holder of this lock panics");
        CallContext {
            bucket: &self.bucket,
            keys: self.layout.of(namespace),
            cache: Arc::clone(caches.entry(namespace.clone()).or_default()),
            marks: &self.marks,
            access: self.access,
            timeout: self.timeout(),
            deadline: self.deadline(),
        }
    }

    fn timeout(&self) -> Duration {
        self.config.timeout.min(Duration::from_secs(3_600))
    }

    /// When a call that begins now must have ended.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.timeout()
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
