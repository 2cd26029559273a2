//! The lease as its hash shows it, and what an intent says to the script.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use baton_core::ids::{Epoch, Namespace, Nonce};
use baton_core::protocol::{
    Acquire, Ask, Claim, Hint, LeaseIntent, LeaseSnapshot, Outcome, Release, Renew, TermEnd,
    Version,
};
use baton_store::StoreError;

use super::context::CallContext;
use super::history;
use super::script::Arguments;
use crate::driver::{DriverError, Fields, Record};

impl CallContext<'_> {
    /// Gives the lease up.
    pub(super) async fn release(
        &self,
        release: &Release,
        hint: &Option<Hint>,
    ) -> Result<Outcome, StoreError> {
        let arguments = version(Arguments::default(), Some(release.expect))
            .text(nonce(release.nonce))
            .maybe(release.successor.as_ref())
            .text(history::end_word(TermEnd::Released(release.reason)))
            .text(self.channel())
            .json(hint);
        self.outcome(&self.engine.scripts.release, arguments).await
    }

    /// Leaves a request beside the lease.
    pub(super) async fn ask(
        &self,
        epoch: Epoch,
        ask: &Ask,
        hint: &Option<Hint>,
    ) -> Result<Outcome, StoreError> {
        let arguments = Arguments::default().text(epoch).json(ask).text(self.channel()).json(hint);
        self.outcome(&self.engine.scripts.ask, arguments).await
    }
}

/// The fields of a hash.
impl Fields for BTreeMap<String, String> {
    fn bytes(&self, name: &str) -> Result<Option<&[u8]>, String> {
        Ok(self.get(name).map(String::as_bytes))
    }
}

/// A nonce as the hash has it.
fn nonce(nonce: Nonce) -> impl Display {
    format!("{}#{}", nonce.boot, nonce.attempt)
}

/// Whole microseconds; a span beyond all numbers is the highest.
pub(super) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

fn version(arguments: Arguments, version: Option<Version>) -> Arguments {
    let epoch = version.map(|version| version.epoch);
    arguments.maybe(epoch).maybe(version.map(|version| nonce(version.nonce)))
}

/// What a beat wants of the lease, as the script expects it.
pub(super) fn intent(
    arguments: Arguments,
    intent: &LeaseIntent,
    lifeline: Option<&str>,
) -> Arguments {
    match intent {
        LeaseIntent::Observe => arguments.text("observe"),
        LeaseIntent::Acquire(Acquire { expect, claim, lineage, floor, nonce, ttl }) => {
            let (word, dead) = match claim {
                Claim::Vacant => ("vacant", None),
                Claim::Expired => ("expired", None),
                Claim::Dead { boot } => ("dead", Some(boot)),
            };
            version(arguments.text("acquire"), *expect)
                .text(word)
                .maybe(dead)
                .text(lineage.0)
                .text(floor)
                .text(self::nonce(*nonce))
                .text(micros(*ttl))
                .maybe(lifeline.map(|place| format!("+{place}")))
        }
        LeaseIntent::Renew(Renew { expect, lineage, nonce, ttl }) => {
            version(arguments.text("renew"), Some(*expect))
                .text(lineage.0)
                .text(self::nonce(*nonce))
                .text(micros(*ttl))
        }
    }
}

/// The lease that this hash shows at this microsecond of the server's clock; `None` if it is empty.
pub(super) fn snapshot(
    namespace: &Namespace,
    now_us: u64,
    mut hash: BTreeMap<String, String>,
) -> Result<Option<LeaseSnapshot>, DriverError> {
    let nonce = hash.get("nonce").and_then(|nonce| nonce.split_once('#'));
    let nonce = nonce.map(|(boot, attempt)| (boot.to_owned(), attempt.to_owned()));
    let (nonce_boot, nonce_attempt) = nonce.unzip();
    let expires_us = hash.get("expires_us").and_then(|expires| expires.parse::<u64>().ok());
    let left_us = expires_us.map(|expires| expires.saturating_sub(now_us).to_string());
    let ttl = hash.remove("ttl_us");
    let fields = [
        ("nonce_boot", nonce_boot),
        ("nonce_attempt", nonce_attempt),
        ("left_us", left_us),
        ("ttl", ttl),
    ];
    for (field, value) in fields {
        hash.extend(value.map(|value| (field.to_owned(), value)));
    }
    Record::new(&hash, &format!("the lease of namespace {namespace}")).lease()
}
