//! What every kind of store has in common: calls and answers as data, hints, and what it declares.
//!
//! ```text
//!   Contract ── the calls, answers, hints and declaration of one kind of store
//!      ├── Election   leases, views, documents, counters      trait Store
//!      └── …          another kind of store is another contract, with a trait of its own
//!   Backend<C> ── what a driver of that kind implements, and every wrapper around it
//! ```
//!
//! Wrappers, the drivers' thread and the conformance suite know no more of a store than this.

use async_trait::async_trait;
use baton_core::ids::Namespace;
use tokio::sync::mpsc;

use crate::capability::Capability;
use crate::election::Election;
use crate::error::StoreError;
use crate::finding::Finding;
use crate::operation::Operation;

/// The calls, answers, hints and declaration of one kind of store.
pub trait Contract: Sized + Send + Sync + 'static {
    /// What a store says of itself.
    type Declaration: Clone + Send + Sync + 'static;
    /// What can be asked.
    type Call: Operation<Answer = Self::Answer>;
    /// What comes back.
    type Answer: std::fmt::Debug + Send + 'static;
    /// What a store pushes.
    type Hint: Send + 'static;

    /// Does the store declare this?
    fn declares(declaration: &Self::Declaration, capability: Capability) -> bool;

    /// Refuses an answer that must not reach a caller.
    fn check_answer(
        namespace: &Namespace,
        answer: Self::Answer,
    ) -> Result<Self::Answer, StoreError>;

    /// Refuses what the store does not declare, an epoch that cannot have been granted, which would
    /// raise the fence above all terms to come, and a call beyond the limits. The answer of a call
    /// that asks for nothing; `None` if the store must be asked. Every handle does this before
    /// anything else, so that no driver has to.
    fn check_call(
        declaration: &Self::Declaration,
        call: &Self::Call,
    ) -> Result<Option<Self::Answer>, StoreError> {
        if let Some(needed) = call.needs().filter(|it| !Self::declares(declaration, *it)) {
            return Err(StoreError::Unsupported(needed));
        }
        let refused = |problem: baton_core::ids::EpochTooHigh| StoreError::Refused {
            detail: problem.to_string(),
        };
        call.epoch().grantable().map_err(refused)?;
        call.check()
    }
}

/// Hints as they come. Bounded: when the reader is behind, the oldest are lost, which hints may be.
pub type HintStream<C = Election> = mpsc::Receiver<<C as Contract>::Hint>;

/// A store of one kind, by its contract.
#[async_trait]
pub trait Backend<C: Contract = Election>: Send + Sync {
    /// What the store says of itself.
    fn declaration(&self) -> C::Declaration;

    /// Takes one step in a namespace.
    async fn call(&self, namespace: &Namespace, call: C::Call) -> Result<C::Answer, StoreError>;

    /// Subscribes to hints. Refused by a store that does not declare [`Push`], as here.
    ///
    /// [`Push`]: crate::Capability::Push
    async fn hints(&self, _namespace: &Namespace) -> Result<HintStream<C>, StoreError> {
        Err(StoreError::Unsupported(Capability::Push))
    }

    /// Looks at the server behind the store: its version, this user's rights, and every setting
    /// that would weaken a promise, each with its remedy. Changes nothing.
    async fn examine(&self) -> Result<Vec<Finding>, StoreError>;
}
