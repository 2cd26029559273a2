//! May this program use the schema that is there, and is there one?
//!
//! ```text
//!   stored             program knows 5
//!   nothing            a node makes version 5; a reader finds every namespace empty
//!   3                  a node upgrades it; a reader refuses
//!   5                  used
//!   7, lowest 5        used as it is: neither upgraded nor made anew
//!   7, lowest 6        refused: a program that knows version 6 or later is needed
//! ```
//!
//! Beside its version a store keeps the lowest version that a program must know to use it, so that a
//! deploy can be rolled back: a later version that only adds what earlier programs may ignore
//! keeps the lowest compatible version where it was.

use std::sync::atomic::{AtomicBool, Ordering};

use baton_store::{Answer, Call, Operation, StoreError};

use crate::OpenError;

/// A version of a store's schema, and the lowest version that a program must know to use it.
///
/// A driver has one as a constant, `KNOWN`: what it makes. Stores from before there was a lowest
/// compatible version have none; their own version stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SchemaVersion {
    pub(crate) version: i64,
    pub(crate) lowest_compatible: i64,
}

/// What a program finds that may use a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaState {
    /// Of an earlier version than the program makes: a node upgrades it, a reader refuses.
    Older,
    /// Of the version that the program knows, or of a later one that is compatible with it. It is
    /// used as it is: what a later program made must not be replaced by an earlier one.
    Usable,
}

/// Why a store cannot be used: it needs a later program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "has schema version {}, which needs a program that knows version {} or later, and this \
     program knows {known}; use a newer version of it",
    .found.version, .found.lowest_compatible
)]
pub struct IncompatibleSchema {
    found: SchemaVersion,
    known: i64,
}

impl SchemaVersion {
    /// A version, and the lowest that may use it, as a store keeps the two.
    pub(crate) const fn new(version: i64, lowest_compatible: Option<i64>) -> Self {
        let lowest_compatible = match lowest_compatible {
            Some(lowest) => lowest,
            None => version,
        };
        Self { version, lowest_compatible }
    }

    /// May the program that knows `known` use a store of this version?
    pub(crate) fn check(self, known: Self) -> Result<SchemaState, IncompatibleSchema> {
        match self.version {
            found if found < known.version => Ok(SchemaState::Older),
            found if found == known.version => Ok(SchemaState::Usable),
            _ if self.lowest_compatible <= known.version => Ok(SchemaState::Usable),
            _ => Err(IncompatibleSchema { found: self, known: known.version }),
        }
    }

    /// The same for a store on a server, as an error of opening.
    #[cfg(feature = "network")]
    pub(crate) fn check_at(
        self,
        known: Self,
        store: &'static str,
        place: &str,
    ) -> Result<SchemaState, OpenError> {
        let place = place.to_owned();
        self.check(known).map_err(|reason| OpenError::NewerSchema { store, place, reason })
    }

    /// The same for a reader, which cannot upgrade.
    #[cfg(feature = "network")]
    pub(crate) fn check_to_read(
        self,
        known: Self,
        store: &'static str,
        place: &str,
    ) -> Result<(), OpenError> {
        match self.check_at(known, store, place)? {
            SchemaState::Usable => Ok(()),
            SchemaState::Older => Err(OpenError::OlderSchema {
                store,
                place: place.to_owned(),
                found: self.version,
                known: known.version,
            }),
        }
    }
}

/// Is the schema there? Only a reader may find none, and one may be made later.
#[derive(Debug)]
pub(crate) struct SchemaPresence(AtomicBool);

impl SchemaPresence {
    /// What was found at opening.
    pub(crate) fn new(found: bool) -> Self {
        Self(AtomicBool::new(found))
    }

    /// The answer to a call that reads a store with nothing in it; `None` if the schema is there, or
    /// if the call has no such answer, and must be carried out. `look` is run for as long as
    /// the schema was not there.
    pub(crate) async fn answer_when_empty<E: Into<StoreError>>(
        &self,
        call: &Call,
        look: impl Future<Output = Result<bool, E>>,
    ) -> Result<Option<Answer>, StoreError> {
        let Some(nothing) = call.answer_when_empty() else { return Ok(None) };
        if !self.0.load(Ordering::Relaxed) {
            self.0.store(look.await.map_err(Into::into)?, Ordering::Relaxed);
        }
        Ok((!self.0.load(Ordering::Relaxed)).then_some(nothing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_version_is_used_if_it_allows_this_program() {
        let known = SchemaVersion::new(5, Some(4));
        let check = |version, lowest| SchemaVersion::new(version, lowest).check(known);
        assert_eq!(check(3, None), Ok(SchemaState::Older));
        assert_eq!(check(5, None), Ok(SchemaState::Usable));
        assert_eq!(check(5, Some(5)), Ok(SchemaState::Usable));
        assert_eq!(check(7, Some(5)), Ok(SchemaState::Usable));
        assert_eq!(check(7, Some(2)), Ok(SchemaState::Usable));
        for (lowest, wanted) in [(Some(6), 6), (None, 7)] {
            let refused = check(7, lowest).expect_err("it needs a later program").to_string();
            let wanted = format!(
                "has schema version 7, which needs a program that knows version {wanted} or \
                 later, and this program knows 5; use a newer version of it"
            );
            assert_eq!(refused, wanted);
        }
    }
}
