//! What the proxy counts.

use baton_testbed::{Counts, Proxy};

use crate::echo::{Echo, Heard, connect, say};

#[tokio::test]
async fn round_trips_connections_and_bytes_are_counted() {
    let echo = Echo::start().await;
    let proxy = Proxy::to(echo.address).await;
    assert_eq!(proxy.counts(), Counts::default());
    for _ in 0..2 {
        let mut client = connect(&proxy).await;
        for _ in 0..3 {
            assert_eq!(say(&mut client).await, Heard::Echo);
        }
    }
    let wanted = Counts { connections: 2, round_trips: 6, bytes_up: 24, bytes_down: 24 };
    assert_eq!(proxy.counts(), wanted);
}

/// It has a thread of its own.
#[tokio::test]
async fn it_works_while_the_test_is_blocked() {
    use std::io::{Read, Write};
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let proxy = Proxy::to(server.local_addr().expect("it listens")).await;
    let mut client = std::net::TcpStream::connect(proxy.address()).expect("the proxy listens");
    client.write_all(b"word").expect("the proxy listens");
    let (mut accepted, _) = server.accept().expect("the proxy connects");
    let mut word = [0; 4];
    accepted.read_exact(&mut word).expect("the word is passed on");
    assert_eq!(&word, b"word");
    let address = proxy.address();
    drop(proxy);
    assert!(std::net::TcpStream::connect(address).is_err(), "the proxy is still there");
}
