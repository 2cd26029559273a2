//! What cannot be a store is refused with one line that says what to do, and shows no secret.

use std::sync::Arc;

use baton_drivers::open;
use baton_testbed::contender::{Contender, fresh_namespace};
use baton_testbed::subject::Fixture;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::fixture::S3Fixture;
use crate::http_proxy::{HttpProxy, Reaction, SentRequest};

/// The store's URL with another prefix: what was found fit under one is not asked again.
fn under(prefix: &str, url: &str) -> String {
    url.replace("/test?", &format!("/{prefix}?"))
}

/// Why the URL is refused.
async fn refusal(url: &str) -> String {
    let refused = open(url).await.expect_err("it must be refused").to_string();
    assert!(!refused.contains('\n') && !refused.contains("hush"), "{refused}");
    refused
}

/// A server that ignores conditions would let two nodes lead.
#[tokio::test]
async fn a_server_that_ignores_conditions_is_refused_by_what_it_ignores() {
    let site = S3Fixture::start().await;
    let http_proxy = HttpProxy::of(site.server.address(), None);
    let url = site.server.url_at(http_proxy.address);
    let cannot = "cannot be trusted with a lease: ";
    type React = fn(&SentRequest) -> Reaction;
    let cases: [(React, &str); 5] = [
        (
            |_| Reaction::Unconditional,
            "If-None-Match: * was ignored: a second create was answered 200; ",
        ),
        (
            |asked| match asked.if_match.is_some() {
                true => Reaction::Unconditional,
                false => Reaction::Forward,
            },
            "If-Match was ignored: a write on an ETag that never was is answered 200; ",
        ),
        (
            |asked| match asked.if_match.is_some() {
                true => Reaction::Answer(412, "PreconditionFailed"),
                false => Reaction::Forward,
            },
            "If-Match with the ETag that was just given is refused; ",
        ),
        (
            |asked| match asked.if_none_match.is_some() {
                true => Reaction::Answer(501, "NotImplemented"),
                false => Reaction::Forward,
            },
            "501 NotImplemented: conditional writes are not implemented; ",
        ),
        (
            |asked| match asked.method == "GET" && !asked.lists() {
                true => Reaction::Answer(404, "NoSuchKey"),
                false => Reaction::Forward,
            },
            "a read after a write does not show what was written; ",
        ),
    ];
    for (number, (react, finding)) in cases.into_iter().enumerate() {
        http_proxy.react(react);
        let refused = refusal(&under(&format!("unfit-{number}"), &url)).await;
        assert!(refused.contains(cannot) && refused.contains(finding), "{refused}");
    }
    // Nothing is left behind by those that could be asked to remove it.
    http_proxy.react(|_| Reaction::Forward);
    assert!(open(&under("unfit-0", &url)).await.is_ok());
    http_proxy.requests();
    assert!(open(&under("unfit-0", &url)).await.is_ok());
    assert_eq!(http_proxy.requests(), [], "what was found fit is not tried out again");
}

#[tokio::test]
async fn the_wrong_keys_place_or_bucket_are_named() {
    let site = S3Fixture::start().await;
    let http_proxy = HttpProxy::of(site.server.address(), None);
    let url = site.server.url_at(http_proxy.address).replace("secret_key=test", "secret_key=hush");
    let answers = [
        (403, "InvalidAccessKeyId", "refuses this user (PUT "),
        (403, "SignatureDoesNotMatch", "refuses this user (PUT "),
        (403, "RequestTimeTooSkewed", "this machine's clock is off by more than 15 minutes"),
        (403, "AccessDenied", "this user may not PUT "),
        (301, "PermanentRedirect", "the bucket is in another region; set region="),
        (503, "ServiceUnavailable", "cannot be reached (PUT "),
    ];
    for (status, code, wanted) in answers {
        http_proxy.react(move |_| Reaction::Answer(status, code));
        let refused = refusal(&under("keys", &url)).await;
        assert!(refused.contains(wanted) && refused.contains(code), "{refused}");
    }
    http_proxy.react(|_| Reaction::Answer(404, "NoSuchBucket"));
    let refused = refusal(&under("keys", &url)).await;
    let wanted = "the bucket is missing; create it, or check its name, region and endpoint";
    assert!(refused.ends_with(wanted), "{refused}");
    let refused = refusal(&under("a//b", &url)).await;
    assert!(refused.contains("a//b"), "{refused}");

    // A port without a listener: the one in front is gone.
    drop(http_proxy);
    let refused = refusal(&under("gone", &url)).await;
    assert!(refused.contains("cannot be reached ("), "{refused}");
    assert!(refused.contains("is the server running, and is the address right?"), "{refused}");
}

#[tokio::test]
async fn secrets_come_from_a_variable_or_a_file() {
    let site = S3Fixture::start().await;
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("key");
    std::fs::write(&file, "hush\n").expect("it can be written");
    let from = |option: &str| site.url().replace("secret_key=test", option);
    assert!(open(&from(&format!("secret_key_file={}", file.display()))).await.is_ok());
    assert!(open(&from("secret_key_env=PATH")).await.is_ok());
    let refused = refusal(&from("secret_key_env=BATON_NO_SUCH")).await;
    assert_eq!(
        refused,
        "s3 option secret_key_env names the variable BATON_NO_SUCH, which is not set"
    );
    let refused = refusal(&from("secret_key=hush&secret_key_env=PATH")).await;
    assert_eq!(refused, "s3 options secret_key and secret_key_env are both given; give one");
    let refused = refusal(&format!("{}&colour=red", site.url())).await;
    assert!(refused.starts_with("s3 option \"colour\" is unknown; known are "), "{refused}");
}

#[tokio::test]
async fn a_certificate_is_checked_against_the_authority_that_is_named() {
    let site = S3Fixture::start().await;
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = |name: &str| folder.path().join(name).display().to_string();
    for name in ["ours", "other"] {
        let made = std::process::Command::new("openssl")
            .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj"])
            .args(["/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-addext"])
            .args(["basicConstraints=critical,CA:FALSE", "-keyout"])
            .args([path(&format!("{name}.key")), "-out".to_owned(), path(&format!("{name}.pem"))])
            .stderr(std::process::Stdio::null())
            .status();
        assert!(made.is_ok_and(|status| status.success()), "openssl is needed for this test");
    }
    let certificate = CertificateDer::from_pem_file(path("ours.pem")).expect("it was just made");
    let key = PrivateKeyDer::from_pem_file(path("ours.key")).expect("it was just made");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has them")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("they belong together");
    let http_proxy = HttpProxy::of(site.server.address(), Some(Arc::new(tls)));
    let url = site.server.url_at(http_proxy.address).replace("endpoint=http:", "endpoint=https:");

    let store = open(&format!("{url}&tls_ca={}", path("ours.pem"))).await;
    let store = store.expect("the authority is the one that signed");
    let web = fresh_namespace("web");
    assert!(Contender::new(&store, &web, 1).try_look().await.is_ok());
    let other = refusal(&under("other", &format!("{url}&tls_ca={}", path("other.pem")))).await;
    assert!(other.contains("cannot be reached (") && other.contains("certificate"), "{other}");
    let system = refusal(&under("system", &url)).await;
    assert!(system.contains("certificate"), "{system}");
    let missing = refusal(&format!("{url}&tls_ca={}", path("missing.pem"))).await;
    assert!(
        missing.contains("TLS cannot be set up (") && missing.contains("missing.pem"),
        "{missing}"
    );
}
