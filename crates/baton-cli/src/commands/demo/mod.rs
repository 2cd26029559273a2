//! `baton demo`: three real processes on one file, and the three ways to lose a leader; or, with
//! `--partitions`, three that share the partitions of a task list.
//!
//! ```text
//!   acts ── kill -9, resign, pause ──► cluster ──► ticks.log
//!     │                                  │            │
//!     └──► session: what happened ◄────────┴── looks ◄──┘
//!            │ every tenth of a second        │ at the end
//!            ▼                                ▼
//!          journal: view, or lines         summary ──► verdict, JSON, plot
//! ```
//!
//! `partitions/` has acts, session, view, summary and plot of its own.

mod acts;
mod journal;
mod partitions;
mod plot;
mod session;
mod summary;
mod view;

use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use baton::{Namespace, NodeId, Profile};

use crate::cluster::{Body, Cluster, Plan};
use crate::error::{CommandError, Exit};
use crate::output::{log, stdout};
use session::Session;
use summary::{Figures, Summary};
use tempfile::TempDir;

/// How often the job ticks.
const EVERY: Duration = Duration::from_millis(100);

/// The nodes, by name.
const NODES: [&str; 3] = ["alice", "bob", "carol"];

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Show, instead of failovers, three processes that share 12 partitions: one is killed with -9,
    /// one gives its partitions away, and a new one joins.
    #[arg(long)]
    partitions: bool,
    /// Write a picture of the leaders over time, or of the owners of the partitions, to this file
    /// as SVG.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Set of defaults that the nodes start from: `fast` has a lease of 3 s instead of 15 s.
    #[arg(long, default_value = "default")]
    profile: Profile,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
}

/// Plays the demo and judges it.
pub async fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    match arguments.partitions {
        true => judge(arguments, partitions::play(arguments)).await,
        false => judge(arguments, play(arguments)).await,
    }
}

/// Prints what a demo showed, unless it is interrupted.
async fn judge<F: Figures>(
    arguments: &Arguments,
    playing: impl Future<Output = Result<(F, String), CommandError>>,
) -> Result<Exit, CommandError> {
    // The nodes are killed when `playing` is dropped.
    let (summary, picture) = tokio::select! {
        played = playing => played?,
        asked = pin!(super::interrupted()) => {
            asked?;
            log::info("interrupted; the nodes were stopped");
            return Ok(Exit::INTERRUPTED);
        }
    };
    if let Some(path) = &arguments.plot {
        let trouble = |problem| CommandError::Write { path: path.clone(), problem };
        std::fs::write(path, &picture).map_err(trouble)?;
        log::info(&format!("the picture is in {}", path.display()));
    }
    match arguments.json {
        true => stdout::json_line(&summary),
        false => stdout::text(&format!("\n{}", summary.render(stdout::width()))),
    }
    Ok(if summary.is_good() { Exit::DONE } else { Exit::FAILED })
}

/// A folder for the store and the logs of a demo, which is removed with it.
fn folder() -> Result<TempDir, CommandError> {
    let folder = tempfile::Builder::new().prefix("baton-demo-").tempdir();
    folder.map_err(CommandError::system("no temporary folder"))
}

fn program() -> Result<PathBuf, CommandError> {
    std::env::current_exe().map_err(CommandError::system("no path to baton"))
}

fn store_in(folder: &TempDir) -> String {
    format!("sqlite://{}", folder.path().join("baton.db").display())
}

fn namespace() -> Namespace {
    Namespace::new("demo").expect("it is a valid name")
}

impl Arguments {
    /// Is there a live view?
    fn is_live(&self) -> bool {
        stdout::is_terminal() && !self.json
    }
}

/// What the demo shows, and a picture of it. All processes have ended when it returns.
async fn play(arguments: &Arguments) -> Result<(Summary, String), CommandError> {
    let folder = folder()?;
    let plan = Plan {
        program: program()?,
        store: store_in(&folder),
        folder: folder.path().to_owned(),
        namespace: namespace(),
        every: EVERY,
        body: Body::Run(vec!["--profile".to_owned(), arguments.profile.to_string()]),
    };
    let lease = arguments.profile.settings().lease_timeout;
    let mut session = Session::new(Cluster::new(plan).await?, lease, arguments.is_live());
    let outcomes = acts::perform(&mut session, &NODES.map(node)).await?;
    session.close().await?;
    let ticks = session.cluster.ticks()?;
    let picture = plot::draw(&session, &ticks);
    Ok((Summary::new(outcomes, &ticks, lease), picture))
}

fn node(name: &str) -> NodeId {
    NodeId::new(name).expect("it is a valid name")
}
