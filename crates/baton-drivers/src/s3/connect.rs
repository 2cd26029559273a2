//! The client: signed requests over HTTP/1.1, none of them repeated behind our back.

use std::time::Duration;

use object_store::RetryConfig;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut};
use rustls::{ClientConfig, RootCertStore};

use super::bucket::Bucket;
use super::config::S3Config;
use super::observing_client::ObservingClient;
use crate::OpenError;

/// Variables by which a platform hands credentials out, read when no keys are given.
const PLATFORM: [&str; 5] = [
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

/// No call takes longer, whatever the URL says.
const TIMEOUT_MAX: Duration = Duration::from_secs(3_600);

/// A client for the bucket. Connects to nothing yet.
pub(super) fn bucket(config: &S3Config) -> Result<Bucket, OpenError> {
    let tls = |detail| OpenError::Tls { store: "s3", place: config.place(), detail };
    let tls_config = tls_config(config).map_err(tls)?;
    let builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls_config)
        .http1_only()
        .retry(reqwest::retry::never())
        .redirect(reqwest::redirect::Policy::none())
        // So that a server that cannot be reached is told from one that does not answer.
        .connect_timeout(config.timeout * 2 / 3)
        .timeout(config.timeout);
    // A proxy of the network's has no business between this machine and itself.
    let builder = if config.is_local() { builder.no_proxy() } else { builder };
    let client = builder.build().map_err(|problem| config.strange(&problem))?;
    let client = ObservingClient(client);
    let store = signed(config, client.clone()).map_err(|problem| config.strange(&problem))?;
    let (url, region) = (url(config), config.region.clone());
    let timeout = config.timeout.min(TIMEOUT_MAX);
    Ok(Bucket { store, client, url, region, timeout })
}

/// Which authorities to trust. None, where nothing is encrypted: reading those of the system takes
/// longer than all the rest.
fn tls_config(config: &S3Config) -> Result<ClientConfig, String> {
    let plain = config.endpoint.as_deref().is_some_and(|it| it.starts_with("http://"));
    if !plain || config.tls.any() {
        return config.tls.client_config();
    }
    config.tls.with_roots(RootCertStore::empty())
}

fn signed(config: &S3Config, client: ObservingClient) -> object_store::Result<AmazonS3> {
    let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&config.bucket)
        .with_region(&config.region)
        .with_virtual_hosted_style_request(!config.path_style)
        .with_conditional_put(S3ConditionalPut::ETagMatch)
        .with_disable_bulk_delete(true)
        .with_retry(retry)
        .with_http_connector(client);
    if let Some(endpoint) = &config.endpoint {
        let plain = endpoint.starts_with("http://");
        // The library takes the endpoint of a bucket that stands before the host as a whole.
        let endpoint = if config.path_style { endpoint.clone() } else { url(config) };
        builder = builder.with_endpoint(endpoint).with_allow_http(plain);
    }
    match &config.keys {
        Some((access, secret, token)) => {
            builder = builder.with_access_key_id(access).with_secret_access_key(secret.reveal());
            if let Some(token) = token {
                builder = builder.with_token(token.reveal());
            }
        }
        None => {
            for name in PLATFORM {
                let key = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>();
                if let (Ok(key), Ok(value)) = (key, std::env::var(name)) {
                    builder = builder.with_config(key, value);
                }
            }
        }
    }
    builder.build()
}

fn url(config: &S3Config) -> String {
    let (bucket, region) = (&config.bucket, &config.region);
    let server = config.endpoint.clone().unwrap_or_else(|| match config.path_style {
        true => format!("https://s3.{region}.amazonaws.com"),
        false => format!("https://{bucket}.s3.{region}.amazonaws.com"),
    });
    match server.split_once("://") {
        _ if config.path_style => format!("{server}/{bucket}"),
        Some((scheme, host)) if config.endpoint.is_some() => format!("{scheme}://{bucket}.{host}"),
        _ => server,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buckets_address_follows_the_style() {
        let of = |rest| url(&S3Config::parse("s3", rest).expect("it is sound"));
        assert_eq!(of("b?endpoint=http://h:9000"), "http://h:9000/b");
        assert_eq!(of("b?endpoint=https://h&path_style=false"), "https://b.h");
        assert_eq!(of("b?region=eu-west-1"), "https://b.s3.eu-west-1.amazonaws.com");
        let path = of("b?region=eu-west-1&path_style=true");
        assert_eq!(path, "https://s3.eu-west-1.amazonaws.com/b");
    }
}
