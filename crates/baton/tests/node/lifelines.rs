//! The lifeline: what it tells, what it believes, and what proves nothing.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton::{
    BuildError, LifelineConfig, Namespace, Node, Store, StoreError, async_trait, lifeline,
};
use baton_core::LifelineReport;
use baton_core::ids::{BootId, Epoch, Nonce};
use baton_core::protocol::{Acquire, Ask, HandoverKind, Hint, LeaseIntent, Request, Version};
use baton_store::clock::{Clock, SystemClock};
use baton_store::wrap::{Layer, Wrapped};
use baton_store::{Answer, Backend, Call};

use crate::cluster::{builder, event, soon, store, until};

fn address(node: &Node, store_view: &baton_core::protocol::LeaseSnapshot) -> String {
    let holder = store_view.holder.as_ref().expect("it is held");
    assert_eq!(holder.boot, node.boot());
    holder.lifeline.as_ref().expect("it has one").to_string()
}

/// A beat every five seconds: what happens sooner was hinted at.
fn slow(settings: &mut baton::Settings) {
    *settings = baton::Settings::default();
    settings.skip_cold_start = true;
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

/// Whatever happens while a test waits does not happen because of a beat.
fn beats_every_ten_minutes(settings: &mut baton::Settings) {
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    *settings = baton::Settings::default();
    settings.heartbeat_interval = minutes(10);
    settings.lease_timeout = minutes(60);
    settings.worker_timeout = minutes(60);
    settings.dead_node_timeout = minutes(120);
    settings.min_epoch_duration = minutes(60);
    settings.max_epoch_duration = minutes(120);
    settings.skip_cold_start = true;
}

#[tokio::test]
async fn an_ask_with_a_hint_is_heeded_at_once() {
    let store = store();
    let node =
        builder(&store, "a").tune(beats_every_ten_minutes).lifeline(LifelineConfig::default());
    let node = node.build().expect("it starts");
    let term = soon("the term", node.leadership()).await.expect("it leads");
    let epoch = term.epoch();
    drop(term);
    let lease = store.inspect(node.namespace()).await.expect("it answers").lease.expect("held");
    let ask = Ask { nonce: Nonce { boot: BootId(7), attempt: 1 }, wish: HandoverKind::Resign };
    store.ask(node.namespace(), epoch, ask).await.expect("it answers");
    let mut events = node.events();
    let told = lifeline::send_hint(&address(&node, &lease), node.namespace(), &Hint::Look).await;
    told.expect("it listens");
    // Without the hint, the next beat would bring it, long after this test has given up.
    let demoted = |event: &baton::Event| matches!(event, baton::Event::CoordinatorDemoted { .. });
    event(&mut events, "the resignation", demoted).await;
    assert_eq!(epoch, Epoch(1));
}

#[tokio::test]
async fn a_node_that_leaves_tells_its_successor_before_it_is_gone() {
    let store = store();
    let patient = |settings: &mut baton::Settings| {
        settings.worker_timeout = Duration::from_secs(60);
        settings.dead_node_timeout = Duration::from_secs(120);
    };
    let old = builder(&store, "a").tune(patient).lifeline(LifelineConfig::default());
    let old = old.build().expect("it starts");
    soon("the first term", old.leadership()).await.expect("it leads");
    let next = builder(&store, "b").tune(beats_every_ten_minutes);
    let next = next.lifeline(LifelineConfig::default());
    let next = next.build().expect("it starts");
    until("a successor", || old.active_workers().contains(next.id())).await;
    soon("the departure", old.leave()).await;
    // Without the hint, the next beat would bring it, long after this test has given up.
    let term = soon("the second term", next.leadership()).await.expect("it leads");
    assert_eq!(term.epoch(), Epoch(2));
}

#[tokio::test]
async fn a_closed_port_refuses_and_a_live_node_answers() {
    let node = builder(&store(), "a").lifeline(LifelineConfig::default()).build();
    let node = node.expect("it starts");
    soon("the term", node.leadership()).await.expect("it leads");
    let listening = node.lifeline().expect("it listens");
    let told = |port: u16| {
        let here = baton::lifeline::address_for(([127, 0, 0, 1], port).into());
        async move { lifeline::probe(&here).await }
    };
    // A process that has no turn for a second looks like one that is paused: that proves nothing.
    let answers =
        async { while told(listening.port()).await != LifelineReport::OtherBoot(node.boot()) {} };
    soon("the living one's answer", answers).await;
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        listener.local_addr().expect("it is bound").port()
    };
    assert_eq!(told(closed).await, LifelineReport::Refused);
    // The same refusal in another network proves nothing: the address is not even dialled.
    let elsewhere = lifeline::probe(&format!("127.0.0.1:{closed}@elsewhere")).await;
    assert!(!elsewhere.denies(node.boot()));
    // A silent listener, as a paused process is.
    let silent = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let port = silent.local_addr().expect("it is bound").port();
    assert_eq!(told(port).await, LifelineReport::TimedOut);
}

