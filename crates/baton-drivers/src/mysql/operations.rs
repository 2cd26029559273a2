//! What a store is asked, beside beats and counters: each call is one statement, and the rules are
//! procedures at the server.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{Epoch, Lineage, Namespace};
use baton_core::protocol::{Outcome, Reply, Request, TermEnd};
use baton_store::{Answer, Call, Inspection, Prune, PruneOutcome};

use super::context::CallContext;
use super::error::lease_name;
use super::statement::{Argument, Ascii, Statement, Text};
use crate::driver::{DriverError, Record};

/// The server has no earlier time than the year 1000.
const LONGEST: Duration = Duration::from_secs(900 * 365 * 24 * 60 * 60);

impl CallContext<'_> {
    /// Carries the call out.
    pub(super) async fn perform(&self, call: &Call) -> Result<Answer, DriverError> {
        let prefix = self.prefix();
        Ok(match call {
            Call::Core(request) => Answer::Core(self.perform_core(request).await?),
            Call::Inspect => Answer::Inspected(self.inspect().await?),
            Call::ReadDocuments { names } => Answer::Documents(self.documents(names).await?),
            Call::WriteDocuments { writes, fence } => {
                Answer::Written(self.write_documents(writes, *fence).await?)
            }
            Call::History { limit } => {
                let rows = self.rows(format!(
                    "SELECT epoch, node_id, boot, began_ms, ended_ms, ended_by, gap_ms, \
                     gap_at_most_ms FROM `{prefix}terms` WHERE namespace = {} \
                     ORDER BY seq DESC LIMIT {limit}",
                    Ascii(self.namespace).literal()
                ));
                let name = format!("the term history of namespace {}", self.namespace);
                Answer::History(Record::all(&rows.await?, &name, |record| record.term())?)
            }
            Call::Namespaces { after, limit } => {
                let after = Ascii(after.as_ref().map_or("", |after| after.as_str())).literal();
                let rows = self.rows(format!(
                    "SELECT lock_key FROM `{prefix}locks` WHERE lock_key > {after} \
                     ORDER BY lock_key LIMIT {limit}"
                ));
                let name = "the name of a namespace";
                Answer::Namespaces(Record::all(&rows.await?, name, |it| {
                    it.id("lock_key", Namespace::new)
                })?)
            }
            Call::Counters(call) => Answer::Counters(self.count(call).await?),
            Call::Prune { fence, prune } => Answer::Pruned(self.prune(*fence, prune).await?),
        })
    }

    async fn perform_core(&self, request: &Request) -> Result<Reply, DriverError> {
        let call = match request {
            Request::Beat(beat) => {
                let reply = self.engine.leases.beat(self.namespace, beat, self).await;
                return reply.map(Reply::Beat);
            }
            Request::ReadMembers => {
                let rows = self.rows(format!(
                    "SELECT node_id, boot, beat, eligible, draining, job_count AS `load`, seen, \
                     `partitions`, profile, \
                     GREATEST(TIMESTAMPDIFF(MICROSECOND, beat_at, UTC_TIMESTAMP(6)), 0) \
                     AS silent_us FROM `{}nodes` WHERE namespace = {} ORDER BY node_id",
                    self.prefix(),
                    Ascii(self.namespace).literal()
                ));
                let name = format!("a node record of namespace {}", self.namespace);
                let members = Record::all(&rows.await?, &name, |record| record.member());
                return members.map(Reply::Members);
            }
            Request::PublishView { fence, view } => {
                let body = serde_json::to_string(view).expect("it is plain data");
                let (epoch, number) = (view.version.epoch.0, view.version.number);
                let call = self.procedure("publish_view").with(fence.0).with(epoch).with(number);
                call.with(Text(&body))
            }
            Request::Release(release) => {
                let ended_by = serde_json::to_string(&TermEnd::Released(release.reason));
                self.procedure("release")
                    .with(release.expect.epoch.0)
                    .with(Ascii(release.expect.nonce.boot))
                    .with(release.expect.nonce.attempt)
                    .with(Ascii(release.nonce.boot))
                    .with(release.nonce.attempt)
                    .with(release.successor.as_ref().map(Ascii))
                    .with(Text(&ended_by.expect("it is a plain name")))
            }
            Request::Leave { node, boot } => {
                self.procedure("leave").with(Ascii(node)).with(Ascii(boot))
            }
            Request::Ask { epoch, ask } => {
                let asked = serde_json::to_string(ask).expect("it is plain data");
                self.procedure("ask").with(epoch.0).with(Text(&asked))
            }
        };
        self.outcome(call).await.map(Reply::Done)
    }

    /// Calls a procedure that says whether it was applied.
    async fn outcome(&self, procedure: Statement) -> Result<Outcome, DriverError> {
        let row = self.call(procedure).await?;
        Ok(match Record::new(&row, &self.record_name()).flag("applied")? {
            true => Outcome::Applied,
            false => Outcome::Conflict,
        })
    }

    async fn prune(&self, fence: Epoch, prune: &Prune) -> Result<PruneOutcome, DriverError> {
        let dead_for = prune.dead_for.min(LONGEST);
        let call = self
            .procedure("prune")
            .with(fence.0)
            .with(dead_for.as_secs())
            .with(u64::from(dead_for.subsec_micros()))
            .with(u64::try_from(prune.keep_terms.max(1)).unwrap_or(u64::MAX))
            .with(u64::from(prune.limit));
        let row = self.call(call).await?;
        let pruned = Record::new(&row, &self.record_name()).maybe_number("pruned")?;
        Ok(pruned.map_or(PruneOutcome::Fenced, |records| PruneOutcome::Pruned { records }))
    }

    /// Looks at a namespace and changes nothing. Where the next call would begin a new lineage, a
    /// later one is shown already: a reader learns that the data went back, whatever its number
    /// will be.
    async fn inspect(&self) -> Result<Inspection, DriverError> {
        let (prefix, identity) = (self.prefix(), self.engine.flavour.identity());
        let (namespace, seen) = (Ascii(self.namespace).literal(), self.engine.seen().0);
        let row = self.row(format!(
            "SELECT IF(m.identity = {identity} AND m.lineage >= {seen}, m.lineage, \
             GREATEST(m.lineage, {seen}) + 1) AS lineage, l.epoch, l.nonce_boot, l.nonce_attempt, \
             l.status, l.owner_id, l.owner_boot, l.owner_lifeline, l.successor, l.ttl, \
             l.written_in, l.asked, \
             TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), l.expires_at) AS left_us, \
             w.body AS view_body FROM `{prefix}meta` AS m \
             LEFT JOIN `{prefix}locks` AS l ON l.lock_key = {namespace} \
             LEFT JOIN `{prefix}views` AS w ON w.namespace = {namespace} WHERE m.one = 1"
        ));
        let (row, named) = (row.await?, lease_name(self.namespace));
        let record = Record::new(&row, &named);
        Ok(Inspection {
            lease: record.lease()?,
            lineage: Lineage(record.number("lineage")?),
            view: record.maybe_json("view_body")?.map(Arc::new),
        })
    }
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
