//! The engine: every call is one statement over the one connection.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{
    Answer, Call, Capability, Class, Declaration, ExpiryClock, Finding, HintStream, Operation,
    StoreError,
};
use tokio::task::JoinSet;
use tokio_postgres::Client;

use super::config::PostgresConfig;
use super::link::{Links, within};
use super::step::Step;
use super::{NAME, error, examine, hints, rights, schema, tls};
use crate::reader::Access;
use crate::refusal::Refusal;
use crate::service::Engine;

/// Making the schema may wait for others that make it too.
const SCHEMA_TIMEOUT: Duration = Duration::from_secs(20);

/// A handle on the server.
pub(super) struct Postgres {
    links: Arc<Links>,
    listening: OnceLock<Mutex<JoinSet<()>>>,
    /// Is the schema known to be there? Only a reader may find none.
    is_there: AtomicBool,
}

impl Postgres {
    /// Connects, and sees to it that the schema is there and may be used. A reader only looks.
    pub(super) async fn open(config: PostgresConfig, access: Access) -> Result<Self, Refusal> {
        let place = config.place();
        let tls = tls::connector(&config).map_err(|detail| Refusal::Tls {
            store: NAME,
            place: place.clone(),
            detail,
        })?;
        let links = Arc::new(Links::new(config, tls, access));
        let link = links.link_within(links.config.timeout).await?;
        let ready = async {
            if access == Access::Read {
                return schema::look(&link.client, &links.config).await;
            }
            schema::ensure(&link.client, &links.config).await?;
            rights::require(&link.client, &links.config).await?;
            links.ready(&link).await;
            Ok(true)
        };
        let is_there = within(SCHEMA_TIMEOUT, ready).await.unwrap_or_else(|| {
            let detail = format!("the schema took longer than {SCHEMA_TIMEOUT:?}");
            Err(Refusal::Unreachable { store: NAME, place, detail })
        })?;
        Ok(Self { links, listening: OnceLock::new(), is_there: AtomicBool::new(is_there) })
    }

    /// Is there anything to read? What was not there may have been made since.
    async fn is_there(&self, client: &Client) -> Result<bool, StoreError> {
        if !self.is_there.load(Ordering::Relaxed) {
            let found = schema::look(client, &self.links.config).await;
            let found = found.map_err(|refusal| error::in_use(&refusal))?;
            self.is_there.store(found, Ordering::Relaxed);
        }
        Ok(self.is_there.load(Ordering::Relaxed))
    }
}

#[async_trait]
impl Engine for Postgres {
    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            class: Class::SingleServer,
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
        let (began, span) = (SystemClock.now(), self.links.config.timeout);
        let link = self.links.link_within(span).await;
        let link = link.map_err(|refusal| error::in_use(&refusal))?;
        if let Some(nothing) = call.answer_when_empty()
            && !self.is_there(&link.client).await?
        {
            return Ok(nothing);
        }
        let step = Step { client: &link.client, links: &self.links, namespace };
        let left = span.saturating_sub(SystemClock.now().since(began));
        match within(left, step.perform(&call)).await {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(fault)) => {
                if fault.spoils_the_link() {
                    self.links.discard(&link).await;
                }
                Err(fault.told())
            }
            None => {
                self.links.discard(&link).await;
                let detail = format!("no answer within {} ms", span.as_millis());
                Err(StoreError::Unknown { detail })
            }
        }
    }

    async fn hints(&self, namespace: &Namespace) -> Result<HintStream, StoreError> {
        self.listening.get_or_init(|| {
            let mut tasks = JoinSet::new();
            tasks.spawn(hints::keep_listening(Arc::clone(&self.links)));
            Mutex::new(tasks)
        });
        hints::subscribe(&self.links, namespace).await
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        let span = self.links.config.timeout;
        let link = self.links.link_within(span).await;
        let link = link.map_err(|refusal| error::in_use(&refusal))?;
        match within(span, examine::examine(&link.client, &self.links.config)).await {
            Some(findings) => findings.map_err(error::Fault::told),
            None => {
                self.links.discard(&link).await;
                let detail = format!("no answer within {} ms", span.as_millis());
                Err(StoreError::Unavailable { detail })
            }
        }
    }
}
