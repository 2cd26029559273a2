//! A contract that has nothing to do with leases goes through the suite as stores do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::{Epoch, Namespace};

use super::case::{Check, cases, same};
use super::stage::Stage;
use super::subject::{Conforms, Subject, SuiteSettings};
use super::{CaseOutcome, run_cases};
use crate::capability::Capability;
use crate::clock::ManualClock;
use crate::contract::{Backend, Contract};
use crate::error::StoreError;
use crate::finding::Finding;
use crate::operations;

operations! {
    /// What can be asked of a bell.
    pub enum BellCall;
    /// The answer.
    pub enum BellAnswer {}
    families {}
    reads {
        /// How often did it ring?
        Rings "rings" -> Rings(u32) or BellAnswer::Rings(0),
    }
    writes {
        /// Rings it.
        Ring "ring" {
            /// The term in which it is rung.
            fence: Epoch,
        } fenced by fence -> Rung,
        /// Counts from nothing again.
        Reset "reset" needs Counters -> Reset,
    }
}

pub(super) enum BellContract {}

impl Contract for BellContract {
    type Declaration = &'static str;
    type Call = BellCall;
    type Answer = BellAnswer;
    type Hint = ();

    fn declares(_bell: &&'static str, _capability: Capability) -> bool {
        false
    }

    fn check_answer(_at: &Namespace, answer: BellAnswer) -> Result<BellAnswer, StoreError> {
        Ok(answer)
    }
}

impl Conforms for BellContract {
    type Handle = dyn Backend<Self>;
    type Requirement = &'static str;

    fn has(declaration: &&'static str, need: &'static str) -> bool {
        *declaration == need
    }

    fn name<'a>(declaration: &'a &'static str) -> &'a str {
        declaration
    }
}

/// A bell; one that is cracked does not count.
#[derive(Default)]
struct Bell {
    rings: AtomicU32,
    is_cracked: bool,
}

#[async_trait]
impl Backend<BellContract> for Bell {
    fn declaration(&self) -> &'static str {
        "brass"
    }

    async fn call(&self, _at: &Namespace, call: BellCall) -> Result<BellAnswer, StoreError> {
        let settled = BellContract::check_call(&self.declaration(), &call)?;
        assert_eq!(settled, None, "every call of a bell asks for something");
        Ok(match call {
            BellCall::Rings => BellAnswer::Rings(self.rings.load(Ordering::Relaxed)),
            BellCall::Ring { .. } => {
                self.rings.fetch_add(u32::from(!self.is_cracked), Ordering::Relaxed);
                BellAnswer::Rung
            }
            BellCall::Reset => unreachable!("it is not declared"),
        })
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        Ok(Vec::new())
    }
}

struct BellSubject(Arc<Bell>);

#[async_trait]
impl Subject<BellContract> for BellSubject {
    async fn open(&self) -> Arc<dyn Backend<BellContract>> {
        self.0.clone()
    }

    fn namespace(&self, label: &str) -> Namespace {
        Namespace::new(label).expect("labels are valid names")
    }

    async fn pass(&self, _span: Duration) {}

    fn settings(&self) -> SuiteSettings {
        SuiteSettings::default()
    }
}

cases! { BellContract, "bell":
    it_counts,
    what_is_not_declared_is_refused needs "clapper" => what_is_not_declared_is_refused,
}

async fn it_counts(stage: &Stage<'_, BellContract>) -> Check {
    let bell = stage.subject.open().await;
    bell.call(&stage.namespace, BellCall::Ring { fence: Epoch(1) }).await?;
    let rings = bell.call(&stage.namespace, BellCall::Rings).await?;
    same("the rings", rings, BellAnswer::Rings(1))
}

async fn what_is_not_declared_is_refused(stage: &Stage<'_, BellContract>) -> Check {
    let found = stage.subject.open().await.call(&stage.namespace, BellCall::Reset).await;
    same("a reset", found, Err(StoreError::Unsupported(Capability::Counters)))
}

#[tokio::test]
async fn a_suite_of_another_contract_is_run_and_reported_the_same_way() {
    let clock = ManualClock::default();
    let report = run_cases(&BellSubject(Arc::default()), &cases(), &clock).await;
    let outcomes: Vec<_> = report.cases.iter().map(|case| case.outcome.clone()).collect();
    assert_eq!(outcomes, [CaseOutcome::Passed, CaseOutcome::AssertedAbsent("clapper")], "{report}");
    let cracked = BellSubject(Arc::new(Bell { is_cracked: true, ..Bell::default() }));
    let report = run_cases(&cracked, &cases(), &clock).await;
    assert_eq!((report.store.as_str(), report.failures().len()), ("brass", 1), "{report}");
}
