//! Hints by NOTIFY. A subscription outlives the connection: a new one listens again, and everybody
//! is told to look, for something may have been missed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton_core::ids::Namespace;
use baton_core::protocol::Hint;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{HintStream, StoreError};
use tokio::sync::{Notify, mpsc};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::error::{self, Fault};
use super::link::{Links, within};

/// Hints kept for a listener that is behind.
const HINTS_KEPT: usize = 64;

/// How long to wait between two attempts to listen again.
const BACKOFF_FIRST: Duration = Duration::from_millis(50);
const BACKOFF_LAST: Duration = Duration::from_secs(5);

struct Ear {
    namespace: Namespace,
    listeners: Vec<mpsc::Sender<Hint>>,
}

/// Who listens to what.
#[derive(Default)]
pub(super) struct Ears {
    by_channel: Mutex<BTreeMap<String, Ear>>,
    lost: Notify,
}

impl Ears {
    /// A notification came. What cannot be read is still a reason to look.
    pub(super) fn hear(&self, channel: &str, payload: &str) {
        let hint = serde_json::from_str(payload).unwrap_or(Hint::Look);
        let mut by_channel = self.by_channel.lock().expect("no holder panics");
        if let Some(ear) = by_channel.get_mut(channel) {
            ear.tell(&hint);
        }
    }

    /// The connection ended.
    pub(super) fn lost(&self) {
        self.lost.notify_one();
    }

    fn add(&self, channel: String, namespace: &Namespace) -> HintStream {
        let (sender, receiver) = mpsc::channel(HINTS_KEPT);
        let mut by_channel = self.by_channel.lock().expect("no holder panics");
        let ear = Ear { namespace: namespace.clone(), listeners: Vec::new() };
        by_channel.entry(channel).or_insert(ear).listeners.push(sender);
        receiver
    }

    /// What somebody still listens to.
    fn namespaces(&self) -> Vec<Namespace> {
        let mut by_channel = self.by_channel.lock().expect("no holder panics");
        by_channel.retain(|_, ear| ear.listeners.iter().any(|listener| !listener.is_closed()));
        by_channel.values().map(|ear| ear.namespace.clone()).collect()
    }

    /// Listens on a new connection to everything that the last one listened to.
    pub(super) async fn rejoin(&self, client: &Client, names: &str) -> Result<(), Error> {
        for namespace in self.namespaces() {
            listen(client, names, &namespace).await?;
        }
        for ear in self.by_channel.lock().expect("no holder panics").values_mut() {
            ear.tell(&Hint::Look);
        }
        Ok(())
    }
}

impl Ear {
    fn tell(&mut self, hint: &Hint) {
        self.listeners.retain(|listener| !listener.is_closed());
        for listener in &self.listeners {
            // A full listener misses a hint, which hints may be.
            let _ = listener.try_send(hint.clone());
        }
    }
}

/// Subscribes the session; the channel that hints of the namespace come on.
async fn listen(client: &Client, names: &str, namespace: &Namespace) -> Result<String, Error> {
    let sql = format!("SELECT {names}listen($1)");
    let row = client.query_typed_one(&sql, &[(&namespace.as_str(), Type::TEXT)]).await?;
    row.try_get(0)
}

/// Subscribes to the hints of a namespace.
pub(super) async fn subscribe(
    links: &Links,
    namespace: &Namespace,
) -> Result<HintStream, StoreError> {
    let span = links.config.timeout;
    loop {
        let link = links.link_within(span).await.map_err(|refusal| error::in_use(&refusal))?;
        let Some(heard) = within(span, listen(&link.client, &links.names, namespace)).await else {
            links.discard(&link).await;
            let detail = format!("no answer within {} ms", span.as_millis());
            return Err(StoreError::Unavailable { detail });
        };
        let channel = heard.map_err(|problem| Fault::Sql(problem).told())?;
        let stream = links.ears.add(channel, namespace);
        // A connection that came meanwhile does not know of this subscription.
        if links.is_present(&link).await {
            return Ok(stream);
        }
    }
}

/// Sees to it that whoever listens goes on listening when a connection is lost.
pub(super) async fn keep_listening(links: Arc<Links>) {
    loop {
        links.ears.lost.notified().await;
        let mut backoff = BACKOFF_FIRST;
        while !links.ears.namespaces().is_empty()
            && links.link_within(links.config.timeout).await.is_err()
        {
            SystemClock.sleep(backoff).await;
            backoff = (backoff * 2).min(BACKOFF_LAST);
        }
    }
}
