//! `--pattern succession`: each new leader is struck a second after it took over, as a release that
//! crashes in a loop does, or a rolling deploy.
//!
//! ```text
//!   restarted   3 nodes; the struck one is started again at once, under its own id
//!   gone        6 nodes; none is started again, until one is left
//!   lone        1 node; struck, and started again at once
//! ```

use std::sync::Arc;
use std::time::Duration;

use baton::NodeId;
use baton::clock::Moment;
use baton_cli::cluster::{Body, Signal, Tick};
use baton_store::clock::{Clock, SystemClock};

use super::{TICK_EVERY, epoch_of};
use crate::cli::Failover;
use crate::error::BenchError;
use crate::fixture::{Fixture, StoreKind, chosen};
use crate::log_findings::LogFindings;
use crate::log_reader::LogReader;
use crate::percentiles::ms;
use crate::progress::Progress;
use crate::report::{Bar, Report};
use crate::sandbox::{Sandbox, Stage};

/// How long after a takeover the new leader is struck.
const A_SECOND: Duration = Duration::from_secs(1);

/// How long the next job may take to come: well beyond lease, beat and delays.
const PATIENCE: Duration = Duration::from_secs(60);

/// What happens to the struck node, and how many nodes the cluster has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scenario {
    Restarted,
    Gone,
    Lone,
}

impl Scenario {
    fn nodes(self) -> usize {
        match self {
            Self::Restarted => 3,
            Self::Gone => 6,
            Self::Lone => 1,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Restarted => "restarted",
            Self::Gone => "gone",
            Self::Lone => "lone",
        }
    }

    /// How many leaders of one cluster are struck.
    fn strikes(self, wanted: u32) -> u32 {
        match self {
            Self::Gone => wanted.min(5),
            Self::Restarted | Self::Lone => wanted,
        }
    }

    fn bars(self) -> Vec<Bar> {
        match self {
            Self::Restarted | Self::Gone => vec![Bar::p99(300.0)],
            Self::Lone => vec![Bar::max(1_000.0)],
        }
    }
}

/// The signal that a leader is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StrikeSignal {
    Kill,
    Term,
}

impl StrikeSignal {
    fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Term => "term",
        }
    }
}

/// What is measured. A lone node that gets TERM is not among it: it releases the lease, so that the
/// process that is started next has nothing to wait for.
const ROWS: [(StrikeSignal, Scenario); 5] = [
    (StrikeSignal::Kill, Scenario::Restarted),
    (StrikeSignal::Kill, Scenario::Gone),
    (StrikeSignal::Term, Scenario::Restarted),
    (StrikeSignal::Term, Scenario::Gone),
    (StrikeSignal::Kill, Scenario::Lone),
];

/// Runs every row on every store, one after the other.
pub async fn run(
    sandbox: &Arc<Sandbox>,
    options: &Failover,
    bars: bool,
) -> Result<Report, BenchError> {
    let mut report = Report::new("failover", bars);
    let mut findings = LogFindings::default();
    for kind in chosen(&options.store) {
        let fixture = Fixture::new(kind).await?;
        for (signal, scenario) in ROWS {
            let (times, logs) =
                measure(sandbox, &fixture, signal, scenario, options.trials).await?;
            findings = findings.and(logs);
            report.measured(&title(kind, signal, scenario), "ms", &times, &scenario.bars());
        }
    }
    findings.add_to_report(&mut report);
    Ok(report)
}

fn title(kind: StoreKind, signal: StrikeSignal, scenario: Scenario) -> String {
    let signal = match signal {
        StrikeSignal::Kill => "kill -9",
        StrikeSignal::Term => "SIGTERM",
    };
    format!("{kind} {signal} {}", scenario.name())
}

/// Strikes in as many clusters as it takes, one after the other.
async fn measure(
    sandbox: &Sandbox,
    fixture: &Fixture,
    signal: StrikeSignal,
    scenario: Scenario,
    trials: u32,
) -> Result<(Vec<f64>, LogFindings), BenchError> {
    let what = title(fixture.kind(), signal, scenario);
    let progress = Progress::new(&what, trials);
    let (mut times, mut findings) = (Vec::new(), LogFindings::default());
    while times.len() < trials as usize {
        let name = format!("{}-{}-{}", signal.name(), scenario.name(), times.len());
        let body = Body::run(&[]);
        let mut stage = sandbox.cluster(fixture, &name, scenario.nodes(), TICK_EVERY, body).await?;
        let wanted = trials - u32::try_from(times.len()).unwrap_or(trials);
        let mut leader = first(&stage).await?;
        for _ in 0..scenario.strikes(wanted) {
            let (took, next) = strike(&mut stage, &leader, signal, scenario).await?;
            times.push(ms(took));
            progress.step();
            leader = next;
        }
        stage.cluster.stop().await?;
        findings = findings.and(LogFindings::of(&stage.cluster.ticks()?));
    }
    Ok((times, findings))
}

/// The leader of a cluster that has settled.
async fn first(stage: &Stage) -> Result<Leader, BenchError> {
    let lead = stage.settled().await?;
    Ok(Leader { epoch: epoch_of(&lead), node: lead.node, since: SystemClock.now() })
}

/// A leader, and since when it leads.
struct Leader {
    node: NodeId,
    epoch: u64,
    since: Moment,
}

impl Leader {
    fn of(tick: &Tick) -> Self {
        let node = NodeId::new(&tick.node).expect("the bench gives plain names");
        Self { node, epoch: tick.epoch, since: tick.at }
    }
}

/// Strikes the leader once it has led for a second; how long it takes until the next job runs.
async fn strike(
    stage: &mut Stage,
    leader: &Leader,
    signal: StrikeSignal,
    scenario: Scenario,
) -> Result<(Duration, Leader), BenchError> {
    SystemClock.sleep((leader.since + A_SECOND).since(SystemClock.now())).await;
    let mut log = LogReader::from_now(&stage.cluster.log())?;
    let before = SystemClock.now();
    let member = stage.cluster.member(&leader.node)?;
    match signal {
        StrikeSignal::Kill => member.kill()?,
        StrikeSignal::Term => {
            member.signal(Signal::TERM)?;
            member.ended().await?;
        }
    }
    if scenario != Scenario::Gone {
        stage.cluster.start(&leader.node)?;
    }
    let next = log.next_term(leader.epoch, PATIENCE).await?;
    Ok((next.at.since(before), Leader::of(&next)))
}
