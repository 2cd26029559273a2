//! Publishing the cluster's view.

use baton_core::ids::Epoch;
use baton_core::protocol::{Outcome, View};
use tokio_postgres::types::Type;

use super::context::{CallContext, Param};
use crate::driver::DriverError;

const PUBLISH: &str = "SELECT {t}publish($1, $2::numeric, $3, $4::numeric, $5::numeric, \
                       $6::numeric, $7, $8)";

/// Publishes a view, unless a later epoch is known or this term has published a later one.
pub(super) async fn publish(
    context: &CallContext<'_>,
    fence: Epoch,
    view: &View,
    hint: &str,
) -> Result<Outcome, DriverError> {
    let body = serde_json::to_string(view).expect("a view is plain data");
    let fence = fence.0.to_string();
    let (epoch, number) = (view.version.epoch.0.to_string(), view.version.number.to_string());
    let more: [Param<'_>; 5] = [
        (&fence, Type::TEXT),
        (&epoch, Type::TEXT),
        (&number, Type::TEXT),
        (&body, Type::TEXT),
        (&hint, Type::TEXT),
    ];
    context.outcome(PUBLISH, &more).await
}
