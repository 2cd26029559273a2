//! A case, what it needs, and how a check says that it does not hold.

use std::fmt::{self, Debug, Display};
use std::future::Future;
use std::pin::Pin;

use super::report::CaseOutcome;
use super::stage::Stage;
use super::subject::Conforms;
use crate::capability::Capability;
use crate::election::Election;
use crate::error::StoreError;

/// Why a case went no further.
#[derive(Debug)]
pub(super) enum CaseError {
    /// The store did not do what the contract says.
    Wrong(String),
    /// The subject cannot bring this about.
    NotArrangeable(&'static str),
}

impl From<StoreError> for CaseError {
    fn from(error: StoreError) -> Self {
        Self::Wrong(format!("an error came up where none belongs: {error}"))
    }
}

pub(super) type Check = Result<(), CaseError>;

/// Both values must be the same.
#[expect(
    clippy::needless_pass_by_value,
    reason = "nearly every caller made both values for this comparison"
)]
pub(super) fn same<T: Debug + PartialEq>(what: &str, found: T, wanted: T) -> Check {
    if found == wanted {
        return Ok(());
    }
    Err(CaseError::Wrong(format!("{what}: wanted {wanted:?}, found {found:?}")))
}

/// What was found must pass the test that `wanted` describes.
pub(super) fn holds<T: Debug>(what: &str, found: &T, wanted: &str, test: bool) -> Check {
    if test {
        return Ok(());
    }
    Err(CaseError::Wrong(format!("{what}: wanted {wanted}, found {found:?}")))
}

/// What was found must be there.
pub(super) fn present<T>(what: &str, found: Option<T>) -> Result<T, CaseError> {
    found.ok_or_else(|| CaseError::Wrong(format!("{what}: wanted it, found nothing")))
}

/// The subject must have been able to bring it about.
pub(super) fn arranged(what: &'static str, done: Result<bool, String>) -> Check {
    match done {
        Ok(true) => Ok(()),
        Ok(false) => Err(CaseError::NotArrangeable(what)),
        Err(why) => Err(CaseError::Wrong(format!("{what} went wrong: {why}"))),
    }
}

/// Something that only some stores have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// A declared capability.
    Capability(Capability),
    /// A clock in the store that judges when a lease is over.
    Expiry,
}

impl Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expiry => f.write_str("no clock in the store"),
            Self::Capability(capability) => write!(f, "{capability:?}"),
        }
    }
}

pub(super) type Run<C = Election> =
    for<'a> fn(&'a Stage<'a, C>) -> Pin<Box<dyn Future<Output = Check> + Send + 'a>>;

/// One situation and what must come of it.
pub struct Case<C: Conforms = Election> {
    /// What it is about.
    pub theme: &'static str,
    /// What must hold, as a sentence.
    pub name: &'static str,
    /// What the store must have for it. Without that, the absence is checked instead.
    pub needs: Option<C::Requirement>,
    pub(super) run: Run<C>,
    pub(super) absence: Option<Run<C>>,
}

impl<C: Conforms> Case<C> {
    pub(super) async fn judge(&self, stage: &Stage<'_, C>) -> CaseOutcome<C::Requirement> {
        let lacks = self.needs.filter(|need| !C::has(&stage.declaration, *need));
        let (run, good) = match (lacks, self.absence) {
            (Some(need), Some(absence)) => (absence, CaseOutcome::AssertedAbsent(need)),
            _ => (self.run, CaseOutcome::Passed),
        };
        match run(stage).await {
            Ok(()) => good,
            Err(CaseError::NotArrangeable(what)) => CaseOutcome::NotArrangeable(what),
            Err(CaseError::Wrong(message)) => CaseOutcome::Failed(message),
        }
    }
}

/// The cases of a theme: `name`, or `name needs need => absence`. The contract stands before the
/// theme if it is another than [`Election`].
macro_rules! cases {
    (
        $($contract:ty,)? $theme:literal:
        $($run:ident $(needs $need:expr => $absence:ident)?),+ $(,)?
    ) => {
        pub(super) fn cases() -> Vec<$crate::conformance::case::Case$(<$contract>)?> {
            vec![$($crate::conformance::case::Case {
                theme: $theme,
                name: stringify!($run),
                needs: [$($need)?].into_iter().next(),
                run: |stage| Box::pin($run(stage)),
                absence: cases!(@absence $($absence)?),
            }),+]
        }
    };
    (@absence) => { None };
    (@absence $absence:ident) => { Some(|stage| Box::pin($absence(stage))) };
}
pub(super) use cases;
