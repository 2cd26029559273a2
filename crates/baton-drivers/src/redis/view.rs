//! The published view.

use std::sync::Arc;

use baton_core::ids::{Epoch, Namespace};
use baton_core::protocol::{Hint, Outcome, View};
use baton_store::StoreError;

use super::context::CallContext;
use super::script::Arguments;
use crate::driver::DriverError;

impl CallContext<'_> {
    pub(super) async fn publish_view(
        &self,
        fence: Epoch,
        view: &View,
        hint: &Option<Hint>,
    ) -> Result<Outcome, StoreError> {
        let arguments = Arguments::default()
            .text(fence)
            .text(view.version.epoch)
            .text(view.version.number)
            .json(view)
            .text(self.channel())
            .json(hint);
        self.outcome(&self.engine.scripts.publish_view, arguments).await
    }
}

/// A view that a script showed.
pub(super) fn read(
    namespace: &Namespace,
    body: Option<String>,
) -> Result<Option<Arc<View>>, DriverError> {
    let view = body.map(|body| serde_json::from_str(&body)).transpose();
    view.map_err(|problem| {
        DriverError::corrupt(format!("the view of namespace {namespace}"), problem.to_string())
    })
}
