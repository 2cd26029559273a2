//! `failover`'s peers: what other locks take on the same server, struck in the same way.
//!
//! ```text
//!   Contest: holder ── has the lock, ticks into a log ◄── kill -9, or asked to give it up
//!            waiter ── blocked, or polling ──► its first line in the log ends the trial
//!
//!   etcd      etcdctl lock --ttl=15, with `baton tick` as its command
//!   redis     the textbook lock: SET NX PX 15000, renewed every 5 s, polled every 100 ms
//!   postgres  pg_advisory_lock on a session, the waiter blocked in the server
//!   zookeeper ephemeral numbered nodes, a session of 15 s, the waiter watching the one before
//! ```
//!
//! All but etcd's are a few lines of this program, and tick in the process that has the lock: they
//! need not start a job as baton and etcdctl do.

mod contest;
mod etcd;
mod hold;
mod lock;
mod postgres;
mod redis;
mod zookeeper;

use std::sync::Arc;

use baton_testbed::{ETCDCTL, Program, Server};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::cli::Failover;
use crate::error::BenchError;
use crate::failover::Arm;
use crate::fixture::{Fixture, StoreKind};
use crate::percentiles::ms;
use crate::progress::Progress;
use crate::report::{Report, TextTable, number};
use crate::sandbox::Sandbox;
use contest::{Contest, StrikeKind};
pub use hold::hold;

const HEAD: [&str; 5] = ["PEER", "BATON ON", "PEER ms", "BATON ms", "BATON : PEER"];

/// A lock of another system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    Advisory,
    Textbook,
    Etcdctl,
    Zookeeper,
}

impl Peer {
    /// The peer that runs on this store's server.
    fn on(store: StoreKind) -> Option<Self> {
        match store {
            StoreKind::Etcd => Some(Self::Etcdctl),
            StoreKind::Redis => Some(Self::Textbook),
            StoreKind::Postgres => Some(Self::Advisory),
            StoreKind::Sqlite | StoreKind::Mysql | StoreKind::RedisAlways | StoreKind::S3 => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Advisory => "advisory lock",
            Self::Textbook => "textbook lock",
            Self::Etcdctl => "etcdctl lock",
            Self::Zookeeper => "zookeeper lock",
        }
    }

    /// The program that it needs besides this one.
    fn program(self) -> Option<&'static Program> {
        (self == Self::Etcdctl).then_some(&ETCDCTL)
    }

    /// The arms of baton's that do the same: etcdctl starts a command, as `baton run` does; the
    /// others work in the process that has the lock, as the library does.
    fn compared_with(self, kind: StrikeKind) -> &'static [Arm] {
        match (kind, self) {
            (StrikeKind::Kill, _) => &[Arm::Kill],
            (StrikeKind::Resign, Self::Etcdctl) => &[Arm::Resign, Arm::Term],
            (StrikeKind::Resign, _) => &[Arm::Resign],
        }
    }

    /// Does the lock outlive its holder until a time is up?
    fn waits(self, kind: StrikeKind) -> bool {
        kind == StrikeKind::Kill && self != Self::Advisory
    }
}

/// A peer, where its server is, and the store on which baton is compared with it.
#[derive(Clone, Debug)]
struct PeerSetup {
    peer: Peer,
    url: String,
    store: StoreKind,
}

