//! What each fault does to a client.

use std::time::Duration;

use baton_store::clock::{Clock, SystemClock};
use baton_testbed::{ConnectionFault, Proxy};
use tokio::io::AsyncWriteExt;

use crate::echo::{Echo, Heard, connect, hear, is_silent, knock, say};

#[tokio::test]
async fn without_a_fault_everything_passes_and_an_end_is_an_end() {
    let echo = Echo::start().await;
    let proxy = Proxy::to(echo.address).await;
    let mut client = connect(&proxy).await;
    assert_eq!(say(&mut client).await, Heard::Echo);
    client.shutdown().await.expect("it is open");
    assert_eq!(hear(&mut client).await, Heard::End);
}

#[tokio::test]
async fn a_delay_is_each_way() {
    let echo = Echo::start().await;
    let proxy = Proxy::to(echo.address).await;
    let mut client = connect(&proxy).await;
    proxy.set(ConnectionFault::Delay(Duration::from_millis(30)));
    let start = SystemClock.now();
    assert_eq!(say(&mut client).await, Heard::Echo);
    let took = SystemClock.now().since(start);
    assert!(took >= Duration::from_millis(60), "{took:?}");
}

#[tokio::test]
async fn what_is_dropped_does_not_arrive_and_ends_with_a_reset() {
    let echo = Echo::start().await;
    let proxy = Proxy::to(echo.address).await;
    let mut client = connect(&proxy).await;
    assert_eq!(say(&mut client).await, Heard::Echo);
    proxy.set(ConnectionFault::Drop);
    assert!(is_silent(&mut client, "word").await);
    let mut late = connect(&proxy).await;
    assert!(is_silent(&mut late, "word").await);
    assert!(echo.has_heard(4).await);
    proxy.set(ConnectionFault::None);
    assert_eq!(hear(&mut client).await, Heard::Reset);
    assert_eq!(hear(&mut late).await, Heard::Reset);
    assert_eq!(say(&mut connect(&proxy).await).await, Heard::Echo);
}

#[tokio::test]
async fn a_connection_that_lost_nothing_goes_on() {
    let echo = Echo::start().await;
    let proxy = Proxy::to(echo.address).await;
    let mut client = connect(&proxy).await;
    assert_eq!(say(&mut client).await, Heard::Echo);
    proxy.set(ConnectionFault::Drop);
    proxy.set(ConnectionFault::None);
    assert_eq!(say(&mut client).await, Heard::Echo);
}

#[tokio::test]
async fn half_open_the_words_arrive_and_nothing_comes_back() {
    let echo = Echo::start().await;
    let proxy = Proxy::to(echo.address).await;
    let mut client = connect(&proxy).await;
    assert_eq!(say(&mut client).await, Heard::Echo);
    proxy.set(ConnectionFault::HalfOpen);
    assert!(is_silent(&mut client, "word").await);
    assert!(echo.has_heard(8).await);
    // The server's end is not told either.
    client.shutdown().await.expect("it is open");
    assert!(is_silent(&mut client, "").await);
    proxy.set(ConnectionFault::None);
    assert_eq!(hear(&mut client).await, Heard::Reset);
}

#[tokio::test]
async fn refused_connections_are_reset_present_and_new() {
    let echo = Echo::start().await;
    let proxy = Proxy::to(echo.address).await;
    let mut client = connect(&proxy).await;
    assert_eq!(say(&mut client).await, Heard::Echo);
    proxy.set(ConnectionFault::Refuse);
    assert_eq!(hear(&mut client).await, Heard::Reset);
    assert_eq!(knock(&proxy).await, Heard::Reset);
    proxy.set(ConnectionFault::None);
    assert_eq!(say(&mut connect(&proxy).await).await, Heard::Echo);
}

#[tokio::test]
async fn a_lost_reply_is_to_something_that_was_done() {
    let echo = Echo::start().await;
    let proxy = Proxy::to(echo.address).await;
    let mut clients = [connect(&proxy).await, connect(&proxy).await];
    for client in &mut clients {
        assert_eq!(say(client).await, Heard::Echo);
    }
    proxy.set(ConnectionFault::LoseReplies);
    // Opened later, and so left alone.
    assert_eq!(say(&mut connect(&proxy).await).await, Heard::Echo);
    assert_eq!(say(&mut clients[0]).await, Heard::Reset);
    assert!(echo.has_heard(16).await, "it was not done");
    assert_eq!(say(&mut clients[1]).await, Heard::Echo, "one reply is lost, not two");
    drop(clients);
}

#[tokio::test]
async fn a_reply_is_lost_on_the_next_connection_if_none_is_open() {
    let echo = Echo::start().await;
    let proxy = Proxy::to(echo.address).await;
    proxy.set(ConnectionFault::LoseReplies);
    assert_eq!(say(&mut connect(&proxy).await).await, Heard::Reset);
    assert!(echo.has_heard(4).await, "it was not done");
    assert_eq!(say(&mut connect(&proxy).await).await, Heard::Echo);
}

#[tokio::test]
async fn a_cut_resets_those_that_are_open() {
    let echo = Echo::start().await;
    let proxy = Proxy::to(echo.address).await;
    let mut client = connect(&proxy).await;
    assert_eq!(say(&mut client).await, Heard::Echo);
    proxy.cut();
    assert_eq!(hear(&mut client).await, Heard::Reset);
    assert_eq!(say(&mut connect(&proxy).await).await, Heard::Echo);
}

#[tokio::test]
async fn a_server_that_is_gone_is_a_reset_and_another_can_be_led_to() {
    let (echo, gone) = (Echo::start().await, Echo::start().await);
    let proxy = Proxy::to(gone.address).await;
    drop(gone);
    assert_eq!(knock(&proxy).await, Heard::Reset);
    proxy.lead_to(echo.address);
    assert_eq!(say(&mut connect(&proxy).await).await, Heard::Echo);
}
