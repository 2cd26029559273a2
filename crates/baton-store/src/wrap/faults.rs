//! A store that breaks: by a script, to arrange one situation, or by a seed, to meet many.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_core::rng::Rng;

use super::wrapped::{Layer, Wrapped};
use crate::contract::{Backend, Contract};
use crate::error::StoreError;
use crate::operation::Operation;

/// How one call goes wrong. What the caller hears says nothing of what the store did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallFault {
    /// It never leaves: [`StoreError::Unavailable`], and nothing was applied.
    Unreachable,
    /// It is turned away: [`StoreError::Throttled`], and nothing was applied.
    TurnedAway,
    /// It is lost on its way: [`StoreError::Unknown`], and nothing was applied.
    RequestLost,
    /// It is applied and its reply is lost: [`StoreError::Unknown`].
    ReplyLost,
    /// It is delivered twice, and the second reply is the one that comes back.
    Doubled,
}

impl CallFault {
    /// Every fault.
    pub const ALL: [Self; 5] =
        [Self::Unreachable, Self::TurnedAway, Self::RequestLost, Self::ReplyLost, Self::Doubled];
}

enum Plan {
    Scripted(VecDeque<(&'static str, CallFault)>),
    Seeded { rng: Rng, one_in: u64 },
}

impl Plan {
    /// The fault that this call meets. A script waits until a call of the kind it names comes.
    fn next(&mut self, kind: &str) -> Option<CallFault> {
        match self {
            Self::Scripted(script) => {
                script.pop_front_if(|(named, _)| *named == kind).map(|(_, fault)| fault)
            }
            Self::Seeded { rng, one_in } => rng.one_in(*one_in).then(|| {
                let at = rng.below(CallFault::ALL.len() as u64);
                CallFault::ALL[usize::try_from(at).expect("it is below the number of faults")]
            }),
        }
    }
}

/// Breaks calls by plan.
pub struct Faults(Mutex<Plan>);

impl Faults {
    /// Each named fault meets the next call of the named kind, in this order; then all is well.
    ///
    /// The kinds are those of [`Operation::kind`].
    pub fn scripted<C: Contract>(
        inner: Arc<dyn Backend<C>>,
        script: impl IntoIterator<Item = (&'static str, CallFault)>,
    ) -> Wrapped<Self, C> {
        let plan = Plan::Scripted(script.into_iter().collect());
        Wrapped::new(inner, Self(Mutex::new(plan)))
    }

    /// One call in `one_in` meets a fault, both drawn from the seed.
    pub fn seeded<C: Contract>(
        inner: Arc<dyn Backend<C>>,
        seed: u64,
        one_in: u64,
    ) -> Wrapped<Self, C> {
        let rng = Rng::new(seed);
        Wrapped::new(inner, Self(Mutex::new(Plan::Seeded { rng, one_in })))
    }

    fn next(&self, kind: &str) -> Option<CallFault> {
        self.0.lock().expect("no plan panics").next(kind)
    }
}

#[async_trait]
impl<C: Contract> Layer<C> for Faults {
    async fn call(
        &self,
        inner: &dyn Backend<C>,
        namespace: &Namespace,
        call: C::Call,
    ) -> Result<C::Answer, StoreError> {
        let kind = call.kind();
        let detail = |what: &str| format!("planned fault: {what} of {kind}");
        match self.next(kind) {
            None => inner.call(namespace, call).await,
            Some(CallFault::Unreachable) => {
                Err(StoreError::Unavailable { detail: detail("no connection") })
            }
            Some(CallFault::TurnedAway) => {
                Err(StoreError::Throttled { detail: detail("too many requests") })
            }
            Some(CallFault::RequestLost) => Err(StoreError::Unknown { detail: detail("timeout") }),
            Some(CallFault::ReplyLost) => {
                // Whatever the store answered, the caller never hears it.
                let _ = inner.call(namespace, call).await;
                Err(StoreError::Unknown { detail: detail("timeout") })
            }
            Some(CallFault::Doubled) => {
                let _ = inner.call(namespace, call.clone()).await;
                inner.call(namespace, call).await
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Precondition, WriteOutcome};
    use crate::election::Store;
    use crate::memory::testing;

    /// What a write that meets the fault says, and whether it took place.
    async fn write_under(fault: CallFault) -> (Result<WriteOutcome, StoreError>, u64) {
        let inner = testing::store(Arc::default());
        let broken = Faults::scripted(inner, [("write-documents", fault)]);
        let space = testing::namespace();
        let said = broken.write_document(&space, "d", vec![], Precondition::Any, None).await;
        let found = broken.read_document(&space, "d").await;
        let version = found.expect("the script is over").map_or(0, |document| document.version);
        (said, version)
    }

    #[tokio::test]
    async fn each_fault_says_and_does_what_it_promises() {
        use StoreError::{Throttled, Unavailable, Unknown};
        let (said, version) = write_under(CallFault::Unreachable).await;
        assert!(matches!(said, Err(Unavailable { .. })) && version == 0);
        let (said, version) = write_under(CallFault::TurnedAway).await;
        assert!(matches!(said, Err(Throttled { .. })) && version == 0);
        let (said, version) = write_under(CallFault::RequestLost).await;
        assert!(matches!(said, Err(Unknown { .. })) && version == 0);
        let (said, version) = write_under(CallFault::ReplyLost).await;
        assert!(matches!(said, Err(Unknown { .. })) && version == 1);
        let (said, version) = write_under(CallFault::Doubled).await;
        assert!(said == Ok(WriteOutcome::Written(2)) && version == 2);
    }

    #[tokio::test]
    async fn a_script_waits_for_the_kind_it_names() {
        let script = [("members", CallFault::TurnedAway), ("history", CallFault::Unreachable)];
        let broken = Faults::scripted(testing::store(Arc::default()), script);
        let space = testing::namespace();
        assert!(broken.history(&space, 1).await.is_ok(), "not its turn");
        assert!(broken.members(&space).await.is_err());
        assert!(broken.members(&space).await.is_ok(), "once is enough");
        assert!(broken.history(&space, 1).await.is_err());
    }

    #[tokio::test]
    async fn the_same_seed_breaks_the_same_calls() {
        let run = async |seed| {
            let broken = Faults::seeded(testing::store(Arc::default()), seed, 4);
            let mut failed = Vec::new();
            for _ in 0..200 {
                failed.push(broken.members(&testing::namespace()).await.is_err());
            }
            failed
        };
        let first = run(7).await;
        assert_eq!(first, run(7).await);
        assert_ne!(first, run(8).await);
        let count = first.iter().filter(|failed| **failed).count();
        assert!((20..=60).contains(&count), "{count} of 200 failed");
    }
}
