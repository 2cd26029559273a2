//! Giving the lease up, and asking its holder for that.

use baton_core::ids::{Epoch, Namespace};
use baton_core::protocol::{Ask, Outcome, Release, TermEnd};

use super::context::CallContext;
use super::statement::{Ascii, Text, literal};
use crate::driver::{DriverError, Record};

/// What to call the record in messages.
pub(super) fn record(namespace: &Namespace) -> String {
    format!("the lease of namespace {namespace}")
}

/// Clears the holder and keeps everything else.
pub(super) async fn release(
    context: &CallContext<'_>,
    release: &Release,
) -> Result<Outcome, DriverError> {
    let ended_by = serde_json::to_string(&TermEnd::Released(release.reason));
    let ended_by = ended_by.expect("it is a plain name");
    let call = context
        .procedure("release")
        .with(release.expect.epoch)
        .with(release.expect.nonce.boot)
        .with(release.expect.nonce.attempt)
        .with(release.nonce.boot)
        .with(release.nonce.attempt)
        .with(release.successor.as_ref())
        .with(Text(&ended_by));
    context.outcome(call).await
}

/// Leaves a request beside the lease.
pub(super) async fn ask(
    context: &CallContext<'_>,
    epoch: Epoch,
    ask: &Ask,
) -> Result<Outcome, DriverError> {
    let asked = serde_json::to_string(ask).expect("it is plain data");
    context.outcome(context.procedure("ask").with(epoch).with(Text(&asked))).await
}

/// The namespaces that have a lease: this many after that one, in order.
pub(super) async fn namespaces(
    context: &CallContext<'_>,
    after: Option<&Namespace>,
    limit: u32,
) -> Result<Vec<Namespace>, DriverError> {
    let after = after.map_or("", Namespace::as_str);
    let rows = context.rows(format!(
        "SELECT lock_key FROM `{}locks` WHERE lock_key > {} ORDER BY lock_key LIMIT {limit}",
        context.prefix(),
        literal(Ascii(after))
    ));
    let rows = rows.await?;
    let record = "the name of a namespace";
    rows.iter().map(|row| Record::new(row, record).namespace("lock_key")).collect()
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
