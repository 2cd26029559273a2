//! Traces and metrics for a collector, if one is configured and the program was built for it.

use baton::NodeBuilder;

use crate::config::Config;
use crate::error::CommandError;

/// What is sent to a collector. Dropped after the node, so that the end of the node is sent as
/// well.
pub struct Telemetry {
    #[cfg(feature = "otel")]
    sent: Option<baton::Telemetry>,
}

#[cfg(feature = "otel")]
impl Telemetry {
    /// As it was configured.
    pub fn of(config: &Config) -> Result<Self, CommandError> {
        let telemetry = config.otlp.as_deref().map(|url| baton::Telemetry::otlp(url, "baton"));
        let sent =
            telemetry.transpose().map_err(|problem| CommandError::Telemetry(problem.to_string()));
        Ok(Self { sent: sent? })
    }

    /// The node sends traces and metrics from its start on.
    pub fn attach(&self, builder: NodeBuilder) -> NodeBuilder {
        match &self.sent {
            Some(telemetry) => builder.telemetry(telemetry.clone()),
            None => builder,
        }
    }
}

#[cfg(feature = "otel")]
impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(telemetry) = &self.sent {
            telemetry.shutdown();
        }
    }
}

#[cfg(not(feature = "otel"))]
impl Telemetry {
    /// Refused if a collector was named.
    pub fn of(config: &Config) -> Result<Self, CommandError> {
        match &config.otlp {
            None => Ok(Self {}),
            Some(_) => Err(CommandError::Telemetry(
                "this program was built without OpenTelemetry; build it with --features otel"
                    .to_owned(),
            )),
        }
    }

    /// Without OpenTelemetry the node stays as it is.
    pub fn attach(&self, builder: NodeBuilder) -> NodeBuilder {
        builder
    }
}
