//! The published view, and what an onlooker sees of a namespace.

use std::sync::Arc;

use baton_core::ids::{Epoch, Lineage, Namespace};
use baton_core::protocol::View;
use baton_store::{Inspection, StoreError};
use mysql_async::Row;

use super::lease;
use super::row::only;
use super::statement::{Statement, Text, literal};

/// The call that publishes a view.
pub(super) fn publish(
    prefix: &str,
    namespace: &Namespace,
    seen: Lineage,
    fence: Epoch,
    view: &View,
) -> String {
    let body = serde_json::to_string(view).expect("it is plain data");
    Statement::call(prefix, "publish_view")
        .with(namespace)
        .with(seen)
        .with(fence)
        .with(view.version.epoch)
        .with(view.version.number)
        .with(Text(&body))
        .text()
}

/// Looks at a namespace and changes nothing. Where the next step would begin a new lineage, a later
/// one is shown already: whoever looks learns that the data went back, whatever its number will be.
pub(super) fn inspect(
    prefix: &str,
    identity: &str,
    namespace: &Namespace,
    seen: Lineage,
) -> String {
    let (namespace, seen) = (literal(namespace), seen.0);
    format!(
        "SELECT IF(m.identity = {identity} AND m.lineage >= {seen}, m.lineage, \
         GREATEST(m.lineage, {seen}) + 1) AS lineage, l.epoch, l.nonce_boot, l.nonce_attempt, \
         l.status, l.owner_id, l.owner_boot, l.owner_lifeline, l.successor, l.ttl, l.written_in, \
         l.asked, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), l.expires_at) AS left_us, \
         w.body AS view_body FROM `{prefix}meta` AS m \
         LEFT JOIN `{prefix}locks` AS l ON l.lock_key = {namespace} \
         LEFT JOIN `{prefix}views` AS w ON w.namespace = {namespace} WHERE m.one = 1"
    )
}

/// What an onlooker sees.
pub(super) fn inspection(rows: &[Row], namespace: &Namespace) -> Result<Inspection, StoreError> {
    let record = lease::record(namespace);
    let columns = only(rows, &record)?;
    Ok(Inspection {
        lease: lease::snapshot(&columns)?,
        lineage: Lineage(columns.number("lineage")?),
        view: columns.maybe_json("view_body")?.map(Arc::new),
    })
}
