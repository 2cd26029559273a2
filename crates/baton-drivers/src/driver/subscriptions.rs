//! Receivers of hints. A subscription outlives the connection: the next connection joins the same
//! channels, and every receiver then gets a `Look`, since hints may have been missed.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use baton_core::ids::Namespace;
use baton_core::protocol::Hint;
use baton_store::HintStream;
use baton_store::clock::{Clock, SystemClock};
use tokio::sync::{Notify, mpsc};

use super::{ConnectionSlot, Connector};

/// How many hints wait for a slow receiver. It may miss the rest.
const HINTS_MAX: usize = 64;

/// How long to wait between two attempts to connect again: at first, and at most.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));

/// The receivers of one channel.
struct Subscription {
    namespace: Namespace,
    senders: Vec<mpsc::Sender<Hint>>,
}

/// The receivers of a handle, by the channel that the server names.
///
/// The connector of the connection that hints come on calls [`active`](Self::active) and
/// [`send_look`](Self::send_look) whenever it has connected, the task that reads the connection
/// calls [`send`](Self::send) and, at its end, [`connection_lost`](Self::connection_lost).
#[derive(Default)]
pub(crate) struct Subscriptions {
    by_channel: Mutex<BTreeMap<String, Subscription>>,
    lost: Notify,
}

impl Subscriptions {
    /// Another receiver of a channel, which the connection has joined already.
    pub(crate) fn subscribe(&self, channel: String, namespace: &Namespace) -> HintStream {
        let (sender, receiver) = mpsc::channel(HINTS_MAX);
        let new = || Subscription { namespace: namespace.clone(), senders: Vec::new() };
        self.lock().entry(channel).or_insert_with(new).senders.push(sender);
        receiver
    }

    /// A hint came on a channel.
    pub(crate) fn send(&self, channel: &str, hint: &Hint) {
        if let Some(subscription) = self.lock().get_mut(channel) {
            subscription.send(hint);
        }
    }

    /// Hints may have been missed: every receiver gets a `Look`.
    pub(crate) fn send_look(&self) {
        self.lock().values_mut().for_each(|subscription| subscription.send(&Hint::Look));
    }

    /// The channels that have a receiver, and their namespaces. The others are forgotten.
    pub(crate) fn active(&self) -> Vec<(String, Namespace)> {
        let mut by_channel = self.lock();
        by_channel.retain(|_, subscription| {
            subscription.senders.retain(|sender| !sender.is_closed());
            !subscription.senders.is_empty()
        });
        let active = by_channel.iter().map(|(channel, it)| (channel.clone(), it.namespace.clone()));
        active.collect()
    }

    /// The connection that hints came on has ended.
    pub(crate) fn connection_lost(&self) {
        self.lost.notify_one();
    }

    /// Connects again, with growing pauses, whenever the connection was lost and some channel has a
    /// receiver. Runs for as long as the handle lives.
    pub(crate) async fn keep_connected<K: Connector>(&self, slot: &ConnectionSlot<K>) {
        loop {
            self.lost.notified().await;
            let (mut pause, longest) = BACKOFF;
            while !self.active().is_empty() && slot.get().await.is_err() {
                SystemClock.sleep(pause).await;
                pause = (pause * 2).min(longest);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Subscription>> {
        self.by_channel.lock().expect("no holder of this lock panics")
    }
}

impl Subscription {
    fn send(&mut self, hint: &Hint) {
        self.senders.retain(|sender| !sender.is_closed());
        for sender in &self.senders {
            // A receiver whose queue is full misses a hint, which hints may be.
            let _ = sender.try_send(hint.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_reach_every_receiver_of_the_channel_and_none_is_kept_for_the_gone() {
        let subscriptions = Subscriptions::default();
        let web = Namespace::new("web").expect("it is a name");
        let mut first = subscriptions.subscribe("c".to_owned(), &web);
        let mut second = subscriptions.subscribe("c".to_owned(), &web);
        let other = subscriptions.subscribe("d".to_owned(), &web);
        subscriptions.send("c", &Hint::ViewMoved);
        assert_eq!(first.try_recv(), Ok(Hint::ViewMoved));
        assert_eq!(second.try_recv(), Ok(Hint::ViewMoved));
        drop((second, other));
        assert_eq!(subscriptions.active(), [("c".to_owned(), web)]);
        for _ in 0..HINTS_MAX {
            subscriptions.send("c", &Hint::Asked);
        }
        subscriptions.send_look();
        let received = std::iter::from_fn(|| first.try_recv().ok()).collect::<Vec<_>>();
        assert_eq!(received, vec![Hint::Asked; HINTS_MAX], "a full queue loses the rest");
    }
}
