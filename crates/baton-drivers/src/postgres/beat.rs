//! One beat: the node record, the lease, and the view if it moved.

use std::sync::Arc;

use baton_core::ids::Lineage;
use baton_core::protocol::{BeatReply, BeatRequest, View};
use serde_json::Value;
use tokio_postgres::Row;
use tokio_postgres::types::{Json, PgLsn};

use super::context::{CallContext, jsonb, text};
use crate::driver::{BeatServer, DriverError};

const BEAT: &str = "SELECT reply, view, lsn FROM {t}beat($1, $2::numeric, $3, $4, $5, $6)";

impl CallContext<'_> {
    pub(super) fn view(&self, row: &Row, at: usize) -> Result<Option<Arc<View>>, DriverError> {
        let Some(body) = self.column::<Option<&str>>(row, at)? else { return Ok(None) };
        let read = serde_json::from_str(body).map(|view| Some(Arc::new(view)));
        read.map_err(|problem| self.corrupt(&format!("its view: {problem}")))
    }
}

impl BeatServer for CallContext<'_> {
    /// Carries a beat out, whole or not at all. That the data went back shows in the position in
    /// the log too, unless others have written enough since to hide it.
    async fn send(&self, beat: &BeatRequest) -> Result<BeatReply, DriverError> {
        let profile = &*beat.node.profile;
        let described = serde_json::to_string(profile).expect("a profile is plain data");
        let request = Json(without_profile(beat));
        let lifeline = profile.lifeline.as_deref();
        let more = [jsonb(&request), text(&described), text(&lifeline)];
        let row = self.call(BEAT, &more).await?;
        let Json(mut reply): Json<BeatReply> = self.column(&row, 0)?;
        reply.view = self.view(&row, 1)?;
        self.engine.note_seen(reply.lineage.0, self.column(&row, 2)?);
        Ok(reply)
    }

    fn note_seen(&self, lineage: Lineage) {
        self.engine.note_seen(lineage.0, PgLsn::from(0));
    }
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
