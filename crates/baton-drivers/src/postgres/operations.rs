//! What a store is asked, beside beats and counters: each call is one statement, and the rules are
//! functions at the server.

use std::collections::BTreeMap;

use baton_core::ids::{Lineage, Namespace};
use baton_core::protocol::{LeaseSnapshot, Outcome, Reply, Request};
use baton_store::{Answer, BatchOutcome, Call, Document, Inspection, PruneOutcome};
use tokio_postgres::types::{Json, Type};

use super::context::{CallContext, Param, int8, jsonb, text};
use crate::driver::{DriverError, Record};
use crate::reader::Access;

const INSPECT: &str = "SELECT lease, view, lsn, lineage FROM {t}inspect($1, $2::numeric, $3)";

/// The same for a reader, which may not begin a lineage: it shows the one that is written there.
const LOOK: &str = "SELECT {t}show({t}lease($1, false), clock_timestamp()), \
    (SELECT body FROM {t}views WHERE namespace = $1), pg_current_wal_flush_lsn(), \
    (SELECT lineage::text FROM {t}meta) AS lineage";

const DOCUMENTS: &str = "SELECT name, version::text AS version, body FROM {t}documents \
    WHERE namespace = $1 AND name = ANY ($2)";

const WRITE_DOCUMENTS: &str =
    "SELECT {t}write_documents($1, $2::numeric, $3, $4, $5, $6, $7::numeric)";

const TERMS: &str = "SELECT epoch::text, node_id, boot, began_ms::text, ended_ms::text, \
    ended_by::text, gap_ms::text, gap_at_most_ms::text FROM {t}terms \
    WHERE namespace = $1 ORDER BY seq DESC LIMIT $2";

const NAMESPACES: &str =
    "SELECT lock_key FROM {t}locks WHERE lock_key > $2 ORDER BY lock_key LIMIT $3";

const PRUNE: &str = "SELECT {t}prune($1, $2::numeric, $3, $4::numeric, $5, $6, $7)";

/// No interval of the server's is longer than this many milliseconds: some ten thousand years.
const LONGEST_MS: u64 = 315_576_000_000_000;

const MEMBERS: &str = "SELECT node_id, boot, beat::text, eligible::integer::text AS eligible, \
    draining::integer::text AS draining, load::text, seen::text, partitions, profile, \
    {t}us_after(beat_at, clock_timestamp())::text AS silent_us FROM {t}nodes \
    WHERE namespace = $1 ORDER BY node_id";

const PUBLISH: &str = "SELECT {t}publish($1, $2::numeric, $3, $4::numeric, $5::numeric, \
    $6::numeric, $7, $8)";

const RELEASE: &str = "SELECT {t}release($1, $2::numeric, $3, $4, $5)";

const LEAVE: &str = "SELECT {t}leave($1, $2::numeric, $3, $4, $5)";

const ASK: &str = "SELECT {t}ask($1, $2::numeric, $3, $4::numeric, $5, $6)";

