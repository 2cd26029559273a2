//! What differs from store to store.

use async_trait::async_trait;
use baton_core::ids::Namespace;

/// A server under test, and what can be done to it. As in
/// [`Subject`](baton_store::conformance::Subject), `Ok(false)` and `None` say that something
/// cannot be arranged.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// What a fresh handle opens.
    fn url(&self) -> String;

    /// The same, for a session in the time zone +02:00.
    fn url_in_another_zone(&self) -> Option<String>;

    /// Stops the store and starts it again with its data.
    async fn restart(&self) -> Result<bool, String>;

    /// Keeps a copy of the namespace's data, in place of the last one.
    async fn keep_copy(&self, namespace: &Namespace) -> Result<bool, String>;

    /// Puts the copy back.
    async fn restore_copy(&self, namespace: &Namespace) -> Result<(), String>;

    /// Overwrites the namespace's lease with something that is not a lease.
    async fn corrupt(&self, namespace: &Namespace) -> Result<bool, String>;
}
