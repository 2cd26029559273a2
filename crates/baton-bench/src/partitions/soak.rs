//! `soak`: clusters in one store, in each of which a node joins or leaves every two seconds; then
//! calm, in which every partition is owned, by one node, that is there, and by no other cluster's.

use std::time::Duration;

use baton::partitions::{Partition, TaskList};
use baton::{Namespace, Profile};
use baton_cli::cluster::owners::{Findings, OwnerCluster, OwnerPlan};
use baton_core::rng::Rng;
use baton_store::clock::{Clock, SystemClock};

use super::check::add_to_report;
use super::cluster::{node_name, start_all};
use super::options::Soak;
use crate::error::BenchError;
use crate::fixture::{Fixture, chosen};
use crate::percentiles::ms;
use crate::report::{Report, TextTable, number};
use crate::sandbox::Sandbox;

/// How long clusters may take to be balanced when they start.
const PATIENCE: Duration = Duration::from_secs(180);

/// After the last join or leave all is owned and balanced within this time.
const BOUND: Duration = Duration::from_secs(30);

/// Between two joins or leaves of a cluster.
const EVERY: Duration = Duration::from_secs(2);

/// The fewest partitions of a list, and how many more there may be.
const PARTITIONS: (u32, u32) = (50, 50);

const HEAD: [&str; 7] = ["STORE", "CLUSTER", "PARTITIONS", "JOINED", "LEFT", "OWNERS", "SETTLED s"];

/// A cluster, and what happened to it.
struct SoakedCluster {
    cluster: OwnerCluster,
    nodes: u32,
    joined: u32,
    left: u32,
}

/// Runs it on every store, one after the other.
pub async fn run(sandbox: &Sandbox, options: &Soak, bars: bool) -> Result<Report, BenchError> {
    let mut report = Report::new("soak", bars);
    // Any 20 of the 128 bits, short enough to be typed again.
    let seed = match options.seed {
        Some(seed) => seed,
        None => (baton::fresh_boot()?.0 % 1_000_000) as u64,
    };
    report.note(format!("seed {seed}, fast profile, a join or leave every 2 s in each cluster"));
    let mut table = TextTable::new(format!("soaked for {} s", options.seconds), &HEAD);
    for kind in chosen(&options.store) {
        let fixture = Fixture::new(kind).await?;
        let mut clusters = Vec::new();
        for number in 0..options.clusters {
            clusters.push(begin(sandbox, &fixture, options, number).await?);
        }
        for it in &mut clusters {
            it.cluster.balanced(PATIENCE).await?;
        }
        eprintln!("{kind}: {} clusters are balanced", clusters.len());
        let mut random = Rng::new(seed).fork(kind as u64);
        let ends_at = SystemClock.now() + Duration::from_secs(options.seconds.into());
        while SystemClock.now() < ends_at {
            for it in &mut clusters {
                it.change(&mut random)?;
            }
            SystemClock.sleep(EVERY).await;
        }
        let calm_since = SystemClock.now();
        for (number, it) in clusters.iter_mut().enumerate() {
            let name = format!("{kind}, cluster {}", number + 1);
            let settled = it.cluster.settled(BOUND).await;
            let settled_ms = ms(SystemClock.now().since(calm_since));
            let found = settled.as_ref().map_or_else(ToString::to_string, |()| "yes".to_owned());
            report.must(&format!("{name}: owned and balanced"), settled.is_ok(), found, "yes");
            it.cluster.stop().await?;
            add_to_report(&Findings::of(&it.cluster.history), &name, &mut report);
            report.must_be_none(&format!("{name}: partitions of another"), foreign(&it.cluster));
            table.row([
                kind.name().to_owned(),
                (number + 1).to_string(),
                it.cluster.partitions().to_string(),
                it.joined.to_string(),
                it.left.to_string(),
                it.cluster.history.works.len().to_string(),
                number_of_seconds(settled_ms),
            ]);
        }
    }
    report.table(table);
    Ok(report)
}

fn number_of_seconds(ms: f64) -> String {
    number(ms / 1e3)
}

async fn begin(
    sandbox: &Sandbox,
    fixture: &Fixture,
    options: &Soak,
    number: u32,
) -> Result<SoakedCluster, BenchError> {
    let name = format!("cluster-{number}");
    let list = |at: u32| {
        let id = format!("{name}/list-{at:02}").parse().expect("a plain name");
        TaskList::new(id, PARTITIONS.0 + at * 17 % (PARTITIONS.1 + 1))
    };
    // One file for all clusters.
    let store = fixture.url(&sandbox.room(&format!("{}-soak", fixture.kind()))?);
    let folder = sandbox.room(&format!("{}-{name}", fixture.kind()))?;
    let mut cluster = OwnerCluster::new(OwnerPlan {
        program: sandbox.owner().to_owned(),
        command: vec!["owner".to_owned()],
        store,
        namespace: Namespace::new(&name).expect("a plain name"),
        folder,
        profile: Profile::Fast,
        lists: (0..options.lists).map(list).collect(),
    })
    .await?;
    start_all(&mut cluster, 1, options.nodes)?;
    Ok(SoakedCluster { cluster, nodes: options.nodes, joined: 0, left: 0 })
}

/// How often a process worked on a partition that is not of its cluster's lists.
fn foreign(cluster: &OwnerCluster) -> usize {
    let is_own = |partition: &Partition| {
        let mut lists = cluster.plan.lists.iter();
        lists.any(|list| list.id == partition.list && partition.number < list.partitions)
    };
    cluster.history.works.iter().filter(|work| !is_own(&work.partition)).count()
}

impl SoakedCluster {
    /// A node joins or leaves. There are never less than half as many as at the beginning, nor half
    /// as many again.
    fn change(&mut self, random: &mut Rng) -> Result<(), BenchError> {
        self.cluster.reap()?;
        let there = self.cluster.takers() as u32;
        let joins = match there {
            there if there <= self.nodes / 2 => true,
            there if there >= self.nodes + self.nodes / 2 => false,
            _ => random.one_in(2),
        };
        if joins {
            self.joined += 1;
            return Ok(self.cluster.start(&node_name(self.nodes + self.joined))?);
        }
        let processes = self.cluster.processes.iter().enumerate();
        let staying: Vec<usize> =
            processes.filter(|(_, it)| !it.is_leaving).map(|(at, _)| at).collect();
        self.left += 1;
        Ok(self.cluster.leave(staying[random.below(staying.len() as u64) as usize])?)
    }
}
