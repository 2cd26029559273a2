//! Providers that send to a collector: OTLP over HTTP, protobuf, in batches, from threads of their
//! own.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry_otlp::{
    ExporterBuildError, MetricExporter, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;

use super::Telemetry;

/// How long the collector may take for one batch.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Why nothing can be sent to a collector.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// Give a base URL. It is not repeated: a secret may be in it.
    #[error("the collector's URL cannot be used ({problem}); write http://127.0.0.1:4318")]
    Url {
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The system gives no client.
    #[error("no HTTP client for the collector ({0})")]
    Client(String),
}

impl Telemetry {
    /// To the collector at this base URL, such as `http://127.0.0.1:4318`, in the name of this
    /// service. The variables of OpenTelemetry's SDK hold: `OTEL_TRACES_SAMPLER`,
    /// `OTEL_METRIC_EXPORT_INTERVAL`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_EXPORTER_OTLP_HEADERS`.
    pub fn otlp(url: &str, service: &str) -> Result<Self, TelemetryError> {
        if !url.starts_with("http://") && !url.starts_with("https://") {
            let problem = "it begins with neither http:// nor https://";
            return Err(TelemetryError::Url { problem });
        }
        let base = url.trim_end_matches('/');
        let client = client()?;
        let unusable =
            |_: ExporterBuildError| TelemetryError::Url { problem: "it is no URL of a server" };
        let spans = SpanExporter::builder()
            .with_http()
            .with_http_client(client.clone())
            .with_endpoint(format!("{base}/v1/traces"))
            .with_timeout(TIMEOUT)
            .build()
            .map_err(unusable)?;
        let metrics = MetricExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_endpoint(format!("{base}/v1/metrics"))
            .with_timeout(TIMEOUT)
            .build()
            .map_err(unusable)?;
        let resource = Resource::builder().with_service_name(service.to_owned()).build();
        let tracers = SdkTracerProvider::builder()
            .with_resource(resource.clone())
            .with_batch_exporter(spans)
            .build();
        let meters =
            SdkMeterProvider::builder().with_resource(resource).with_periodic_exporter(metrics);
        Ok(Self::new(tracers, meters.build()))
    }
}

/// Made on a thread of its own: it must not be made on one that runs futures.
fn client() -> Result<reqwest::blocking::Client, TelemetryError> {
    let made = std::thread::scope(|scope| scope.spawn(blocking_client).join());
    made.unwrap_or_else(|_| Err(TelemetryError::Client("its construction panicked".to_owned())))
}

fn blocking_client() -> Result<reqwest::blocking::Client, TelemetryError> {
    let mut roots = rustls::RootCertStore::empty();
    // A machine without certificates can still reach a collector without TLS.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|problem| TelemetryError::Client(problem.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let client = reqwest::blocking::Client::builder().tls_backend_preconfigured(tls);
    let client = client.timeout(TIMEOUT).build();
    client.map_err(|problem| TelemetryError::Client(problem.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_url_is_refused_with_one_that_is() {
        for url in ["", "127.0.0.1:4318", "ftp://x", "http://a b"] {
            let refused = Telemetry::otlp(url, "test").expect_err(url).to_string();
            assert!(refused.starts_with("the collector's URL cannot be used (it "), "{refused}");
            assert!(refused.ends_with("write http://127.0.0.1:4318"), "{refused}");
        }
    }
}