impl CallContext<'_> {
    /// Carries the call out.
    pub(super) async fn perform(&self, call: &Call) -> Result<Answer, DriverError> {
        Ok(match call {
            Call::Core(request) => Answer::Core(self.perform_core(request).await?),
            Call::Inspect => Answer::Inspected(self.inspect().await?),
            Call::ReadDocuments { names } => Answer::Documents(self.documents(names).await?),
            Call::WriteDocuments { writes, fence } => {
                let names: Vec<&[u8]> = writes.iter().map(|it| it.name.as_bytes()).collect();
                let bodies: Vec<&[u8]> = writes.iter().map(|it| it.body.as_slice()).collect();
                let preconditions: Vec<_> = writes.iter().map(|it| it.precondition).collect();
                let (preconditions, fence) =
                    (Json(preconditions), fence.map(|epoch| epoch.0.to_string()));
                let more: [Param<'_>; 4] = [
                    (&names, Type::BYTEA_ARRAY),
                    (&bodies, Type::BYTEA_ARRAY),
                    jsonb(&preconditions),
                    text(&fence),
                ];
                let row = self.call(WRITE_DOCUMENTS, &more).await?;
                let Json(outcome): Json<BatchOutcome> = self.column(&row, 0)?;
                Answer::Written(outcome)
            }
            Call::History { limit } => {
                let limit = i64::try_from(*limit).unwrap_or(i64::MAX);
                let rows = self.rows(TERMS, &[int8(&limit)]).await?;
                let name = format!("the term history of namespace {}", self.namespace);
                Answer::History(Record::all(&rows, &name, |record| record.term())?)
            }
            Call::Namespaces { after, limit } => {
                let after = after.as_ref().map_or("", |after| after.as_str());
                let rows = self.rows(NAMESPACES, &[text(&after), int8(&i64::from(*limit))]).await?;
                let name = "the name of a namespace";
                Answer::Namespaces(Record::all(&rows, name, |it| {
                    it.id("lock_key", Namespace::new)
                })?)
            }
            Call::Counters(call) => Answer::Counters(self.count(call).await?),
            Call::Prune { fence, prune } => {
                let fence = fence.0.to_string();
                let dead_ms = u64::try_from(prune.dead_for.as_millis()).unwrap_or(LONGEST_MS);
                let dead_ms = dead_ms.min(LONGEST_MS).cast_signed();
                let keep = i64::try_from(prune.keep_terms.max(1)).unwrap_or(i64::MAX);
                let most = i64::from(prune.limit);
                let more = [text(&fence), int8(&dead_ms), int8(&keep), int8(&most)];
                let row = self.call(PRUNE, &more).await?;
                let gone: Option<i64> = self.column(&row, 0)?;
                Answer::Pruned(gone.map_or(PruneOutcome::Fenced, |gone| PruneOutcome::Pruned {
                    records: u32::try_from(gone).unwrap_or(u32::MAX),
                }))
            }
        })
    }

    async fn perform_core(&self, request: &Request) -> Result<Reply, DriverError> {
        let hint = request.hint_when_applied();
        let hint = serde_json::to_string(&hint).expect("a hint is plain data");
        Ok(Reply::Done(match request {
            Request::Beat(beat) => {
                let reply = self.engine.leases.beat(self.namespace, beat, self).await;
                return reply.map(Reply::Beat);
            }
            Request::ReadMembers => {
                let rows = self.rows(MEMBERS, &[]).await?;
                let name = format!("a node record of namespace {}", self.namespace);
                return Record::all(&rows, &name, |record| record.member()).map(Reply::Members);
            }
            Request::PublishView { fence, view } => {
                let body = serde_json::to_string(view).expect("a view is plain data");
                let (fence, epoch) = (fence.0.to_string(), view.version.epoch.0.to_string());
                let number = view.version.number.to_string();
                let more = [text(&fence), text(&epoch), text(&number), text(&body), text(&hint)];
                self.outcome(PUBLISH, &more).await?
            }
            Request::Release(release) => {
                self.outcome(RELEASE, &[jsonb(&Json(release)), text(&hint)]).await?
            }
            Request::Leave { node, boot } => {
                self.outcome(LEAVE, &[text(&node.as_str()), text(&boot.to_string())]).await?
            }
            Request::Ask { epoch, ask } => {
                let (epoch, ask) = (epoch.0.to_string(), Json(ask));
                self.outcome(ASK, &[text(&epoch), jsonb(&ask), text(&hint)]).await?
            }
        }))
    }

    /// What was found, in the order of the names.
    async fn documents(&self, names: &[String]) -> Result<Vec<Option<Document>>, DriverError> {
        let wanted: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
        let rows = self.rows(DOCUMENTS, &[(&wanted, Type::BYTEA_ARRAY)]).await?;
        let mut found = BTreeMap::new();
        for row in &rows {
            let (version, body) = (self.number(row, "version")?, self.column(row, 2)?);
            found.insert(self.column::<&[u8]>(row, 0)?, Document { version, body });
        }
        Ok(wanted.into_iter().map(|name| found.remove(name)).collect())
    }

    /// The lease and the view, without taking part.
    async fn inspect(&self) -> Result<Inspection, DriverError> {
        let row = match self.engine.access() {
            Access::Write => self.call(INSPECT, &[]).await?,
            Access::Read => self.only(self.rows(LOOK, &[]).await?)?,
        };
        let lease: Option<Json<LeaseSnapshot>> = self.column(&row, 0)?;
        let lineage = self.number(&row, "lineage")?;
        self.engine.note_seen(lineage, self.column(&row, 2)?);
        let lease = lease.map(|Json(lease)| lease);
        Ok(Inspection { lease, lineage: Lineage(lineage), view: self.view(&row, 1)? })
    }

    /// Calls a function that says `applied` or `conflict`.
    async fn outcome(&self, sql: &str, more: &[Param<'_>]) -> Result<Outcome, DriverError> {
        let row = self.call(sql, more).await?;
        match self.column::<&str>(&row, 0)? {
            "applied" => Ok(Outcome::Applied),
            "conflict" => Ok(Outcome::Conflict),
            other => Err(self.corrupt(&format!("the server answered {other:?}"))),
        }
    }
}
