//! `chaos`: processes on one private server, and everything happens to all of it.
//!
//! ```text
//!   seed ──► fault: a sequence of kinds ──► campaign: bursts and calms
//!              nodes        kill, TERM, SIGSTOP ───┤   ┌──────────┐   proxy 1 ┐
//!              connections  cut, drop, delay … ────┼──►│ baton run├─► proxy 2 ├─► server
//!              store        kill, pause, sessions ─┤   └──────────┘   proxy N ┘
//!              flood        forged hints ──────────┘
//!   time is up: every fault is taken back, all settle, all stop
//!   outcome ◄── the jobs' log, the store's own history ──► print: one table for all stores
//! ```
//!
//! All stores run side by side. A file has no server and no connections: there only processes and
//! lifelines are struck.

mod campaign;
mod checks;
mod connections;
mod counts;
mod fault;
mod fault_kind;
mod flood;
mod nodes;
mod outcome;
mod print;
mod replica;
mod store;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use baton::{Namespace, NodeId};
use baton_cli::cluster::{Body, Cluster, Plan};
use baton_core::rng::Rng;
use baton_store::clock::{Clock, SystemClock};
use tokio::task::JoinSet;

use crate::cli::Chaos;
use crate::error::BenchError;
use crate::fixture::{Fixture, StoreKind, chosen};
use crate::log_reader::LogReader;
use crate::report::Report;
use crate::sandbox::{Sandbox, Stage};
use campaign::Campaign;
use connections::NodeConnections;
use counts::FaultCounts;
use fault::FaultSequence;
use fault_kind::FaultKind;
use flood::HintFlood;
use nodes::Nodes;
use outcome::Outcome;
use store::StoreServer;

/// A lease of 3 s: many failovers in a short time, those that wait for the lease among them.
const FLAGS: [&str; 2] = ["--profile", "fast"];

/// How often the job writes.
const TICK_EVERY: Duration = Duration::from_millis(10);

/// How often a cluster may be asked to settle: the first question may meet a broken connection.
const TRIES: u32 = 3;

/// The outcome of each store.
type Outcomes = BTreeMap<StoreKind, Result<Outcome, BenchError>>;

/// Runs the faults on every store, then looks at what is left.
pub async fn run(
    sandbox: &Arc<Sandbox>,
    options: &Chaos,
    bars: bool,
) -> Result<Report, BenchError> {
    let mut report = Report::new("chaos", bars);
    let seed = options.seed.map_or_else(fresh_seed, Ok)?;
    let seconds = options.lasts().as_secs();
    eprintln!("chaos: seed {seed}, {} nodes, {seconds} s", options.nodes);
    let mut at_work = JoinSet::new();
    for kind in chosen(&options.store) {
        let (sandbox, options) = (Arc::clone(sandbox), options.clone());
        at_work.spawn(async move { (kind, run_store(&sandbox, kind, &options, seed).await) });
    }
    let mut outcomes = Outcomes::new();
    while let Some(done) = at_work.join_next().await {
        let (kind, outcome) = done?;
        outcomes.insert(kind, outcome);
    }
    report.note(format!("seed {seed}"));
    print::add_to_report(sandbox, &outcomes, options.failovers_wanted(), &mut report).await?;
    Ok(report)
}

/// Runs the faults on one store.
async fn run_store(
    sandbox: &Sandbox,
    kind: StoreKind,
    options: &Chaos,
    seed: u64,
) -> Result<Outcome, BenchError> {
    let fixture = Fixture::new(kind).await?;
    let id = |number| NodeId::new(&format!("node-{number}")).expect("a plain name");
    let names: Vec<NodeId> = (1..=options.nodes).map(id).collect();
    let connections = NodeConnections::new(fixture.server(), &names).await;
    let mut stage = begin(sandbox, &fixture, &connections, names).await?;
    settled(&stage).await?;
    let store = StoreServer::new(&fixture, &stage.cluster.plan.namespace).await?;
    let kinds = FaultKind::of(kind);
    let mut campaign = Campaign {
        name: kind.to_string(),
        log: LogReader::from_now(&stage.cluster.log())?,
        flood: HintFlood::new(stage.cluster.store.clone(), stage.cluster.plan.namespace.clone()),
        nodes: Nodes::new(&mut stage),
        connections,
        store,
        faults: FaultSequence::new(Rng::new(seed).fork(kind as u64), kinds.clone()),
        counts: FaultCounts::default(),
        last: None,
        epochs: BTreeSet::new(),
    };
    campaign.run(options.lasts(), options.failovers_wanted()).await?;
    let calm_since = SystemClock.now();
    campaign.repair_all().await?;
    let Campaign { counts, connections, store, .. } = campaign;
    let lost = store.lost();
    settled(&stage).await?;
    let settled_in = SystemClock.now().since(calm_since);
    eprintln!("{kind}: settled {:.1} s after the last fault", settled_in.as_secs_f64());
    stage.cluster.stop().await?;
    let outcome = Outcome::of(&stage.cluster, counts, &kinds, (settled_in, &lost)).await;
    drop(connections);
    outcome
}

/// Starts all nodes, each with a connection path of its own to the server.
async fn begin(
    sandbox: &Sandbox,
    fixture: &Fixture,
    connections: &NodeConnections,
    names: Vec<NodeId>,
) -> Result<Stage, BenchError> {
    let folder = sandbox.room(&format!("chaos-{}", fixture.kind()))?;
    let mut cluster = Cluster::new(Plan {
        program: sandbox.program().to_owned(),
        store: fixture.url(&folder),
        folder,
        namespace: Namespace::new("chaos").expect("a plain name"),
        every: TICK_EVERY,
        body: Body::run(&FLAGS),
    })
    .await?;
    for name in &names {
        let url = connections.url(fixture, name);
        if let Some(url) = url {
            cluster.route(name, url);
        }
        cluster.start(name)?;
    }
    Ok(Stage { cluster, names })
}

async fn settled(stage: &Stage) -> Result<(), BenchError> {
    let mut tries = 1;
    loop {
        match stage.settled().await {
            Err(_) if tries < TRIES => tries += 1,
            settled => return settled.map(drop),
        }
    }
}

/// A fresh seed.
fn fresh_seed() -> Result<u64, BenchError> {
    let drawn = baton::fresh_boot()?.0;
    // Short enough to be typed again.
    Ok(u64::try_from(drawn % 1_000_000).unwrap_or_default())
}
