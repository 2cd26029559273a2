//! The one connection of a handle: made when it is needed, discarded when it is broken or late.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;
use std::time::Duration;

use baton_store::StoreError;
use baton_store::clock::{Clock, SystemClock};

use super::DriverError;
use crate::OpenError;

/// Waits for the work, but not longer than this; `None` if the time was up first.
pub(crate) async fn within<F: Future>(span: Duration, work: F) -> Option<F::Output> {
    let (mut work, mut over) = (pin!(work), pin!(SystemClock.sleep(span)));
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => over.as_mut().poll(context).map(|()| None),
    })
    .await
}

/// How a driver connects.
pub(crate) trait Connector: Send + Sync + 'static {
    /// A connection that several calls can use at once. Dropping it closes it.
    type Connection: Send + Sync + 'static;

    /// The store's name in messages.
    const STORE: &'static str;

    /// Where the servers are, for messages.
    fn place(&self) -> String;

    /// Makes a connection that is ready for calls: each host is tried, the user is let in, the
    /// server was looked at. Ends by itself or is dropped when the slot's time is up.
    fn connect(&self) -> impl Future<Output = Result<Self::Connection, OpenError>> + Send;

    /// Is this connection known to be closed?
    fn is_closed(connection: &Self::Connection) -> bool;
}

/// Holds at most one connection, and makes another when a call needs one and there is none.
///
/// One call connects at a time; the others wait for what it gets. Connecting and the call itself
/// share one deadline.
///
/// ```text
///   let slot = ConnectionSlot::new(connector, config.timeout);
///   slot.run(|connection| async move { … Ok(answer) }).await    a call: StoreError if it fails
///   slot.get().await                                            at opening: OpenError
/// ```
pub(crate) struct ConnectionSlot<K: Connector> {
    connector: K,
    timeout: Duration,
    present: Mutex<Option<Arc<K::Connection>>>,
    connecting: tokio::sync::Mutex<()>,
}

impl<K: Connector> ConnectionSlot<K> {
    /// An empty slot. Every call, connecting included, may take this long.
    pub(crate) fn new(connector: K, timeout: Duration) -> Self {
        Self { connector, timeout, present: Mutex::default(), connecting: Default::default() }
    }

    /// What connects.
    pub(crate) fn connector(&self) -> &K {
        &self.connector
    }

    /// How long a call may take.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The connection, made anew if there is none that is open, within the deadline of a call.
    pub(crate) async fn get(&self) -> Result<Arc<K::Connection>, OpenError> {
        if let Some(connection) = self.open_connection() {
            return Ok(connection);
        }
        within(self.timeout, self.connect()).await.unwrap_or_else(|| {
            let detail = format!("no answer within {} ms", self.timeout.as_millis());
            Err(OpenError::Unreachable { store: K::STORE, place: self.connector.place(), detail })
        })
    }

    /// Carries out a call on the connection. Nothing was written if there is no connection; it is
    /// unknown if no answer comes in time. A connection that the call broke is discarded.
    pub(crate) async fn run<T, F>(
        &self,
        call: impl FnOnce(Arc<K::Connection>) -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, DriverError>>,
    {
        let began = SystemClock.now();
        let connection = self.get().await?;
        let left = self.timeout.saturating_sub(SystemClock.now().since(began));
        let done = within(left, call(Arc::clone(&connection))).await;
        let done = done.unwrap_or_else(|| Err(DriverError::timed_out(self.timeout)));
        done.map_err(|error| {
            if error.breaks_connection() {
                self.discard(&connection);
            }
            error.into_store_error()
        })
    }

    /// No call uses this connection from now on, unless another has taken its place already. Calls
    /// that are under way go on to their own end.
    pub(crate) fn discard(&self, broken: &Arc<K::Connection>) {
        let mut present = self.lock();
        if present.as_ref().is_some_and(|found| Arc::ptr_eq(found, broken)) {
            *present = None;
        }
    }

    /// Is this the connection that calls use now?
    pub(crate) fn is_present(&self, connection: &Arc<K::Connection>) -> bool {
        self.lock().as_ref().is_some_and(|found| Arc::ptr_eq(found, connection))
    }

    async fn connect(&self) -> Result<Arc<K::Connection>, OpenError> {
        let _turn = self.connecting.lock().await;
        if let Some(connection) = self.open_connection() {
            return Ok(connection);
        }
        let connection = Arc::new(self.connector.connect().await?);
        let closed = self.lock().replace(Arc::clone(&connection));
        // Dropped without the lock: closing a connection may do more than free memory.
        drop(closed);
        Ok(connection)
    }

    fn open_connection(&self) -> Option<Arc<K::Connection>> {
        self.lock().clone().filter(|connection| !K::is_closed(connection))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<K::Connection>>> {
        self.present.lock().expect("no holder of this lock panics")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Each connection is the number of attempts so far; the first attempt fails.
    #[derive(Default)]
    struct Counting(AtomicU32);

    impl Connector for Counting {
        type Connection = u32;
        const STORE: &'static str = "counting";

        fn place(&self) -> String {
            "here".to_owned()
        }

        async fn connect(&self) -> Result<u32, OpenError> {
            tokio::task::yield_now().await;
            match self.0.fetch_add(1, Ordering::Relaxed) {
                0 => Err(OpenError::Unreachable {
                    store: Self::STORE,
                    place: self.place(),
                    detail: "refused".to_owned(),
                }),
                number => Ok(number),
            }
        }

        fn is_closed(_: &u32) -> bool {
            false
        }
    }

    #[tokio::test]
    async fn one_call_connects_for_all_and_only_the_present_connection_is_discarded() {
        let slot = ConnectionSlot::new(Counting::default(), Duration::from_secs(5));
        let none = slot.run(|_| async { Ok(()) }).await.expect_err("the first attempt fails");
        assert!(matches!(none, StoreError::Unavailable { .. }), "{none}");
        let (one, other) = tokio::join!(slot.get(), slot.get());
        let (one, other) = (one.expect("it connects"), other.expect("it connects"));
        assert!(Arc::ptr_eq(&one, &other) && slot.is_present(&one));
        let broken = || DriverError::unknown("reset").breaking_connection();
        slot.run(|_| async { Err::<(), _>(broken()) }).await.expect_err("it failed");
        assert!(!slot.is_present(&one));
        let next = slot.get().await.expect("it connects");
        slot.discard(&one);
        assert!(slot.is_present(&next), "an earlier connection was discarded twice");
        let failed = slot.run(|_| async { Err::<(), _>(DriverError::refused("no")) }).await;
        assert!(matches!(failed, Err(StoreError::Refused { .. })) && slot.is_present(&next));
    }

    #[tokio::test]
    async fn a_late_answer_is_unknown_and_costs_the_connection() {
        let slot = ConnectionSlot::new(Counting(AtomicU32::new(1)), Duration::from_millis(10));
        let before = slot.get().await.expect("it connects");
        let late = slot.run(|_| std::future::pending::<Result<(), DriverError>>()).await;
        let wanted = StoreError::Unknown { detail: "no answer within 10 ms".to_owned() };
        assert_eq!(late, Err(wanted));
        assert!(!slot.is_present(&before));
    }
}
