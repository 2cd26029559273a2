//! The bucket, the address of its server, and the keys.

use std::time::Duration;

use crate::OpenError;
use crate::address::{Address, AddressError, Options, Secret};
use crate::driver::is_this_machine;
use crate::tls::TlsFiles;

const EXAMPLE: &str = "s3://bucket/prefix";

/// Where buckets are, if neither the URL nor a variable says so.
const REGION: &str = "us-east-1";

/// What a handle needs to know. Plain data; secrets are not shown.
#[derive(Clone, Debug)]
pub(super) struct S3Config {
    pub(super) bucket: String,
    /// What every key begins with; empty, or without a slash at either end.
    pub(super) prefix: String,
    /// The server, if it is not Amazon's: scheme, host and perhaps a port.
    pub(super) endpoint: Option<String>,
    pub(super) region: String,
    /// Access key, secret key and perhaps a session token; otherwise the client library looks.
    pub(super) keys: Option<(String, Secret, Option<Secret>)>,
    /// Does the bucket's name stand in the path, or before the host?
    pub(super) path_style: bool,
    pub(super) tls: TlsFiles,
    pub(super) timeout: Duration,
}

impl S3Config {
    pub(super) fn parse(scheme: &str, rest: &str) -> Result<Self, OpenError> {
        let (address, mut options) = Address::parse(scheme, rest, EXAMPLE, 0)?;
        let endpoint = options.take("endpoint").map(|it| it.trim_end_matches('/').to_owned());
        if endpoint.as_deref().is_some_and(|it| !is_endpoint(it)) {
            // It may be one with a login in it.
            let wanted = "give scheme and host, such as https://s3.example.org:9000";
            return Err(options.wrong("endpoint", "***", wanted).into());
        }
        let region = options.take("region");
        let access_key = options.take("access_key");
        let secret_key = options.secret("secret_key", None)?;
        let token = options.secret("session_token", None)?;
        let keys = match (access_key, secret_key) {
            (Some(access), Some(secret)) => Some((access, secret, token)),
            (None, None) => keys_of_variables(),
            (Some(_), None) => {
                return Err(options.wrong("access_key", "***", "give secret_key too").into());
            }
            (None, Some(_)) => {
                return Err(options.wrong("secret_key", "***", "give access_key too").into());
            }
        };
        const WANTED: &str = "give true or false";
        let path_style = options.parsed("path_style", WANTED)?.unwrap_or(endpoint.is_some());
        let tls = TlsFiles::take(&mut options)?;
        let timeout = options.timeout()?;
        let bucket = bucket(&address, &options)?;
        let region = region.or_else(|| variable("AWS_REGION"));
        let region = region.or_else(|| variable("AWS_DEFAULT_REGION"));
        let prefix = address.path.trim_matches('/').to_owned();
        options.finish()?;
        let region = region.unwrap_or_else(|| REGION.to_owned());
        Ok(Self { bucket, prefix, endpoint, region, keys, path_style, tls, timeout })
    }

    pub(super) fn place(&self) -> String {
        let server = self.endpoint.clone().unwrap_or_else(|| format!("aws {}", self.region));
        format!("{server}, bucket {}", self.bucket)
    }

    pub(super) fn strange(&self, detail: &dyn std::fmt::Display) -> OpenError {
        OpenError::Strange { store: "s3", place: self.place(), detail: detail.to_string() }
    }

    /// Does what is said travel in the open, over a wire that others may share?
    pub(super) fn is_open_to_others(&self) -> bool {
        let host = self.endpoint.as_deref().and_then(|it| it.strip_prefix("http://"));
        host.is_some_and(|host| !is_loopback(host))
    }

    pub(super) fn is_local(&self) -> bool {
        let host = self.endpoint.as_deref().and_then(|it| it.split_once("://"));
        host.is_some_and(|(_, host)| is_loopback(host))
    }
}

/// A bucket stands where other stores have their hosts.
fn bucket(address: &Address, options: &Options) -> Result<String, AddressError> {
    let wanted = "name one bucket, without a port; the server is named by endpoint=";
    match &address.hosts[..] {
        [(name, 0)] if address.user.is_none() => Ok(name.clone()),
        hosts => Err(options.wrong("bucket", &hosts[0].0, wanted)),
    }
}

fn is_endpoint(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| !host.is_empty() && !host.contains(['/', '@', '?']))
}

fn is_loopback(host: &str) -> bool {
    let name = host.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(name, _)| name);
    let name = name.unwrap_or_else(|| host.split(':').next().unwrap_or(host));
    is_this_machine(name)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn keys_of_variables() -> Option<(String, Secret, Option<Secret>)> {
    let (access, secret) = (variable("AWS_ACCESS_KEY_ID")?, variable("AWS_SECRET_ACCESS_KEY")?);
    Some((access, Secret::new(secret), variable("AWS_SESSION_TOKEN").map(Secret::new)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(rest: &str) -> Result<S3Config, OpenError> {
        S3Config::parse("s3", rest)
    }

    #[test]
    fn every_part_is_found_and_no_secret_shown() {
        let text = "locks/team/a/?endpoint=http://127.0.0.1:9000/&region=eu-west-1&access_key=me\
                    &secret_key=hush&session_token=hush&timeout_ms=5000";
        let config = parse(text).expect("it is sound");
        assert_eq!((config.bucket.as_str(), config.prefix.as_str()), ("locks", "team/a"));
        assert_eq!(config.place(), "http://127.0.0.1:9000, bucket locks");
        assert!(config.path_style && config.is_local() && !config.is_open_to_others());
        assert_eq!(config.timeout, Duration::from_secs(5));
        assert!(!format!("{config:?}").contains("hush"), "{config:?}");
        let aws = parse("locks?region=eu-west-1").expect("it is sound");
        assert_eq!((aws.prefix.as_str(), aws.path_style), ("", false));
        assert_eq!(aws.place(), "aws eu-west-1, bucket locks");
        let far = parse("locks?endpoint=http://storage:9000").expect("it is sound");
        assert!(far.is_open_to_others());
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let cases = [
            ("", "s3:// names no host; write s3://bucket/prefix"),
            ("locks:9000/x", "s3 option bucket is \"locks\"; name one bucket, without a port"),
            ("locks?endpoint=host:9000", "s3 option endpoint is \"***\"; give scheme and host"),
            ("locks?access_key=me", "s3 option access_key is \"***\"; give secret_key too"),
            ("locks?secret_key=hush", "s3 option secret_key is \"***\"; give access_key too"),
            ("locks?path_style=maybe", "s3 option path_style is \"maybe\"; give true or false"),
            ("locks?colour=red", "s3 option \"colour\" is unknown; known are "),
        ];
        for (rest, wanted) in cases {
            let refused = parse(rest).expect_err("must be refused").to_string();
            assert!(refused.starts_with(wanted), "{rest} gave {refused:?}");
        }
    }
}
