//! What a follower in one network makes of a lifeline in another: real namespaces, real firewalls.
//!
//! The leader is a lease that is held for a minute, and a socket that greets as its lifeline
//! does, so that each can end without the other. Whatever ends the term within that minute was
//! taken for a proof.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use baton::{Event, Events, LateNotice, LifelineConfig, Node, Store, lifeline};
use baton_core::ids::{BootId, Epoch};
use baton_core::protocol::{Claim, NodeProfile, TermEnd};
use baton_store::clock::{Clock, SystemClock};
use baton_testbed::TestbedError;
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::networks::{Network, TwoNetworks};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::cluster::{PATIENCE, builder, event, soon, store, until};

const COORDINATOR: BootId = BootId(7);
const ANOTHER: BootId = BootId(8);
const PORT: u16 = 7_000;

/// Far more than a follower needs to act on a proof.
const BEATS: usize = 6;

/// `None` where the rights to make networks are lacking.
fn networks() -> Option<TwoNetworks> {
    match TwoNetworks::new() {
        Ok(networks) => Some(networks),
        Err(refused) => {
            assert!(matches!(refused, TestbedError::NotArrangeable { .. }), "{refused}");
            None
        }
    }
}

/// The leader's lease, with this lifeline.
async fn coordinator(store: &Arc<dyn Store>, lifeline: &str) {
    let mut holder = Contender::new(store, &namespace("default"), COORDINATOR.0);
    let profile = NodeProfile { lifeline: Some(Arc::from(lifeline)), ..NodeProfile::default() };
    holder.record.profile = Arc::new(profile);
    holder.take(Claim::Vacant).await;
}

/// What listens on the leader's address.
struct Line {
    listener: tokio::net::TcpListener,
    boot: BootId,
}

impl Line {
    fn listen(networks: &TwoNetworks, side: Network, address: &str, boot: BootId) -> Self {
        let address: SocketAddr = address.parse().expect("it is an address");
        let bind = || {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            Ok::<_, std::io::Error>(listener)
        };
        let listener = networks.inside(side, bind).expect("the port is free");
        let listener = tokio::net::TcpListener::from_std(listener).expect("it does not block");
        Self { listener, boot }
    }

    /// The next connection, greeted.
    async fn greet(&self) -> TcpStream {
        let (mut stream, _) = soon("a dial", self.listener.accept()).await.expect("it listens");
        let greeting = format!("baton-lifeline 1 {}\n", self.boot);
        stream.write_all(greeting.as_bytes()).await.expect("it is connected");
        stream
    }
}

/// A follower in the network on the right.
struct Follower {
    node: Node,
    events: Events,
    store: Arc<dyn Store>,
}

impl Follower {
    fn start(networks: &TwoNetworks, store: &Arc<dyn Store>) -> Self {
        let follower = builder(store, "follower").lifeline(LifelineConfig::off());
        let node = networks.inside(Network::Right, || follower.build()).expect("it starts");
        let events = node.events();
        Self { node, events, store: store.clone() }
    }

    /// Who holds the lease after some beats, in which the leader must not be taken for dead.
    async fn holder(&mut self) -> Option<BootId> {
        for _ in 0..BEATS {
            let beat = |event: &Event| {
                let down = matches!(event, Event::LeaderDown { .. });
                assert!(!down, "the leader lives");
                matches!(event, Event::WorkerHeartbeat { .. })
            };
            event(&mut self.events, "a beat", beat).await;
        }
        let lease = self.store.inspect(self.node.namespace()).await.expect("it answers").lease;
        lease.and_then(|lease| lease.holder).map(|holder| holder.boot)
    }

    /// How the leader's term ended, once this node leads in the next one.
    async fn takes_over(self) -> Option<TermEnd> {
        let term = soon("the term", self.node.leadership()).await.expect("it leads");
        assert_eq!(term.epoch(), Epoch(2));
        let terms = self.store.history(self.node.namespace(), 2).await.expect("it answers");
        terms.get(1).and_then(|term| term.ended).map(|(_, end)| end)
    }
}

/// Waits until the firewall has met a packet.
async fn met_the_firewall(networks: &TwoNetworks) {
    let give_up_at = SystemClock.now() + PATIENCE;
    while networks.treated(Network::Left).expect("it has a firewall") == 0 {
        assert!(SystemClock.now() < give_up_at, "waited in vain for a dial");
        SystemClock.sleep(std::time::Duration::from_millis(10)).await;
    }
}

const REJECTIONS: [&[&str]; 4] = [
    &["REJECT"],
    &["REJECT", "--reject-with", "tcp-reset"],
    &["REJECT", "--reject-with", "icmp-admin-prohibited"],
    &["DROP"],
];

#[tokio::test]
async fn a_firewall_before_the_first_dial_proves_nothing() {
    for target in REJECTIONS {
        let Some(networks) = networks() else { return };
        let store = store();
        let _line = Line::listen(&networks, Network::Left, "10.77.0.1:7000", COORDINATOR);
        networks.treat(Network::Left, PORT, target).expect("it has a firewall");
        coordinator(&store, "10.77.0.1:7000").await;
        let mut follower = Follower::start(&networks, &store);
        met_the_firewall(&networks).await;
        assert_eq!(follower.holder().await, Some(COORDINATOR));
    }
}

#[tokio::test]
async fn a_connection_that_ends_in_order_and_a_refusal_prove_a_death() {
    let Some(networks) = networks() else { return };
    let store = store();
    let line = Line::listen(&networks, Network::Left, "10.77.0.1:7000", COORDINATOR);
    coordinator(&store, "10.77.0.1:7000").await;
    let mut follower = Follower::start(&networks, &store);
    let connection = line.greet().await;
    assert_eq!(follower.holder().await, Some(COORDINATOR));
    drop(line);
    drop(connection);
    assert_eq!(follower.takes_over().await, Some(TermEnd::ProvedDead));
}

