//! What cannot be opened: one line, what to do, and no secret in it.

use baton_core::protocol::Claim;
use baton_store::{FindingLevel, Store};
use baton_testbed::contender::{Contender, namespace};

use crate::certificates::Certificates;
use crate::fixture::open;
use crate::fixture::{run, server};

async fn refused(url: &str) -> String {
    let message = baton_drivers::open(url).await.expect_err("it must be refused").to_string();
    assert!(!message.contains("hush") && !message.contains('\n'), "{message}");
    message
}

#[tokio::test]
async fn a_server_that_is_not_there_or_says_nothing() {
    let message = refused("redis://me:hush@127.0.0.1:1/0").await;
    assert!(message.starts_with("redis at 127.0.0.1:1 cannot be reached ("), "{message}");
    let server = server(&[]).await;
    server.pause().expect("it is ours");
    let message = refused(&format!("{}?timeout_ms=200", server.url())).await;
    let place = server.address();
    let wanted = format!("redis at {place} cannot be reached (no answer within 200 ms)");
    assert!(message.starts_with(&wanted), "{message}");
    server.resume().expect("it is ours");
    let message = refused(&format!("{}?colour=red", server.url())).await;
    assert!(message.starts_with("redis option \"colour\" is unknown; known are "), "{message}");
}

#[tokio::test]
async fn passwords_come_from_the_url_a_file_or_a_variable() {
    let server = server(&[]).await;
    // A test sets no variable of its own process: one that is there serves as well.
    let variable = format!(">{}", std::env::var("PATH").expect("every process has one"));
    let words = ["ACL", "SETUSER", "default", "resetpass", ">hush", &variable, "on"];
    let _: () = run(&server, &words).await;
    let place = server.address();
    for url in [format!("redis://{place}"), format!("redis://:hushed@{place}")] {
        let message = refused(&url).await;
        assert!(message.contains("refuses this user"), "{message}");
        assert!(message.ends_with("check user and password"), "{message}");
    }
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("password");
    std::fs::write(&file, "hush\n").expect("it can be written");
    for url in [
        format!("redis://:hush@{place}"),
        format!("redis://default:hush@{place}/3"),
        format!("redis://{place}?password_file={}", file.display()),
        format!("redis://{place}?password_env=PATH"),
    ] {
        let store = open(&url).await;
        Contender::new(&store, &namespace("web"), 1).look().await;
    }
}

#[tokio::test]
async fn tls_with_the_right_authority_and_a_certificate_of_ones_own() {
    let made = Certificates::make();
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = free.local_addr().expect("it is bound").port().to_string();
    drop(free);
    let files = ["server.pem", "server.key", "ca.pem"].map(|name| made.text(name));
    let [cert, key, ca] = &files;
    let words = ["--tls-port", &port, "--tls-cert-file", cert, "--tls-key-file", key];
    let _server =
        server(&[&words[..], &["--tls-ca-cert-file", ca, "--tls-auth-clients", "yes"]].concat())
            .await;
    let url = |ca: &str, own: bool| {
        let (cert, key) = (made.text("client.pem"), made.text("client.key"));
        let own = if own { format!("&tls_cert={cert}&tls_key={key}") } else { String::new() };
        format!("rediss://127.0.0.1:{port}/0?tls_ca={}{own}", made.text(ca))
    };
    let store = open(&url("ca.pem", true)).await;
    Contender::new(&store, &namespace("web"), 1).take(Claim::Vacant).await;
    assert!(store.hints(&namespace("web")).await.is_ok());
    for (ca, own) in [("stranger.pem", true), ("ca.pem", false), ("no-such.pem", true)] {
        let message = refused(&url(ca, own)).await;
        assert!(message.contains(": TLS cannot be set up ("), "{ca}: {message}");
    }
}

/// What `examine` says of this.
async fn verdict(store: &dyn Store, check: &str) -> FindingLevel {
    let findings = store.examine().await.expect("it may look");
    let finding = findings.iter().find(|finding| finding.check == check);
    let finding = finding.expect("it is looked at");
    assert_eq!(finding.remedy.is_some(), finding.verdict != FindingLevel::Ok, "{finding:?}");
    finding.verdict
}

#[tokio::test]
async fn settings_that_weaken_a_promise_are_told() {
    let server = server(&[]).await;
    let store = open(&server.url()).await;
    let cases = [
        ("maxmemory", "100mb", "eviction", FindingLevel::Ok),
        ("maxmemory-policy", "allkeys-lru", "eviction", FindingLevel::Fail),
        ("maxmemory-policy", "volatile-lru", "eviction", FindingLevel::Ok),
        ("maxmemory", "1mb", "memory", FindingLevel::Warn),
        ("maxmemory", "0", "memory", FindingLevel::Ok),
        ("appendfsync", "no", "persistence", FindingLevel::Warn),
        ("appendfsync", "always", "persistence", FindingLevel::Ok),
        ("appendonly", "no", "persistence", FindingLevel::Fail),
        ("save", "3600 1", "persistence", FindingLevel::Warn),
        ("timeout", "30", "timeout", FindingLevel::Warn),
    ];
    for (setting, value, check, wanted) in cases {
        let _: () = run(&server, &["CONFIG", "SET", setting, value]).await;
        assert_eq!(verdict(&*store, check).await, wanted, "{setting} {value}");
    }
}
