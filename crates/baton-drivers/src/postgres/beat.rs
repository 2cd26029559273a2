//! One beat, and a look without taking part.

use std::sync::Arc;

use baton_core::ids::Lineage;
use baton_core::protocol::{BeatReply, BeatRequest, LeaseIntent, LeaseSnapshot, Outcome, View};
use baton_store::Inspection;
use serde_json::Value;
use tokio_postgres::Row;
use tokio_postgres::types::{Json, PgLsn, Type};

use super::context::CallContext;
use crate::driver::DriverError;
use crate::reader::Access;

const BEAT: &str = "SELECT reply, view, lsn FROM {t}beat($1, $2::numeric, $3, $4, $5, $6)";

const INSPECT: &str = "SELECT lease, view, lsn, lineage FROM {t}inspect($1, $2::numeric, $3)";

/// The same for a reader, which may not begin a lineage: it shows the one that is written there.
const LOOK: &str = "SELECT {t}show({t}lease($1, false), clock_timestamp()), \
    (SELECT body FROM {t}views WHERE namespace = $1), pg_current_wal_flush_lsn(), \
    (SELECT lineage::text FROM {t}meta) AS lineage";

/// Carries a beat out, whole or not at all.
///
/// One round trip. A second one only if the data went back, to begin a new lineage: the first has
/// written nothing then but the node record, as no claim or renewal fits an earlier lease. The
/// position in the log tells too, unless others have written enough since to hide it.
pub(super) async fn beat(
    context: &CallContext<'_>,
    beat: &BeatRequest,
) -> Result<BeatReply, DriverError> {
    let leases = &context.engine.leases;
    let before = leases.of(context.namespace);
    let reply = beat_once(context, beat).await?;
    if !before.is_some_and(|seen| seen.is_ahead_of(&reply)) {
        leases.note(context.namespace, &reply);
        return Ok(reply);
    }
    // From now on every step of this handle begins a lineage above the one that is there.
    context.engine.note_seen(reply.lineage.0.saturating_add(1), PgLsn::from(0));
    if reply.outcome == Some(Outcome::Applied) {
        return Ok(reply);
    }
    let look = BeatRequest { lease: LeaseIntent::Observe, ..beat.clone() };
    let shown = beat_once(context, &look).await?;
    leases.note(context.namespace, &shown);
    Ok(BeatReply { outcome: reply.outcome, ..shown })
}

async fn beat_once(
    context: &CallContext<'_>,
    beat: &BeatRequest,
) -> Result<BeatReply, DriverError> {
    let profile = &*beat.node.profile;
    let described = serde_json::to_string(profile).expect("a profile is plain data");
    let lifeline = profile.lifeline.as_deref();
    let request = Json(without_profile(beat));
    let more: [super::context::Param<'_>; 3] =
        [(&request, Type::JSONB), (&described, Type::TEXT), (&lifeline, Type::TEXT)];
    let row = context.call(BEAT, &more).await?;
    let Json(mut reply): Json<BeatReply> = context.column(&row, 0)?;
    reply.view = view(context, &row, 1)?;
    context.engine.note_seen(reply.lineage.0, context.column(&row, 2)?);
    Ok(reply)
}

/// The request as the server reads it. What the node says of itself is kept as it is written, for
/// the server's JSON does not take every character.
fn without_profile(beat: &BeatRequest) -> Value {
    let mut request = serde_json::to_value(beat).expect("a beat is plain data");
    if let Some(node) = request.get_mut("node").and_then(Value::as_object_mut) {
        node.remove("profile");
    }
    request
}

/// The lease and the view, without taking part.
pub(super) async fn inspect(context: &CallContext<'_>) -> Result<Inspection, DriverError> {
    let row = match context.engine.access() {
        Access::Write => context.call(INSPECT, &[]).await?,
        Access::Read => context.only(context.rows(LOOK, &[]).await?)?,
    };
    let lease: Option<Json<LeaseSnapshot>> = context.column(&row, 0)?;
    let lineage = context.number(&row, "lineage")?;
    context.engine.note_seen(lineage, context.column(&row, 2)?);
    let lease = lease.map(|Json(lease)| lease);
    Ok(Inspection { lease, lineage: Lineage(lineage), view: view(context, &row, 1)? })
}

fn view(context: &CallContext<'_>, row: &Row, at: usize) -> Result<Option<Arc<View>>, DriverError> {
    let Some(body) = context.column::<Option<&str>>(row, at)? else { return Ok(None) };
    let read = serde_json::from_str(body).map(|view| Some(Arc::new(view)));
    read.map_err(|problem| context.corrupt(&format!("its view: {problem}")))
}