#[tokio::test]
async fn a_firewall_that_resets_a_connection_and_then_rejects_proves_nothing() {
    for target in REJECTIONS {
        let Some(networks) = networks() else { return };
        let store = store();
        let line = Line::listen(&networks, Network::Left, "10.77.0.1:7000", COORDINATOR);
        coordinator(&store, "10.77.0.1:7000").await;
        let mut follower = Follower::start(&networks, &store);
        let connection = line.greet().await;
        assert_eq!(follower.holder().await, Some(COORDINATOR));
        networks.treat(Network::Left, PORT, target).expect("it has a firewall");
        connection.set_zero_linger().expect("it is a socket");
        drop(connection);
        met_the_firewall(&networks).await;
        assert_eq!(follower.holder().await, Some(COORDINATOR));
    }
}

#[tokio::test]
async fn another_boot_at_the_address_proves_a_death_only_after_a_connection_to_the_first() {
    let Some(networks) = networks() else { return };
    let store = store();
    let other = Line::listen(&networks, Network::Left, "10.77.0.1:7000", ANOTHER);
    coordinator(&store, "10.77.0.1:7000").await;
    let mut follower = Follower::start(&networks, &store);
    drop(other.greet().await);
    assert_eq!(follower.holder().await, Some(COORDINATOR));
    drop(other);
    // The leader's own host has the address again, until another one takes it over.
    let line = Line::listen(&networks, Network::Left, "10.77.0.1:7000", COORDINATOR);
    let connection = line.greet().await;
    assert_eq!(follower.holder().await, Some(COORDINATOR));
    drop(line);
    let other = Line::listen(&networks, Network::Left, "10.77.0.1:7000", ANOTHER);
    drop(connection);
    let _greeted = other.greet().await;
    assert_eq!(follower.takes_over().await, Some(TermEnd::ProvedDead));
}

/// The same spelling means another process here: nothing listens on it, and nothing is dialled.
#[tokio::test]
async fn the_loopback_of_another_network_is_not_dialled_in_any_spelling() {
    for spelt in ["127.0.0.1:7000", "[::1]:7000", "[::ffff:127.0.0.1]:7000", "[::ffff:7f00:1]:7000"]
    {
        let Some(networks) = networks() else { return };
        let store = store();
        let socket: SocketAddr = spelt.parse().expect("it is an address");
        let told = networks.inside(Network::Left, || lifeline::address_for(socket));
        // An address as it was told before networks were named, and one that is told now.
        for told in [spelt.to_owned(), told] {
            let store = if told == *spelt { crate::cluster::store() } else { store.clone() };
            coordinator(&store, &told).await;
            let mut follower = Follower::start(&networks, &store);
            assert_eq!(follower.holder().await, Some(COORDINATOR), "{told}");
        }
    }
}

/// No network lies between: a refusal is the kernel's own word, in any spelling.
#[tokio::test]
async fn a_refusal_on_the_own_host_needs_no_connection_before() {
    for spelt in ["10.77.0.2:7000", "[::ffff:10.77.0.2]:7000", "127.0.0.1:7000", "[::1]:7000"] {
        let Some(networks) = networks() else { return };
        let store = store();
        let socket: SocketAddr = spelt.parse().expect("it is an address");
        let told = networks.inside(Network::Right, || lifeline::address_for(socket));
        coordinator(&store, &told).await;
        let follower = Follower::start(&networks, &store);
        assert_eq!(follower.takes_over().await, Some(TermEnd::ProvedDead), "{told}");
        // The same address of another machine's network, with nothing between, is not its own.
        let store = crate::cluster::store();
        let (place, _) = told.split_once('@').expect("it names its network");
        coordinator(&store, &format!("{place}@another")).await;
        let mut follower = Follower::start(&networks, &store);
        assert_eq!(follower.holder().await, Some(COORDINATOR), "{told}");
    }
}

/// The first notice of a node that its crash would be noticed late.
async fn notice(events: &mut Events) -> LateNotice {
    let is_notice = |event: &Event| matches!(event, Event::LifelineUnwatched(_));
    match event(events, "the notice", is_notice).await.event.clone() {
        Event::LifelineUnwatched(notice) => notice,
        _ => unreachable!("it was asked for"),
    }
}

#[tokio::test]
async fn a_leader_says_when_the_others_are_in_networks_that_do_not_reach_its_lifeline() {
    let Some(networks) = networks() else { return };
    let store = store();
    let start = |side, name: &str| {
        let node = builder(&store, name).lifeline(LifelineConfig::default());
        networks.inside(side, || node.build_with_events()).expect("it starts")
    };
    let (leader, mut events) = start(Network::Left, "a");
    drop(soon("the term", leader.leadership()).await.expect("it leads"));
    let near = start(Network::Left, "b");
    until("b to be known", || leader.active_workers().len() == 2).await;
    let far = start(Network::Right, "c");
    until("c to be known", || leader.active_workers().len() == 3).await;
    drop(near);
    let told = notice(&mut events).await;
    assert!(told.because.contains("listens on 127.0.0.1, which c on another host"), "{told}");
    assert!(told.remedy.starts_with("set lifeline.bind to an address"), "{told}");
    drop(far);
}

#[tokio::test]
async fn a_node_without_a_lifeline_says_so_before_anything_else() {
    let store = store();
    let (_node, mut events) = builder(&store, "a").build_with_events().expect("it starts");
    let first = soon("an event", events.next()).await.expect("the node goes on");
    let Event::LifelineUnwatched(told) = &first.event else {
        unreachable!("something else came first: {first:?}");
    };
    assert_eq!(told.because, "its lifeline is off");
}
