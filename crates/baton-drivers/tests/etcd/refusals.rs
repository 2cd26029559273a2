//! What cannot be a store is refused with one line that says what to do, and shows no secret.

use baton_testbed::{Kind, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::raw_client::RawClient;

/// Why the URL is refused.
pub async fn refusal(url: &str) -> String {
    let refused = baton_drivers::open(url).await.expect_err("it must be refused").to_string();
    assert!(!refused.contains('\n') && !refused.contains("hush"), "{refused}");
    refused
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_there_or_not_etcd_is_told() {
    let cases = [
        (
            "etcd://127.0.0.1:1?timeout_ms=500",
            "etcd at 127.0.0.1:1 cannot be reached (Connection refused",
        ),
        (
            "etcd://me:hush@127.0.0.1:1,127.0.0.1:2?timeout_ms=500",
            "etcd at 127.0.0.1:1,127.0.0.1:2 cannot be reached (Connection refused",
        ),
        ("etcd://127.0.0.1?colour=red", "etcd option \"colour\" is unknown; known are "),
        ("etcd://127.0.0.1?timeout_ms=0", "etcd option timeout_ms is \"0\"; give whole"),
        ("etcd://127.0.0.1?tls_ca=/no/such", "etcd at 127.0.0.1:2379: TLS cannot be set up"),
        ("etcd://me@127.0.0.1?password_env=BATON_NO_SUCH", "etcd option password_env names the"),
    ];
    for (url, wanted) in cases {
        let refused = refusal(url).await;
        assert!(refused.starts_with(wanted), "{url} gave {refused:?}");
    }

    // Something that speaks HTTP, and something that says nothing.
    let other = TcpListener::bind("127.0.0.1:0").await.expect("there is a port left");
    let address = other.local_addr().expect("it is bound");
    let (answers, url) = (http(other), format!("etcd://{address}?timeout_ms=500"));
    let refused = tokio::select! {
        refused = refusal(&url) => refused,
        () = answers => unreachable!("it answers for ever"),
    };
    let wanted = format!(
        "etcd at {address} gave an answer that no etcd server gives (HTTP status 404; is it 3.4 \
         or later, with its gRPC gateway on?)"
    );
    assert_eq!(refused, wanted);
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("there is a port left");
    let address = silent.local_addr().expect("it is bound");
    let refused = refusal(&format!("etcd://{address}?timeout_ms=300")).await;
    let wanted = format!(
        "etcd at {address} cannot be reached (no answer in time); is the server running, \
         and is the address right?"
    );
    assert_eq!(refused, wanted);
}

/// A web server that has nothing.
async fn http(listener: TcpListener) {
    loop {
        let (mut stream, _) = listener.accept().await.expect("it listens");
        let mut buffer = [0; 4_096];
        let _ = stream.read(&mut buffer).await;
        let answer =
            "HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\nconnection: close\r\n\r\nno.\n";
        let _ = stream.write_all(answer.as_bytes()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_later_format_is_used_if_it_allows_this_program() {
    let server = Server::start(Kind::Etcd).await.expect("etcd can be started");
    let (url, place) = (server.url(), server.address());
    drop(crate::fixture::open(&url).await);
    let client = RawClient::on(place);
    for key in ["baton/format", "baton/compatible"] {
        assert_eq!(client.under(key).await, [(key.to_owned(), b"1".to_vec())]);
    }
    client.put("baton/format", "7").await;
    drop(crate::fixture::open(&url).await);
    assert!(baton_drivers::open_to_read(&url).await.is_ok());
    assert_eq!(client.under("baton/format").await[0].1, b"7", "it stays of the later version");
    let refused_by = async |needed: u32| {
        let wanted = format!(
            "etcd at {place} has schema version 7, which needs a program that knows version \
             {needed} or later, and this program knows 1; use a newer version of it"
        );
        assert_eq!(refusal(&url).await, wanted);
        let reader = baton_drivers::open_to_read(&url).await.expect_err("it is refused");
        assert_eq!(reader.to_string(), wanted);
    };
    client.put("baton/compatible", "2").await;
    refused_by(2).await;
    client.delete("baton/compatible").await;
    refused_by(7).await;
    // What a version before the lowest compatible one has written.
    client.put("baton/format", "1").await;
    drop(crate::fixture::open(&url).await);

    client.put("baton/format", "a poem").await;
    let refused = refusal(&url).await;
    assert!(refused.contains("baton/format is not a version"), "{refused}");
    // Another prefix is another store.
    drop(crate::fixture::open(&format!("{url}/elsewhere")).await);
    assert_eq!(client.under("elsewhere/").await.len(), 2);
}
