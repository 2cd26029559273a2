//! What a server lives through.

use std::time::Duration;

use baton_store::clock::{Clock, SystemClock};
use baton_testbed::{Kind, Options, Server, TestbedError};

use crate::client::{has, write};

/// It keeps what it was given through a kill and through a stop, and is gone when it is dropped.
async fn assert_lives(kind: Kind) {
    let options = Options::default();
    let server = Server::start_with(kind, options).await.expect("it can be started");
    let (folder, url) = (server.folder().expect("it is ours").to_path_buf(), server.url());
    write(&server);
    assert!(has(&server));

    let first = server.pid().expect("it runs");
    server.kill().await.expect("it is ours");
    assert_eq!(server.pid(), None);
    assert!(std::net::TcpStream::connect(server.address()).is_err(), "a process still listens");
    server.start_again().await.expect("it starts again");
    assert_ne!(server.pid(), Some(first));
    assert_eq!(server.url(), url);
    assert!(has(&server), "lost by kill -9");

    server.stop().await.expect("it is ours");
    assert!(matches!(server.pause(), Err(TestbedError::NotRunning { .. })));
    server.start_again().await.expect("it starts again");
    assert!(has(&server), "lost by a stop");

    server.pause().expect("it runs");
    let address = server.address();
    let asked = async {
        let mut answer = [0; 1];
        let mut stream = tokio::net::TcpStream::connect(address).await.expect("the kernel does");
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"PING\r\n\r\n").await.expect("it does");
        let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut answer).await;
    };
    let silent = tokio::select! {
        () = asked => false,
        () = SystemClock.sleep(Duration::from_millis(200)) => true,
    };
    assert!(silent, "it answered while it was paused");
    server.resume().expect("it runs");
    assert!(has(&server), "lost by a pause");
    // Counted in hundredths of a second, which takes some of them a while.
    let until = SystemClock.now() + Duration::from_secs(30);
    while server.cpu().expect("it runs").is_zero() && SystemClock.now() < until {
        assert!(has(&server));
    }
    assert!(server.cpu().expect("it runs") > Duration::ZERO);

    drop(server);
    assert!(std::net::TcpStream::connect(address).is_err(), "a process still listens");
    assert!(!folder.exists(), "the folder is left behind");
}

#[tokio::test]
async fn postgres() {
    assert_lives(Kind::Postgres).await;
}

#[tokio::test]
async fn mariadb() {
    assert_lives(Kind::Mariadb).await;
}

#[tokio::test]
async fn redis() {
    assert_lives(Kind::Redis).await;
}

#[tokio::test]
async fn etcd() {
    assert_lives(Kind::Etcd).await;
}

#[tokio::test]
async fn ministack() {
    assert_lives(Kind::Ministack).await;
}
