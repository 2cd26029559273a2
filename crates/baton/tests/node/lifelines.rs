//! The lifeline: what it tells, what it believes, and what proves nothing.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use baton::{BuildError, LifelineConfig, Node, Profile, lifeline};
use baton_core::LifelineReport;
use baton_core::ids::{BootId, Epoch, Nonce};
use baton_core::protocol::{Ask, Hint, Wish};
use baton_store::clock::{Clock, SystemClock};

use crate::cluster::{builder, event, soon, store, until};

fn address(node: &Node, store_view: &baton_core::protocol::LeaseSnapshot) -> String {
    let holder = store_view.holder.as_ref().expect("it is held");
    assert_eq!(holder.boot, node.boot());
    holder.lifeline.as_ref().expect("it has one").to_string()
}

#[tokio::test]
async fn it_tells_its_boot_id_and_nothing_else() {
    let store = store();
    let node = builder(&store, "a").lifeline(LifelineConfig::default()).build().expect("it starts");
    soon("the term", node.leadership()).await.expect("it leads");
    let stream = TcpStream::connect(node.lifeline().expect("it listens")).expect("it accepts");
    let mut reader = BufReader::new(stream.try_clone().expect("one socket more"));
    let mut greeting = String::new();
    reader.read_line(&mut greeting).expect("it greets");
    assert_eq!(greeting, format!("baton-lifeline 1 {}\n", node.boot()));
    (&stream).write_all(b"GET / HTTP/1.1\r\n").expect("it listens");
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).expect("it hangs up on garbage");
    assert_eq!(rest, b"");
}

#[tokio::test]
async fn an_ask_with_a_hint_is_heeded_at_once() {
    let store = store();
    let slow = |settings: &mut baton::Settings| {
        *settings = baton::Settings::default();
        settings.skip_cold_start = true;
    };
    let node = builder(&store, "a").tune(slow).lifeline(LifelineConfig::default());
    let node = node.build().expect("it starts");
    let term = soon("the term", node.leadership()).await.expect("it leads");
    let epoch = term.epoch();
    drop(term);
    let lease = store.inspect(node.namespace()).await.expect("it answers").lease.expect("held");
    let ask = Ask { nonce: Nonce { boot: BootId(7), attempt: 1 }, wish: Wish::Resign };
    store.ask(node.namespace(), epoch, ask).await.expect("it answers");
    let mut events = node.events();
    let told = lifeline::tell(&address(&node, &lease), node.namespace(), &Hint::Look).await;
    told.expect("it listens");
    // Without the hint, the beat of five seconds would bring it.
    let demoted = |event: &baton::Event| matches!(event, baton::Event::CoordinatorDemoted { .. });
    event(&mut events, "the resignation", demoted).await;
    assert_eq!(epoch, Epoch(1));
}

#[tokio::test]
async fn whoever_leaves_tells_its_successor_before_it_is_gone() {
    let store = store();
    let patient = |settings: &mut baton::Settings| {
        settings.worker_timeout = Duration::from_secs(60);
        settings.dead_node_timeout = Duration::from_secs(120);
    };
    let old = builder(&store, "a").tune(patient).lifeline(LifelineConfig::default());
    let old = old.build().expect("it starts");
    soon("the first term", old.leadership()).await.expect("it leads");
    let next = builder(&store, "b").profile(Profile::Frugal).lifeline(LifelineConfig::default());
    let next = next.build().expect("it starts");
    until("a successor", || old.active_workers().contains(next.id())).await;
    soon("the departure", old.leave()).await;
    let left_at = SystemClock.now();
    soon("the second term", next.leadership()).await.expect("it leads");
    // Without the hint, the next beat would bring it: mostly seconds, up to twenty, later.
    let took = SystemClock.now().since(left_at);
    assert!(took < Duration::from_millis(500), "it took {took:?}");
}

#[tokio::test]
async fn whoever_is_not_there_is_refused_and_whoever_is_answers() {
    let node = builder(&store(), "a").lifeline(LifelineConfig::default()).build();
    let node = node.expect("it starts");
    soon("the term", node.leadership()).await.expect("it leads");
    let listening = node.lifeline().expect("it listens");
    let told = |port: u16| {
        let here = baton::lifeline::address_for(([127, 0, 0, 1], port).into());
        async move { lifeline::probe(&here).await }
    };
    assert_eq!(told(listening.port()).await, LifelineReport::OtherBoot(node.boot()));
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        listener.local_addr().expect("it is bound").port()
    };
    assert_eq!(told(closed).await, LifelineReport::Refused);
    // The same refusal in another network proves nothing: the address is not even dialled.
    let elsewhere = lifeline::probe(&format!("127.0.0.1:{closed}@elsewhere")).await;
    assert!(!elsewhere.proves_death_of(node.boot()));
    // A silent listener, as a paused process is.
    let silent = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let port = silent.local_addr().expect("it is bound").port();
    assert_eq!(told(port).await, LifelineReport::TimedOut);
}

#[tokio::test]
async fn its_connections_are_bounded_and_the_rest_are_answered_and_let_go() {
    let config = LifelineConfig { connections_max: 2, ..LifelineConfig::default() };
    let node = builder(&store(), "a").lifeline(config).build().expect("it starts");
    let address = node.lifeline().expect("it listens");
    let greet = || {
        let stream = TcpStream::connect(address).expect("it accepts");
        let mut reader = BufReader::new(stream);
        let mut greeting = String::new();
        reader.read_line(&mut greeting).expect("it greets");
        assert!(greeting.starts_with("baton-lifeline 1 "));
        reader
    };
    let _kept = [greet(), greet()];
    let mut third = greet();
    let mut rest = Vec::new();
    third.read_to_end(&mut rest).expect("it is let go");
    assert_eq!(rest, b"");
}

#[tokio::test]
async fn a_port_in_use_and_an_address_for_nobody_are_refused() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let bind = taken.local_addr().expect("it is bound");
    let config = LifelineConfig { bind, ..LifelineConfig::default() };
    let refused = builder(&store(), "a").lifeline(config).build().err().expect("refused");
    let message = refused.to_string();
    assert!(message.contains(&bind.to_string()) && message.contains("another"), "{message}");
    let bind = ([0, 0, 0, 0], 0).into();
    let config = LifelineConfig { bind, ..LifelineConfig::default() };
    let refused = builder(&store(), "a").lifeline(config).build().err().expect("refused");
    assert!(matches!(refused, BuildError::Unadvertised(_)), "{refused}");
}
