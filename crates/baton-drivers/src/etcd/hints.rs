//! Hints, from etcd's watch: what happened to the lease, the holder key and the view.
//!
//! ```text
//!   watch ── events ──► hints ──► receiver, 64 of them at most
//!     │            └──► what the handle remembers of the lease
//!     │ broken, compacted, silent, or its member lost the cluster
//!     └── again, with growing pauses, and one Look: something may have been missed
//! ```

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{Namespace, Nonce};
use baton_core::protocol::Hint;
use baton_store::{HintStream, StoreError};
use reqwest::Response;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::connect::Link;
use super::error::Trouble;
use super::keys::Keys;
use super::memory::Memories;
use super::record::{LeaseRow, Record};
use super::wire::{KeyValue, Octets, end_of};

/// So many hints wait for a slow listener. It may lose the rest.
const HINTS_KEPT: usize = 64;

/// Renewals are heard too, so a watch that is silent for so long is dead, or no node leads.
const SILENCE: Duration = Duration::from_secs(60);

/// How long to wait before listening again, at first and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

#[derive(Serialize)]
struct Watch {
    create_request: Create,
}

#[derive(Serialize)]
struct Create {
    key: Octets,
    range_end: Octets,
}

#[derive(Deserialize)]
struct Line {
    result: Option<Events>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Events {
    created: bool,
    canceled: bool,
    events: Vec<Event>,
}

#[derive(Deserialize)]
struct Event {
    #[serde(default, rename = "type")]
    kind: String,
    kv: KeyValue,
}

impl Event {
    fn is_delete(&self) -> bool {
        self.kind == "DELETE"
    }
}

/// Listens. The future does the listening, and ends when nobody takes the hints any more.
pub(super) async fn listen(
    link: &Arc<Link>,
    memories: &Arc<Memories>,
    namespace: &Namespace,
) -> Result<(HintStream, impl Future<Output = ()> + use<>), StoreError> {
    let keys = Keys::new(&link.config.prefix, namespace);
    let ear = Ear::open(link, &keys).await.map_err(Trouble::of_read)?;
    let (sender, receiver) = mpsc::channel(HINTS_KEPT);
    let (link, memories) = (Arc::clone(link), Arc::clone(memories));
    let listener = Listener { link, memories, namespace: namespace.clone(), keys, sender };
    Ok((receiver, listener.relay(ear)))
}

struct Listener {
    link: Arc<Link>,
    memories: Arc<Memories>,
    namespace: Namespace,
    keys: Keys,
    sender: mpsc::Sender<Hint>,
}

impl Listener {
    async fn relay(self, mut ear: Ear) {
        let mut heard = Heard::default();
        loop {
            let events = tokio::select! {
                () = self.sender.closed() => return,
                events = ear.next() => events,
                () = self.link.clock.sleep(SILENCE) => None,
            };
            let hints = match events {
                Some(events) => {
                    self.overhear(&events);
                    heard.hints(&self.keys, &events)
                }
                None => {
                    let again = open_again(&self.link, &self.keys, &self.sender).await;
                    let Some(again) = again else { return };
                    ear = again;
                    vec![Hint::Look]
                }
            };
            for hint in hints {
                // A full listener misses a hint, which hints may be.
                let _ = self.sender.try_send(hint);
            }
        }
    }

    /// So that whoever acts on a hint need not look first.
    fn overhear(&self, events: &[Event]) {
        for event in events {
            self.memories.overhear(&self.namespace, &self.keys, &event.kv, event.is_delete());
        }
    }
}

/// Tries until it listens again; `None` if nobody wants to hear any more.
async fn open_again(link: &Link, keys: &Keys, sender: &mpsc::Sender<Hint>) -> Option<Ear> {
    let (mut pause, most) = PAUSE;
    loop {
        tokio::select! {
            () = sender.closed() => return None,
            () = link.clock.sleep(pause) => {}
        }
        if let Ok(ear) = Ear::open(link, keys).await {
            return Some(ear);
        }
        pause = (pause * 2).min(most);
    }
}

/// An open watch.
struct Ear {
    response: Response,
    buffer: Vec<u8>,
}

impl Ear {
    /// Returns once etcd has said that it watches.
    async fn open(link: &Link, keys: &Keys) -> Result<Self, Trouble> {
        let prefix = keys.lead();
        let range_end = end_of(&prefix);
        let query =
            Watch { create_request: Create { key: Octets(prefix.into_bytes()), range_end } };
        let response = link.stream("watch", &query).await?;
        let mut ear = Self { response, buffer: Vec::new() };
        let first = tokio::select! {
            first = ear.line() => first,
            () = link.clock.sleep(link.config.timeout) => None,
        };
        match first {
            Some(events) if events.created && !events.canceled => Ok(ear),
            _ => Err(Trouble::NoAnswer("the watch did not begin".to_owned())),
        }
    }

    /// The next events; `None` when the watch is over.
    async fn next(&mut self) -> Option<Vec<Event>> {
        let events = self.line().await?;
        (!events.canceled).then_some(events.events)
    }

    async fn line(&mut self) -> Option<Events> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return serde_json::from_slice::<Line>(&line).ok()?.result;
            }
            let more = self.response.chunk().await.ok()??;
            self.buffer.extend_from_slice(&more);
        }
    }
}

/// What was heard so far, as far as it tells news from repetition.
#[derive(Default)]
struct Heard {
    asked: Option<Nonce>,
}

impl Heard {
    fn hints(&mut self, keys: &Keys, events: &[Event]) -> Vec<Hint> {
        let (lease, holder, view) = (keys.lease(), keys.holder(), keys.view());
        let is = |event: &Event, key: &str| event.kv.key.0 == key.as_bytes();
        let mut hints = Vec::new();
        for event in events {
            if is(event, &lease) {
                hints.extend(self.of_lease(event));
            } else if is(event, &view) && !event.is_delete() {
                hints.push(Hint::ViewMoved);
            } else if is(event, &holder) && event.is_delete() {
                // A release deletes it too, and says more.
                let written = event.kv.mod_revision;
                let with_lease =
                    |other: &Event| is(other, &lease) && other.kv.mod_revision == written;
                hints.extend((!events.iter().any(with_lease)).then_some(Hint::Look));
            }
        }
        hints
    }

    /// A release, or a new request to the holder. A renewal is no news.
    fn of_lease(&mut self, event: &Event) -> Option<Hint> {
        let Ok(row) = LeaseRow::read(&event.kv.value.0) else { return Some(Hint::Look) };
        if row.holder.is_none() {
            let (version, successor) = (row.version(), row.successor);
            return Some(Hint::Released { version, successor });
        }
        let asked = row.asked.map(|ask| ask.nonce);
        let is_new = asked.is_some() && asked != self.asked;
        self.asked = asked;
        is_new.then_some(Hint::Asked)
    }
}
