//! Hints, from etcd's watch: what happened to the lease, the holder key and the view.
//!
//! ```text
//!   watch ── events ──► hints ──► receiver, 64 of them at most
//!     │            └──► what the handle remembers of the lease
//!     │ broken, compacted, silent, or its member lost the cluster
//!     └── again, with growing pauses, and one Look: something may have been missed
//! ```

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{Namespace, Nonce};
use baton_core::protocol::Hint;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{HintStream, StoreError};
use reqwest::Response;
use tokio::sync::mpsc;

use super::cache::Cache;
use super::connect::Connection;
use super::error::GatewayError;
use super::records::{LeaseRow, Record};
use super::schema::Keys;
use super::wire::{Event, Events, Range, WatchLine};
use crate::driver::within;

/// How many hints wait for a slow receiver. It may miss the rest.
const HINTS_MAX: usize = 64;

/// Renewals are events too, so a watch that is silent for this long is dead, or no node leads.
const SILENCE: Duration = Duration::from_secs(60);

/// How long to wait before watching again, at first and at most.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// Begins to watch. The future goes on with it, and ends when the receiver is dropped.
pub(super) async fn watch(
    connection: &Arc<Connection>,
    cache: &Arc<Cache>,
    namespace: &Namespace,
) -> Result<(HintStream, impl Future<Output = ()> + use<>), StoreError> {
    let keys = Keys::new(&connection.config.prefix, namespace);
    let stream = EventStream::open(connection, &keys).await.map_err(GatewayError::of_read)?;
    let (sender, receiver) = mpsc::channel(HINTS_MAX);
    let (connection, cache) = (Arc::clone(connection), Arc::clone(cache));
    let watcher =
        Watcher { connection, cache, namespace: namespace.clone(), keys, sender, asked: None };
    let watching = async move {
        let sender = watcher.sender.clone();
        tokio::select! {
            () = sender.closed() => {}
            () = watcher.run(stream) => {}
        }
    };
    Ok((receiver, watching))
}

struct Watcher {
    connection: Arc<Connection>,
    cache: Arc<Cache>,
    namespace: Namespace,
    keys: Keys,
    sender: mpsc::Sender<Hint>,
    /// The request to the holder that a hint was sent for.
    asked: Option<Nonce>,
}

impl Watcher {
    async fn run(mut self, mut stream: EventStream) {
        loop {
            let hints = match within(SILENCE, stream.next()).await.flatten() {
                Some(Events { events, .. }) => {
                    for event in &events {
                        // So that the call that follows a hint need not read first.
                        self.cache.receive(&self.namespace, &self.keys, event);
                    }
                    self.hints(&events)
                }
                None => {
                    stream = self.open_again().await;
                    vec![Hint::Look]
                }
            };
            for hint in hints {
                // A receiver whose queue is full misses a hint, which hints may be.
                let _ = self.sender.try_send(hint);
            }
        }
    }

    /// Tries until it watches again.
    async fn open_again(&self) -> EventStream {
        let (mut pause, most) = BACKOFF;
        loop {
            SystemClock.sleep(pause).await;
            if let Ok(stream) = EventStream::open(&self.connection, &self.keys).await {
                return stream;
            }
            pause = (pause * 2).min(most);
        }
    }

    fn hints(&mut self, events: &[Event]) -> Vec<Hint> {
        let mut hints = Vec::new();
        for event in events {
            if event.is_about(&self.keys.lease) {
                hints.extend(self.hint_of_lease(event));
            } else if event.is_about(&self.keys.view) && !event.is_delete() {
                hints.push(Hint::ViewMoved);
            } else if event.is_about(&self.keys.holder) && event.is_delete() {
                // A release deletes it too, and says more.
                let revision = event.kv.mod_revision;
                let with_lease = |other: &Event| {
                    other.is_about(&self.keys.lease) && other.kv.mod_revision == revision
                };
                hints.extend((!events.iter().any(with_lease)).then_some(Hint::Look));
            }
        }
        hints
    }

    /// A release, or a new request to the holder. A renewal is no news.
    fn hint_of_lease(&mut self, event: &Event) -> Option<Hint> {
        let Ok(LeaseRow { record, .. }) = LeaseRow::read(&event.kv.value) else {
            return Some(Hint::Look);
        };
        if record.holder.is_none() {
            let (version, successor) = (record.version(), record.successor);
            return Some(Hint::Released { version, successor });
        }
        let asked = record.asked.map(|ask| ask.nonce);
        let is_new = asked.is_some() && asked != self.asked;
        self.asked = asked;
        is_new.then_some(Hint::Asked)
    }
}

struct EventStream {
    response: Response,
    buffer: Vec<u8>,
}

impl EventStream {
    /// Returns once etcd has said that it watches.
    async fn open(connection: &Connection, keys: &Keys) -> Result<Self, GatewayError> {
        let watch = BTreeMap::from([("create_request", Range::under(&keys.lead))]);
        let response = connection.stream("watch", &watch).await?;
        let mut stream = Self { response, buffer: Vec::new() };
        match within(connection.config.timeout, stream.next()).await.flatten() {
            Some(events) if events.created => Ok(stream),
            _ => Err(GatewayError::NoAnswer("the watch did not begin".to_owned())),
        }
    }

    /// The next events; `None` when the watch is over.
    async fn next(&mut self) -> Option<Events> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                let events = serde_json::from_slice::<WatchLine>(&line).ok()?.result?;
                return (!events.canceled).then_some(events);
            }
            let more = self.response.chunk().await.ok()??;
            self.buffer.extend_from_slice(&more);
        }
    }
}
