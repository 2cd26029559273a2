//! The lease: what a reply shows of it, giving it up, and asking its holder for something.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{Epoch, Lineage, Namespace, Nonce};
use baton_core::protocol::{
    Ask, Expiry, Holder, LeaseSnapshot, Outcome, Release, TermEnd, Version,
};
use baton_store::StoreError;
use mysql_async::Row;

use super::row::{Columns, only};
use super::statement::{Statement, Text};

const HELD: u64 = 1;
const RELEASED: u64 = 0;

/// What to call the record in messages.
pub(super) fn record(namespace: &Namespace) -> String {
    format!("the lease of namespace {namespace}")
}

/// The lease that a row shows; `None` if the namespace never had one.
pub(super) fn snapshot(columns: &Columns<'_>) -> Result<Option<LeaseSnapshot>, StoreError> {
    let Some(epoch) = columns.maybe_number("epoch")? else { return Ok(None) };
    let nonce =
        Nonce { boot: columns.boot("nonce_boot")?, attempt: columns.number("nonce_attempt")? };
    let left: i64 = columns.number("left_us")?;
    let left = match u64::try_from(left) {
        Ok(0) | Err(_) => Duration::ZERO,
        // What is not over is not shown as if it were, however little is left.
        Ok(left) => Duration::from_micros(left).max(Duration::from_millis(1)),
    };
    Ok(Some(LeaseSnapshot {
        version: Version { epoch: Epoch(epoch), nonce },
        holder: holder(columns)?,
        successor: columns.maybe_node("successor")?,
        ttl: Duration::from_micros(columns.number("ttl")?),
        expiry: Expiry::Left(left),
        lineage: Lineage(columns.number("written_in")?),
        asked: columns.maybe_json("asked")?,
    }))
}

/// The holder, if the status says that there is one.
fn holder(columns: &Columns<'_>) -> Result<Option<Holder>, StoreError> {
    let status: u64 = columns.number("status")?;
    let node = columns.maybe_node("owner_id")?;
    let boot = columns.maybe_boot("owner_boot")?;
    let lifeline = columns.maybe_text("owner_lifeline")?.map(Arc::from);
    match (status, node, boot) {
        (HELD, Some(node), Some(boot)) => Ok(Some(Holder { node, boot, lifeline })),
        (RELEASED, None, None) => Ok(None),
        _ => Err(columns.spoilt(format!("status {status} does not go with its owner"))),
    }
}

/// The call that gives the lease up.
pub(super) fn release(
    prefix: &str,
    namespace: &Namespace,
    seen: Lineage,
    release: &Release,
) -> String {
    let ended_by = serde_json::to_string(&TermEnd::Released(release.reason));
    let ended_by = ended_by.expect("it is a plain name");
    Statement::call(prefix, "release")
        .with(namespace)
        .with(seen)
        .with(release.expect.epoch)
        .with(release.expect.nonce.boot)
        .with(release.expect.nonce.attempt)
        .with(release.nonce.boot)
        .with(release.nonce.attempt)
        .with(release.successor.as_ref())
        .with(Text(&ended_by))
        .text()
}

/// The call that leaves a request beside the lease.
pub(super) fn ask(
    prefix: &str,
    namespace: &Namespace,
    seen: Lineage,
    epoch: Epoch,
    ask: &Ask,
) -> String {
    let asked = serde_json::to_string(ask).expect("it is plain data");
    let call = Statement::call(prefix, "ask").with(namespace).with(seen);
    call.with(epoch).with(Text(&asked)).text()
}

/// What a step that was applied or not came to, and in which lineage.
pub(super) fn outcome(rows: &[Row], record: &str) -> Result<(Lineage, Outcome), StoreError> {
    let columns = only(rows, record)?;
    let applied = columns.flag("applied")?;
    let outcome = if applied { Outcome::Applied } else { Outcome::Conflict };
    Ok((Lineage(columns.number("lineage")?), outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The procedure that begins a term says how the last one ended in these very words.
    #[test]
    fn the_procedures_speak_of_ends_as_the_history_does() {
        let acquire = include_str!("sql/procedures/acquire.sql");
        for end in [TermEnd::Expired, TermEnd::ProvedDead] {
            let word = serde_json::to_string(&end).expect("it is a plain name");
            assert!(acquire.contains(&format!("'{word}'")), "{word}");
        }
        assert!(acquire.contains(&format!("+ {} *", Epoch::LEAP)));
    }
}
