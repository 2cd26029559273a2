//! A store whose beats are timed.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use baton::{Namespace, Store, StoreError};
use baton_core::protocol::Request;
use baton_store::clock::{Clock, SystemClock};
use baton_store::wrap::{Layer, Wrapped};
use baton_store::{Answer, Backend, Call};

use crate::percentiles::ms;

/// How long beats took, in milliseconds. Shared by all stores of a fleet.
#[derive(Clone, Debug, Default)]
pub struct BeatTimes(Arc<Mutex<Vec<f64>>>);

impl BeatTimes {
    /// Takes out the times so far.
    pub fn take(&self) -> Vec<f64> {
        std::mem::take(&mut *self.0.lock().expect("no holder panics"))
    }

    /// Times the beats of this store too.
    pub fn of(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Wrapped::new(store, self.clone()))
    }
}

#[async_trait]
impl Layer for BeatTimes {
    async fn call(
        &self,
        inner: &dyn Backend,
        namespace: &Namespace,
        call: Call,
    ) -> Result<Answer, StoreError> {
        let is_beat = matches!(call, Call::Core(Request::Beat(_)));
        let before = SystemClock.now();
        let answer = inner.call(namespace, call).await;
        if is_beat && answer.is_ok() {
            let took = SystemClock.now().since(before);
            self.0.lock().expect("no holder panics").push(ms(took));
        }
        answer
    }
}
