//! Hints: one connection of its own for all namespaces of a handle, subscribed again whenever it
//! breaks.

use std::sync::Arc;
use std::time::Duration;

use ::redis::{Msg, PushInfo, PushKind, RedisError, cmd};
use baton_core::ids::Namespace;
use baton_core::protocol::Hint;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{HintStream, StoreError};
use tokio::task::JoinSet;

use super::config::RedisConfig;
use super::connect::{Connection, RedisConnector, ask};
use crate::OpenError;
use crate::driver::{ConnectionSlot, Subscriptions};

/// How often a server is asked whether it still answers. Seldom, since every question is a round
/// trip; the kernel asks far more often whether the server's machine is there.
const PING_EVERY: Duration = Duration::from_secs(120);

pub(super) struct Hints {
    slot: Arc<ConnectionSlot<RedisConnector>>,
    subscriptions: Arc<Subscriptions>,
    _tasks: JoinSet<()>,
}

impl Hints {
    /// Connects with the first subscription.
    pub(super) fn new(config: RedisConfig) -> Result<Self, OpenError> {
        let subscriptions = Arc::<Subscriptions>::default();
        let slot = Arc::new(RedisConnector::slot(config, Some(Arc::clone(&subscriptions)))?);
        let mut tasks = JoinSet::new();
        let (kept, receivers) = (Arc::clone(&slot), Arc::clone(&subscriptions));
        tasks.spawn(async move { receivers.keep_connected(&kept).await });
        tasks.spawn(keep_asking(Arc::clone(&slot), Arc::clone(&subscriptions)));
        Ok(Self { slot, subscriptions, _tasks: tasks })
    }

    /// Returns once the server has confirmed the subscription.
    pub(super) async fn subscribe(
        &self,
        channel: String,
        namespace: &Namespace,
    ) -> Result<HintStream, StoreError> {
        self.slot.get().await?;
        let receiver = self.subscriptions.subscribe(channel.clone(), namespace);
        // The receiver is known before: a connection that is made meanwhile joins the channel too.
        let confirmed =
            self.slot.run(|connection| async move { Ok(connection.subscribe(&channel).await?) });
        confirmed.await.map(|()| receiver)
    }
}

/// Finds out that a server is silent which neither answers nor closes the connection.
async fn keep_asking(slot: Arc<ConnectionSlot<RedisConnector>>, subscriptions: Arc<Subscriptions>) {
    loop {
        SystemClock.sleep(PING_EVERY).await;
        if subscriptions.active().is_empty() {
            continue;
        }
        if ask::<String>(&slot, &cmd("PING")).await.is_err() {
            subscriptions.connection_lost();
        }
    }
}

/// Subscribes a new connection to every channel with a receiver, and sends `Look` to all of them.
pub(super) async fn join(
    connection: &Connection,
    subscriptions: &Subscriptions,
) -> Result<(), RedisError> {
    for (channel, _) in subscriptions.active() {
        connection.subscribe(&channel).await?;
    }
    subscriptions.send_look();
    Ok(())
}

/// Takes what the server pushed, without waiting.
pub(super) fn receive(subscriptions: &Subscriptions, info: PushInfo) {
    if info.kind == PushKind::Disconnection {
        return subscriptions.connection_lost();
    }
    let Some(message) = Msg::from_push_info(info) else { return };
    if let Ok(hint) = serde_json::from_slice::<Hint>(message.get_payload_bytes()) {
        subscriptions.send(message.get_channel_name(), &hint);
    }
}
