//! Traces and metrics for a collector, if one was named and this program can tell it anything.

use baton::NodeBuilder;

use crate::config::Config;
use crate::error::CommandError;

/// What is sent to a collector. Dropped after the node, so that its end is told too.
pub struct Telemetry {
    #[cfg(feature = "otel")]
    sent: Option<baton::Telemetry>,
}

#[cfg(feature = "otel")]
impl Telemetry {
    /// As it was configured.
    pub fn of(config: &Config) -> Result<Self, CommandError> {
        let told = config.otlp.as_deref().map(|url| baton::Telemetry::otlp(url, "baton"));
        let sent = told.transpose().map_err(|problem| CommandError::Telemetry(problem.to_string()));
        Ok(Self { sent: sent? })
    }

    /// The node tells of itself from its start on.
    pub fn told(&self, builder: NodeBuilder) -> NodeBuilder {
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

    /// The node tells nobody.
    pub fn told(&self, builder: NodeBuilder) -> NodeBuilder {
        builder
    }
}
