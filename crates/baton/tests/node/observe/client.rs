//! As much of an HTTP client as these tests need.

use std::net::SocketAddr;

use baton::Node;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::parse::Scrape;
use crate::cluster::soon;

/// Port 0 of the loopback interface.
pub fn anywhere() -> SocketAddr {
    "127.0.0.1:0".parse().expect("an address")
}

/// What was answered.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

/// Where a node answers.
pub fn address(node: &Node) -> SocketAddr {
    node.metrics_endpoint().expect("it was told to answer")
}

/// Asks, and waits for the whole answer: the other side closes after one.
pub async fn ask(address: SocketAddr, method: &str, path: &str) -> Answer {
    send(address, &format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n\r\n")).await
}

/// Sends these very bytes, and waits for the whole answer.
pub async fn send(address: SocketAddr, request: &str) -> Answer {
    let asking = async {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        stream.write_all(request.as_bytes()).await.expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("it answers in text");
        answer
    };
    let answer = soon("an answer", asking).await;
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.expect("a status line");
    Answer { status, head: head.to_lowercase(), body: body.to_owned() }
}

/// The status of a GET.
pub async fn status(node: &Node, path: &str) -> u16 {
    ask(address(node), "GET", path).await.status
}

/// Asks until this status comes, and gives that answer.
pub async fn answers(node: &Node, path: &str, wanted: u16) -> Answer {
    let asking = async {
        loop {
            let answer = ask(address(node), "GET", path).await;
            if answer.status == wanted {
                break answer;
            }
        }
    };
    soon(&format!("{wanted} at {path}"), asking).await
}

/// The figures of a node, read strictly.
pub async fn scrape(node: &Node) -> Scrape {
    let answer = ask(address(node), "GET", "/metrics").await;
    assert_eq!(answer.status, 200);
    assert!(answer.head.contains("content-type: text/plain; version=0.0.4"), "{}", answer.head);
    Scrape::read(&answer.body)
}