#[tokio::test]
async fn its_connections_are_bounded_and_the_rest_are_answered_and_let_go() {
    let config = LifelineConfig::default().tune(|it| it.connections_max = 2);
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
async fn a_port_in_use_and_an_address_that_cannot_be_dialled_are_refused() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let bind = taken.local_addr().expect("it is bound");
    let config = LifelineConfig::default().tune(|it| it.bind = bind);
    let refused = builder(&store(), "a").lifeline(config).build().expect_err("refused");
    let message = refused.to_string();
    assert!(message.contains(&bind.to_string()) && message.contains("another"), "{message}");
    let own = LifelineConfig::default().bind;
    for spelt in ["0.0.0.0:0", "[::]:0", "[::ffff:0.0.0.0]:0", "[::ffff:0:0]:7000"] {
        let every = spelt.parse().expect("it is an address");
        for (bind, advertise) in [(every, None), (own, Some(every)), (every, Some(every))] {
            let config = LifelineConfig::default().tune(|it| {
                it.bind = bind;
                it.advertise = advertise;
            });
            let refused = builder(&store(), "a").lifeline(config).build().expect_err("refused");
            assert!(matches!(refused, BuildError::Unadvertised(_)), "{spelt}: {refused}");
        }
    }
}

/// The loopback address in another spelling is not dialled from another network either.
#[tokio::test]
async fn an_address_is_told_in_one_spelling() {
    let store = store();
    let bind = "[::ffff:127.0.0.1]:0".parse().expect("it is an address");
    let config = LifelineConfig::default().tune(|it| it.bind = bind);
    let node = builder(&store, "a").lifeline(config).build().expect("it starts");
    soon("the term", node.leadership()).await.expect("it leads");
    let lease = store.inspect(node.namespace()).await.expect("it answers").lease.expect("held");
    let told = address(&node, &lease);
    assert!(told.starts_with("127.0.0.1:"), "{told}");
    assert_eq!(lifeline::probe(&told).await, LifelineReport::OtherBoot(node.boot()));
    let (place, _) = told.split_once('@').expect("it names its network");
    assert_eq!(lifeline::probe(&format!("{place}@another")).await, LifelineReport::Closed);
}

/// Keeps the attempts of those versions that a node bids for.
#[derive(Default)]
struct Bids(Mutex<Vec<u64>>);

impl Bids {
    fn made(&self) -> Vec<u64> {
        self.0.lock().expect("no holder panics").clone()
    }
}

#[async_trait]
impl Layer for Bids {
    async fn call(
        &self,
        inner: &dyn Backend,
        namespace: &Namespace,
        call: Call,
    ) -> Result<Answer, StoreError> {
        if let Call::Core(Request::Beat(beat)) = &call
            && let LeaseIntent::Acquire(Acquire { expect: Some(version), .. }) = &beat.lease
        {
            self.0.lock().expect("no holder panics").push(version.nonce.attempt);
        }
        inner.call(namespace, call).await
    }
}

/// Sends a line, and waits until the other has read it and hung up.
fn say(address: SocketAddr, line: &str) {
    let mut stream = TcpStream::connect(address).expect("it accepts");
    stream.write_all(line.as_bytes()).expect("it reads");
    // A listener that hangs up before it has read everything resets the connection.
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.read_to_end(&mut Vec::new());
}

/// A node bids at once for what a hint says was left to it: so the bids tell which hints it heeded.
fn left_to(node: &Node, attempt: u64) -> Hint {
    let version = Version { epoch: Epoch(9), nonce: Nonce { boot: BootId(7), attempt } };
    Hint::Released { version, successor: Some(node.id().clone()) }
}

/// A process that cannot read the store cannot make a node ask it anything, nor keep those that can
/// from being heard.
#[tokio::test(flavor = "multi_thread")]
async fn a_hint_that_is_not_signed_causes_no_request_and_takes_nothing_from_one_that_is() {
    let shared = store();
    let leader = builder(&shared, "a").tune(slow).build().expect("it starts");
    soon("the term", leader.leadership()).await.expect("it leads");
    let wrapped = Arc::new(Wrapped::new(shared.clone(), Bids::default()));
    let its_store: Arc<dyn Store> = wrapped.clone();
    let node = builder(&its_store, "b").tune(slow).lifeline(LifelineConfig::default());
    let node = node.build().expect("it starts");
    until("a follower", || node.leader().as_ref() == Some(leader.id())).await;
    let members = shared.members(node.namespace()).await.expect("it answers");
    let member = members.iter().find(|member| member.record.boot == node.boot()).expect("there");
    let told = member.record.profile.lifeline.clone().expect("it has a lifeline");

    let (bare, key) = told.split_once('#').expect("the address has a key");
    let wrong = format!("{bare}#{}", key.chars().rev().collect::<String>());
    let socket = node.lifeline().expect("it listens");
    for attempt in 0..100 {
        let hint = serde_json::to_string(&left_to(&node, attempt)).expect("plain data");
        say(socket, &format!("{} {hint}\n", node.namespace()));
        say(socket, &format!("{attempt:064x} {} {hint}\n", node.namespace()));
        let told = lifeline::send_hint(&wrong, node.namespace(), &left_to(&node, attempt)).await;
        told.expect("it listens");
    }
    let keyless = lifeline::send_hint(bare, node.namespace(), &Hint::Look).await;
    assert_eq!(keyless.map_err(|error| error.kind()), Err(ErrorKind::InvalidInput));

    // One that comes while a beat is under way is not bid for: another follows.
    let mut signed = 1_000;
    let heard = async {
        while wrapped.layer().made().is_empty() {
            let hint = left_to(&node, signed);
            lifeline::send_hint(&told, node.namespace(), &hint).await.expect("it listens");
            signed += 1;
            SystemClock.sleep(Duration::from_millis(50)).await;
        }
    };
    soon("a bid for what was signed", heard).await;
    let made = wrapped.layer().made();
    assert!(made.iter().all(|attempt| *attempt >= 1_000), "only signed hints count: {made:?}");
}
