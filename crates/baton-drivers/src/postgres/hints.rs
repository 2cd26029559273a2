//! Hints by NOTIFY, on the connection that calls use.

use baton_core::ids::Namespace;
use baton_core::protocol::Hint;
use baton_store::{HintStream, StoreError};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::connect::PostgresConnector;
use crate::driver::{ConnectionSlot, Subscriptions};

/// A notification came. What cannot be read is still a reason to look.
pub(super) fn forward(subscriptions: &Subscriptions, channel: &str, payload: &str) {
    subscriptions.send(channel, &serde_json::from_str(payload).unwrap_or(Hint::Look));
}

/// Has the session listen; the channel that hints of the namespace come on.
pub(super) async fn listen(
    client: &Client,
    names: &str,
    namespace: &Namespace,
) -> Result<String, Error> {
    let sql = format!("SELECT {names}listen($1)");
    let row = client.query_typed_one(&sql, &[(&namespace.as_str(), Type::TEXT)]).await?;
    row.try_get(0)
}

/// Subscribes to the hints of a namespace.
pub(super) async fn subscribe(
    slot: &ConnectionSlot<PostgresConnector>,
    namespace: &Namespace,
) -> Result<HintStream, StoreError> {
    let names = slot.connector().config.names();
    loop {
        let listening = |connection: std::sync::Arc<super::connect::Connection>| {
            let names = &names;
            async move {
                let channel = listen(&connection.client, names, namespace).await?;
                Ok((channel, connection))
            }
        };
        let (channel, connection) = slot.run(listening).await?;
        let stream = slot.connector().subscriptions.subscribe(channel, namespace);
        // A connection that was made meanwhile does not know of this subscription.
        if slot.is_present(&connection) {
            return Ok(stream);
        }
    }
}
