//! The driver on its thread, and where a call happens.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use ::redis::FromRedisValue;
use async_trait::async_trait;
use baton_core::ids::{Lineage, Namespace};
use baton_store::{
    Answer, Call, Capability, Class, Declaration, ExpiryClock, Finding, HintStream, StoreError,
};

use super::config::RedisConfig;
use super::connect::RedisConnector;
use super::hints::Hints;
use super::script::{Arguments, Script, Scripts};
use super::{NAME, error, examine};
use crate::OpenError;
use crate::driver::{ConnectionSlot, within};
use crate::reader::Access;
use crate::service::Engine;

pub(super) struct RedisEngine {
    pub(super) slot: ConnectionSlot<RedisConnector>,
    pub(super) scripts: Scripts,
    seen: Mutex<BTreeMap<Namespace, SeenPosition>>,
    hints: Hints,
}

/// How far a namespace's history went, as far as this handle saw.
#[derive(Clone, Copy, Default)]
struct SeenPosition {
    lineage: u64,
    /// The time of the latest beat by the server's clock, in microseconds.
    mark_us: u64,
}

impl RedisEngine {
    /// Connects, and makes sure that this user may run what the scripts run, if they are to write.
    pub(super) async fn open(config: RedisConfig, access: Access) -> Result<Self, OpenError> {
        let engine = Self {
            scripts: Scripts::new(),
            seen: Mutex::default(),
            hints: Hints::new(config.clone())?,
            slot: RedisConnector::slot(config, None)?,
        };
        let connection = engine.slot.get().await?;
        if access == Access::Write {
            let place = engine.config().place();
            let missing = examine::missing_rights(&engine, &connection);
            let Some(missing) = within(engine.slot.timeout(), missing).await else {
                let detail = "it does not answer EVAL".to_owned();
                return Err(OpenError::Unreachable { store: NAME, place, detail });
            };
            let missing = missing?.join(", ");
            if !missing.is_empty() {
                return Err(error::missing_rights(format!("run {missing}"), place));
            }
        }
        Ok(engine)
    }

    pub(super) fn config(&self) -> &RedisConfig {
        &self.slot.connector().config
    }

    fn seen(&self) -> MutexGuard<'_, BTreeMap<Namespace, SeenPosition>> {
        self.seen.lock().expect("no holder of this lock panics")
    }
}

pub(super) struct CallContext<'a> {
    pub(super) engine: &'a RedisEngine,
    pub(super) namespace: &'a Namespace,
}

impl CallContext<'_> {
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        script: &Script,
        arguments: Arguments,
    ) -> Result<T, StoreError> {
        let engine = self.engine;
        let seen = engine.seen().get(self.namespace).copied().unwrap_or_default();
        let common = Arguments::default()
            .maybe(engine.config().syncs.then_some(seen.mark_us))
            .text(seen.lineage)
            .text(self.namespace);
        let (keys, arguments) = (engine.config().keys(self.namespace), common.and(arguments));
        let run = engine.slot.run(|connection| async move {
            let answer = script.run(&connection, &keys, &arguments).await?;
            script.read(answer)
        });
        run.await
    }

    /// Notes how far the history went: the lineage that a call took place in, and when.
    pub(super) fn note(&self, lineage: Lineage, mark_us: u64) {
        let mut seen = self.engine.seen();
        let known = seen.entry(self.namespace.clone()).or_default();
        known.lineage = known.lineage.max(lineage.0);
        known.mark_us = known.mark_us.max(mark_us);
    }
}

#[async_trait]
impl Engine for RedisEngine {
    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            class: Class::AsyncReplicated,
            expiry: ExpiryClock::Store,
            capabilities: [
                Capability::Push,
                Capability::MemberAge,
                Capability::Lineage,
                Capability::Counters,
            ]
            .into(),
        }
    }

    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        CallContext { engine: self, namespace }.perform(call).await
    }

    async fn hints(&self, namespace: &Namespace) -> Result<HintStream, StoreError> {
        self.hints.subscribe(self.config().channel(namespace), namespace).await
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        examine::examine(self).await
    }
}
