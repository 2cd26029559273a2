//! The published view, and the lease and the view without taking part.

use std::sync::Arc;

use baton_core::ids::{Epoch, Lineage};
use baton_core::protocol::{Outcome, View};
use baton_store::Inspection;

use super::context::CallContext;
use super::lease;
use super::statement::{Text, literal};
use crate::driver::{DriverError, Record};

/// Publishes a view, unless a later epoch is known or this term has published a later one.
pub(super) async fn publish(
    context: &CallContext<'_>,
    fence: Epoch,
    view: &View,
) -> Result<Outcome, DriverError> {
    let body = serde_json::to_string(view).expect("it is plain data");
    let (epoch, number) = (view.version.epoch, view.version.number);
    let call = context.procedure("publish_view").with(fence).with(epoch).with(number);
    context.outcome(call.with(Text(&body))).await
}

/// Looks at a namespace and changes nothing. Where the next call would begin a new lineage, a later
/// one is shown already: a reader learns that the data went back, whatever its number will be.
pub(super) async fn inspect(context: &CallContext<'_>) -> Result<Inspection, DriverError> {
    let (prefix, identity) = (context.prefix(), context.engine.flavour.identity());
    let (namespace, seen) = (literal(context.namespace), context.engine.seen().0);
    let row = context.row(format!(
        "SELECT IF(m.identity = {identity} AND m.lineage >= {seen}, m.lineage, \
         GREATEST(m.lineage, {seen}) + 1) AS lineage, l.epoch, l.nonce_boot, l.nonce_attempt, \
         l.status, l.owner_id, l.owner_boot, l.owner_lifeline, l.successor, l.ttl, l.written_in, \
         l.asked, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), l.expires_at) AS left_us, \
         w.body AS view_body FROM `{prefix}meta` AS m \
         LEFT JOIN `{prefix}locks` AS l ON l.lock_key = {namespace} \
         LEFT JOIN `{prefix}views` AS w ON w.namespace = {namespace} WHERE m.one = 1"
    ));
    let (row, named) = (row.await?, lease::record(context.namespace));
    let record = Record::new(&row, &named);
    Ok(Inspection {
        lease: record.lease()?,
        lineage: Lineage(record.number("lineage")?),
        view: record.maybe_json("view_body")?.map(Arc::new),
    })
}
