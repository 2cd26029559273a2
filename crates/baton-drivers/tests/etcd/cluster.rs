//! Three members: the term outlives etcd's leader, and a leader that comes back ends nothing.

use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use baton_core::protocol::{Claim, LeaseIntent, Outcome, Version};
use baton_store::FindingLevel;
use baton_store::clock::{Clock, SystemClock};
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::wait::until;
use baton_testbed::{Kind, Options, Server};

use crate::fixture::open;
use crate::raw_client::RawClient;

/// Longer than etcd needs to choose a leader, which may take some seconds on a busy machine.
const TTL: Duration = Duration::from_secs(8);

struct Cluster([Server; 3]);

impl Cluster {
    async fn start() -> Self {
        let peers: [SocketAddr; 3] = std::array::from_fn(|_| free_port());
        let all: Vec<String> =
            peers.iter().enumerate().map(|(at, peer)| format!("m{at}=http://{peer}")).collect();
        let all = all.join(",");
        let member = |at: usize| {
            let peer = peers[at];
            let arguments = vec![
                format!("--name=m{at}"),
                format!("--listen-peer-urls=http://{peer}"),
                format!("--initial-advertise-peer-urls=http://{peer}"),
                format!("--initial-cluster={all}"),
            ];
            Server::start_with(Kind::Etcd, Options { arguments, ..Options::default() })
        };
        // None is ready before two are.
        let (a, b, c) = tokio::join!(member(0), member(1), member(2));
        Self([a, b, c].map(|server| server.expect("etcd can be started")))
    }

    fn url(&self) -> String {
        let hosts: Vec<String> = self.0.iter().map(|it| it.address().to_string()).collect();
        format!("etcd://{}?timeout_ms=1000", hosts.join(","))
    }

    /// Which member leads.
    async fn leader(&self) -> usize {
        for (at, server) in self.0.iter().enumerate() {
            let answer =
                RawClient::on(server.address()).post("maintenance/status", "{}".to_owned()).await;
            if answer["leader"] == answer["header"]["member_id"] {
                return at;
            }
        }
        unreachable!("a cluster that answers has a leader")
    }
}

fn free_port() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port left");
    listener.local_addr().expect("it is bound")
}

/// Renews until it is told that it was renewed. It must not be told that the term is over.
async fn renewed(node: &Contender, held: &mut Version) {
    until("a renewal", async || {
        if let Ok(reply) = node.renew(*held).await
            && reply.outcome == Some(Outcome::Applied)
        {
            *held = reply.lease.expect("held").version;
            return Some(());
        }
        // What became of the last attempt is read back.
        let seen = node.beat(LeaseIntent::Observe).await.ok()?.lease.expect("there is one");
        assert_eq!(seen.version.epoch, held.epoch, "the term went on");
        *held = seen.version;
        None
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_term_outlives_etcds_leader_and_its_return() {
    let cluster = Cluster::start().await;
    let store = open(&cluster.url()).await;
    let findings = store.examine().await.expect("etcd answers");
    let worst = findings.iter().map(|it| it.verdict).max();
    assert_eq!(worst, Some(FindingLevel::Ok), "{findings:?}");

    let node = Contender::new(&store, &namespace("three"), 1).with_ttl(TTL);
    let mut held = node.take(Claim::Vacant).await;
    let first = cluster.leader().await;
    cluster.0[first].kill().await.expect("it is ours");
    renewed(&node, &mut held).await;
    let rival = Contender::new(&store, &node.namespace, 2).claim(Claim::Expired).await;
    assert_eq!(rival.expect("it answers").outcome, Some(Outcome::Conflict), "one holder");
    cluster.0[first].start_again().await.expect("it starts");

    // The next leader is paused for longer than the lease; meanwhile the others go on. When it is
    // back it finds leases that ran out by its own count, and has them revoked. None of them may be
    // the one that stands.
    let second = cluster.leader().await;
    cluster.0[second].pause().expect("it is ours");
    let paused = SystemClock.now();
    while SystemClock.now().since(paused) < TTL + Duration::from_secs(1) {
        renewed(&node, &mut held).await;
        SystemClock.sleep(Duration::from_millis(500)).await;
    }
    cluster.0[second].resume().expect("it is ours");
    let resumed = SystemClock.now();
    while SystemClock.now().since(resumed) < Duration::from_secs(3) {
        renewed(&node, &mut held).await;
        let seen = node.look().await.lease.expect("there is one");
        assert_eq!(seen.version, held, "the term was not ended");
        SystemClock.sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(store.history(&node.namespace, 10).await.expect("it answers").len(), 1);
}