/// Strikes the peers of these stores, and compares them with baton.
pub async fn measure(
    sandbox: &Arc<Sandbox>,
    fixtures: &[Arc<Fixture>],
    options: &Failover,
    report: &mut Report,
) -> Result<(), BenchError> {
    let mut table = TextTable::new("baton and its peers: medians", &HEAD);
    for fixture in fixtures {
        let store = fixture.kind();
        let Some(peer) = Peer::on(store) else { continue };
        if let Some(Err(problem)) = peer.program().map(baton_testbed::Program::find) {
            report.note(format!("{}: not measured: {problem}", peer.name()));
            continue;
        }
        let setup = PeerSetup { peer, url: fixture.url(sandbox.folder()), store };
        compete(sandbox, &setup, options, report, &mut table).await?;
    }
    // The store of baton's that is most like it.
    if fixtures.iter().any(|fixture| fixture.kind() == StoreKind::Etcd) {
        match Server::start(baton_testbed::Kind::Zookeeper).await {
            Ok(server) => {
                let (peer, store) = (Peer::Zookeeper, StoreKind::Etcd);
                let setup = PeerSetup { peer, url: server.url(), store };
                compete(sandbox, &setup, options, report, &mut table).await?;
            }
            Err(problem) => report.note(format!("ZooKeeper: not measured: {problem}")),
        }
    }
    report.table(table);
    Ok(())
}

/// Strikes one peer in both ways.
async fn compete(
    sandbox: &Arc<Sandbox>,
    setup: &PeerSetup,
    options: &Failover,
    report: &mut Report,
    table: &mut TextTable,
) -> Result<(), BenchError> {
    let PeerSetup { peer, store, .. } = setup;
    for kind in [StrikeKind::Kill, StrikeKind::Resign] {
        let trials = if peer.waits(kind) { options.peer_trials } else { options.trials };
        let times = strike(sandbox, setup, kind, trials).await?;
        let name = format!("{} {}", peer.name(), kind.title());
        report.measured(&name, "ms", &times, &[]);
        for arm in peer.compared_with(kind) {
            let ours = format!("{store} {}", arm.title());
            if let Some((theirs, median)) = report.median(&name).zip(report.median(&ours)) {
                let figures = [number(theirs), number(median), ratio(median, theirs)];
                table.row([name.clone(), ours].into_iter().chain(figures));
            }
        }
    }
    Ok(())
}

/// All trials are set up side by side; one strike at a time where milliseconds count.
async fn strike(
    sandbox: &Arc<Sandbox>,
    setup: &PeerSetup,
    kind: StrikeKind,
    trials: u32,
) -> Result<Vec<f64>, BenchError> {
    let peer = setup.peer;
    let what = format!("{} {}", peer.name(), kind.title());
    let progress = Arc::new(Progress::new(&what, trials));
    let exclusive = Arc::new(Mutex::new(()));
    let mut at_work = JoinSet::new();
    for number in 0..trials {
        let (sandbox, url) = (sandbox.clone(), setup.url.clone());
        let (exclusive, progress) = (exclusive.clone(), progress.clone());
        at_work.spawn(async move {
            let mut contest = Contest::begin(&sandbox, &url, peer, kind, number).await?;
            let _exclusive = if peer.waits(kind) { None } else { Some(exclusive.lock().await) };
            let took = contest.strike(kind).await?;
            contest.end(&sandbox)?;
            progress.step();
            Ok::<_, BenchError>(ms(took))
        });
    }
    let mut times = Vec::new();
    while let Some(done) = at_work.join_next().await {
        times.push(done??);
    }
    Ok(times)
}

/// How many times one is the other, with the smaller as 1.
fn ratio(ours: f64, theirs: f64) -> String {
    if ours <= theirs {
        format!("1 : {}", number(theirs / ours))
    } else {
        format!("{} : 1", number(ours / theirs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_is_one() {
        assert_eq!(ratio(10.0, 12_500.0), "1 : 1250");
        assert_eq!(ratio(10.0, 4.0), "2.50 : 1");
        assert_eq!(ratio(10.0, 10.0), "1 : 1");
    }

    #[test]
    fn only_a_lock_with_a_time_to_live_makes_the_next_one_wait() {
        assert!(Peer::Etcdctl.waits(StrikeKind::Kill) && Peer::Textbook.waits(StrikeKind::Kill));
        assert!(
            !Peer::Advisory.waits(StrikeKind::Kill) && !Peer::Etcdctl.waits(StrikeKind::Resign)
        );
    }
}
