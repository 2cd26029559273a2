//! One beat, and a look without taking part.

use std::sync::Arc;

use baton_core::ids::Lineage;
use baton_core::protocol::{BeatReply, BeatRequest, LeaseSnapshot, View};
use baton_store::Inspection;
use serde_json::Value;
use tokio_postgres::Row;
use tokio_postgres::types::{Json, Type};

use super::error::Fault;
use super::step::Step;

const BEAT: &str = "SELECT reply, view, lsn FROM {t}beat($1, $2::numeric, $3, $4, $5, $6)";

const INSPECT: &str = "SELECT lease, view, lsn, lineage FROM {t}inspect($1, $2::numeric, $3)";

/// Carries a beat out, whole or not at all.
pub(super) async fn beat(step: &Step<'_>, beat: &BeatRequest) -> Result<BeatReply, Fault> {
    let profile = &*beat.node.profile;
    let described = serde_json::to_string(profile).expect("a profile is plain data");
    let lifeline = profile.lifeline.as_deref();
    let request = Json(without_profile(beat));
    let more: [super::step::Param<'_>; 3] =
        [(&request, Type::JSONB), (&described, Type::TEXT), (&lifeline, Type::TEXT)];
    let row = step.call(BEAT, &more).await?;
    let Json(mut reply): Json<BeatReply> = step.column(&row, 0)?;
    reply.view = view(step, &row, 1)?;
    step.links.saw(reply.lineage.0, step.column(&row, 2)?);
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
pub(super) async fn inspect(step: &Step<'_>) -> Result<Inspection, Fault> {
    let row = step.call(INSPECT, &[]).await?;
    let lease: Option<Json<LeaseSnapshot>> = step.column(&row, 0)?;
    let lineage = step.number(&row, 3)?;
    step.links.saw(lineage, step.column(&row, 2)?);
    let lease = lease.map(|Json(lease)| lease);
    Ok(Inspection { lease, lineage: Lineage(lineage), view: view(step, &row, 1)? })
}

fn view(step: &Step<'_>, row: &Row, at: usize) -> Result<Option<Arc<View>>, Fault> {
    let Some(body) = step.column::<Option<&str>>(row, at)? else { return Ok(None) };
    let read = serde_json::from_str(body).map(|view| Some(Arc::new(view)));
    read.map_err(|problem| step.strange(&format!("its view: {problem}")))
}
