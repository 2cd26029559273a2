//! The lease as its hash shows it, and what an intent says to the script.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage, Namespace, NodeId, Nonce};
use baton_core::protocol::{
    Acquire, Claim, Expiry, Holder, LeaseIntent, LeaseSnapshot, Release, Renew, TermEnd, Version,
};
use baton_store::StoreError;

use super::history;
use super::script::Arguments;

/// A nonce as the hash has it.
fn nonce_text(nonce: Nonce) -> String {
    format!("{}#{}", nonce.boot, nonce.attempt)
}

fn nonce(text: &str) -> Option<Nonce> {
    let (boot, attempt) = text.split_once('#')?;
    Some(Nonce { boot: boot_id(boot)?, attempt: attempt.parse().ok()? })
}

/// A boot as records have it.
pub(super) fn boot_id(text: &str) -> Option<BootId> {
    BootId::try_from(text.to_owned()).ok()
}

/// Whole microseconds; a span beyond all numbers is the highest.
fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

fn push_version(arguments: &mut Arguments, version: Option<Version>) {
    arguments.maybe(version.map(|version| version.epoch.to_string()));
    arguments.maybe(version.map(|version| nonce_text(version.nonce)));
}

/// What a beat wants of the lease, as the script expects it.
pub(super) fn push_intent(arguments: &mut Arguments, intent: &LeaseIntent, lifeline: Option<&str>) {
    match intent {
        LeaseIntent::Observe => arguments.push("observe"),
        LeaseIntent::Acquire(Acquire { expect, claim, lineage, floor, nonce, ttl }) => {
            arguments.push("acquire");
            push_version(arguments, *expect);
            let (word, dead) = match claim {
                Claim::Vacant => ("vacant", None),
                Claim::Expired => ("expired", None),
                Claim::Dead { boot } => ("dead", Some(boot.to_string())),
            };
            arguments.push(word);
            arguments.maybe(dead);
            arguments.number(lineage.0);
            arguments.number(floor.0);
            arguments.push(nonce_text(*nonce));
            arguments.number(micros(*ttl));
            arguments.maybe(lifeline.map(|place| format!("+{place}")));
        }
        LeaseIntent::Renew(Renew { expect, lineage, nonce, ttl }) => {
            arguments.push("renew");
            push_version(arguments, Some(*expect));
            arguments.number(lineage.0);
            arguments.push(nonce_text(*nonce));
            arguments.number(micros(*ttl));
        }
    }
}

/// A release, as the script expects it.
pub(super) fn push_release(arguments: &mut Arguments, release: &Release) {
    push_version(arguments, Some(release.expect));
    arguments.push(nonce_text(release.nonce));
    arguments.maybe(release.successor.as_ref().map(NodeId::as_str));
    arguments.push(history::end_text(TermEnd::Released(release.reason)));
}

/// The lease that this hash shows at this microsecond of the server's clock; `None` if it is empty.
pub(super) fn snapshot(
    namespace: &Namespace,
    now_us: u64,
    hash: Vec<(String, String)>,
) -> Result<Option<LeaseSnapshot>, StoreError> {
    if hash.is_empty() {
        return Ok(None);
    }
    let fields = Fields(hash.into_iter().collect());
    fields.snapshot(now_us).map(Some).map_err(|name| StoreError::Corrupt {
        record: format!("the lease of namespace {namespace}"),
        detail: format!("its {name} cannot be read"),
    })
}

/// Fields by name. What cannot be read is told by its name.
struct Fields(BTreeMap<String, String>);

impl Fields {
    fn get(&self, name: &'static str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn number<T: FromStr>(&self, name: &'static str) -> Result<T, &'static str> {
        self.get(name).and_then(|text| text.parse().ok()).ok_or(name)
    }

    fn node(&self, name: &'static str) -> Result<Option<NodeId>, &'static str> {
        self.get(name).map(NodeId::new).transpose().map_err(|_| name)
    }

    fn snapshot(&self, now_us: u64) -> Result<LeaseSnapshot, &'static str> {
        let holder = match (self.node("owner_id")?, self.get("owner_boot")) {
            (None, None) => None,
            (Some(node), Some(boot)) => Some(Holder {
                node,
                boot: boot_id(boot).ok_or("owner_boot")?,
                lifeline: self.get("owner_lifeline").map(Arc::from),
            }),
            _ => return Err("owner_id"),
        };
        let asked = self.get("asked").map(serde_json::from_str).transpose();
        let left = self.number::<u64>("expires_us")?.saturating_sub(now_us);
        let left = Duration::from_micros(left);
        Ok(LeaseSnapshot {
            version: Version {
                epoch: Epoch(self.number("epoch")?),
                nonce: self.get("nonce").and_then(nonce).ok_or("nonce")?,
            },
            holder,
            successor: self.node("successor")?,
            ttl: Duration::from_micros(self.number("ttl_us")?),
            // As long as the server holds it for live there is something left.
            expiry: Expiry::Left(match left.is_zero() {
                true => left,
                false => left.max(Duration::from_millis(1)),
            }),
            lineage: Lineage(self.number("written_in")?),
            asked: asked.map_err(|_| "asked")?,
        })
    }
}
