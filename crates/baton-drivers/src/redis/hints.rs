//! Hints: one connection of its own for all namespaces of a handle, subscribed again whenever it
//! breaks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ::redis::{Msg, PushInfo, PushKind, RedisResult};
use baton_core::protocol::Hint;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{HintStream, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::connect::{Dialer, Link, Pushes, within};
use super::error::NoLink;

/// Hints kept for a listener that is behind.
const KEPT: usize = 64;

/// What the server pushed and nobody took yet. Beyond that it is lost, which hints may be.
const PUSHED_MAX: usize = 1_024;

/// A connection on which nothing comes is asked this often whether it is still there.
const PING_EVERY: Duration = Duration::from_secs(5);

/// How long to wait before connecting again: at first, and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// Somebody wants to hear what is published on a channel.
struct Order {
    channel: String,
    sender: mpsc::Sender<Hint>,
    done: oneshot::Sender<Result<(), NoLink>>,
}

/// Takes orders. What carries them out ends with it.
pub(super) struct Listeners {
    dialer: Arc<Dialer>,
    orders: mpsc::Sender<Order>,
    _ear: JoinSet<()>,
}

impl Listeners {
    /// Connects only once somebody listens.
    pub(super) fn new(dialer: Arc<Dialer>) -> Self {
        let (orders, queue) = mpsc::channel(KEPT);
        let mut tasks = JoinSet::new();
        tasks.spawn(Ear::new(Arc::clone(&dialer)).run(queue));
        Self { dialer, orders, _ear: tasks }
    }

    /// Returns once the server has confirmed the subscription.
    pub(super) async fn listen(&self, channel: String) -> Result<HintStream, StoreError> {
        let (sender, hints) = mpsc::channel(KEPT);
        let (done, outcome) = oneshot::channel();
        let gone = || NoLink::Unreachable("the listening task has ended".to_owned());
        let order = Order { channel, sender, done };
        let sent = self.orders.send(order).await.map_err(|_| gone());
        let done = match sent {
            Ok(()) => outcome.await.unwrap_or_else(|_| Err(gone())),
            Err(problem) => Err(problem),
        };
        done.map_err(|problem| problem.in_use(self.dialer.config().place()))?;
        Ok(hints)
    }
}

/// The listening connection, and who is told of what comes.
struct Ear {
    dialer: Arc<Dialer>,
    link: Option<Link>,
    /// Counts connections: what comes from one that was left is not heard.
    number: u64,
    pushed: mpsc::Sender<(u64, PushInfo)>,
    pushes: mpsc::Receiver<(u64, PushInfo)>,
    channels: BTreeMap<String, Vec<mpsc::Sender<Hint>>>,
    pause: Duration,
}

impl Ear {
    fn new(dialer: Arc<Dialer>) -> Self {
        let (pushed, pushes) = mpsc::channel(PUSHED_MAX);
        let (link, channels) = (None, BTreeMap::new());
        Self { dialer, link, number: 0, pushed, pushes, channels, pause: PAUSE.0 }
    }

    async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        loop {
            let wait = if self.link.is_some() { PING_EVERY } else { self.pause };
            tokio::select! {
                biased;
                order = orders.recv() => match order {
                    Some(order) => self.take(order).await,
                    None => return,
                },
                Some((number, info)) = self.pushes.recv() => self.hear(number, info),
                () = SystemClock.sleep(wait), if !self.channels.is_empty() => self.mind().await,
            }
        }
    }

    async fn take(&mut self, order: Order) {
        if self.link.is_none() && !self.channels.is_empty() {
            self.mind().await;
        }
        let subscribed = self.subscribe(&order.channel).await;
        if subscribed.is_ok() {
            self.channels.entry(order.channel).or_default().push(order.sender);
        }
        // Whoever asked may have gone; the next look finds that nobody listens.
        let _ = order.done.send(subscribed);
    }

    async fn subscribe(&mut self, channel: &str) -> Result<(), NoLink> {
        if self.link.is_none() {
            self.link = Some(self.dial().await?);
        }
        let Some(link) = &self.link else { return Ok(()) };
        let mut connection = link.connection.clone();
        let problem = match within(self.timeout(), connection.subscribe(channel)).await {
            Some(Ok(())) => return Ok(()),
            Some(Err(problem)) => NoLink::of(&problem),
            None => NoLink::Unreachable("it does not answer SUBSCRIBE".to_owned()),
        };
        self.link = None;
        Err(problem)
    }

    fn timeout(&self) -> Duration {
        self.dialer.config().timeout
    }

    async fn dial(&mut self) -> Result<Link, NoLink> {
        self.number += 1;
        let (number, pushed) = (self.number, self.pushed.clone());
        let pushes = move |info| drop(pushed.try_send((number, info)));
        self.dialer.dial(Some(Pushes::new(pushes))).await
    }

    fn hear(&mut self, number: u64, info: PushInfo) {
        if number != self.number {
            return;
        }
        if info.kind == PushKind::Disconnection {
            self.link = None;
            return;
        }
        let Some(message) = Msg::from_push_info(info) else { return };
        let Ok(hint) = serde_json::from_slice::<Hint>(message.get_payload_bytes()) else { return };
        for listener in self.channels.get(message.get_channel_name()).into_iter().flatten() {
            // A full listener misses a hint, which hints may be.
            let _ = listener.try_send(hint.clone());
        }
    }

    /// Sees to it that the connection is there, and that nobody is kept who has gone.
    async fn mind(&mut self) {
        self.forget_the_gone().await;
        let Some(link) = self.link.as_ref().filter(|link| !link.is_closed()) else {
            return self.connect_again().await;
        };
        let mut connection = link.connection.clone();
        let ping = ::redis::cmd("PING");
        let answer = ping.query_async::<String>(&mut connection);
        if within(self.timeout(), answer).await.is_none_or(|answer| answer.is_err()) {
            self.connect_again().await;
        }
    }

    async fn forget_the_gone(&mut self) {
        let mut left = Vec::new();
        self.channels.retain(|channel, listeners| {
            listeners.retain(|listener| !listener.is_closed());
            if listeners.is_empty() {
                left.push(channel.clone());
            }
            !listeners.is_empty()
        });
        if self.channels.is_empty() {
            self.link = None;
        }
        let Some(link) = &self.link else { return };
        let mut connection = link.connection.clone();
        for channel in left {
            // If it fails, the ping that follows fails too.
            let _: Option<RedisResult<()>> =
                within(self.timeout(), connection.unsubscribe(channel)).await;
        }
    }

    /// Connects, subscribes to everything again, and has everybody look: something may have been
    /// missed.
    async fn connect_again(&mut self) {
        self.link = None;
        let channels: Vec<String> = self.channels.keys().cloned().collect();
        for channel in &channels {
            if self.subscribe(channel).await.is_err() {
                self.pause = (self.pause * 2).min(PAUSE.1);
                return;
            }
        }
        self.pause = PAUSE.0;
        for listener in self.channels.values().flatten() {
            let _ = listener.try_send(Hint::Look);
        }
    }
}
