//! `baton demo`: three real processes on one file, and the three ways to lose a leader.
//!
//! ```text
//!   acts ── kill -9, resign, pause ──► cluster ──► ticks.log
//!     │                                  │            │
//!     └──► session: what happened ◄────────┴── looks ◄──┘
//!            │ every tenth of a second        │ at the end
//!            ▼                                ▼
//!          view (a terminal)               summary ──► verdict, JSON, plot
//! ```

mod acts;
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
use summary::Summary;

/// How often the job ticks.
const EVERY: Duration = Duration::from_millis(100);

/// The nodes, by name.
const NODES: [&str; 3] = ["alice", "bob", "carol"];

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Write a picture of the leaders over time to this file, as SVG.
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
    // The nodes are killed when `play` is dropped.
    let (summary, picture) = tokio::select! {
        played = play(arguments) => played?,
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

/// What the demo shows, and a picture of it. All processes have ended when it returns.
async fn play(arguments: &Arguments) -> Result<(Summary, String), CommandError> {
    let folder = tempfile::Builder::new().prefix("baton-demo-").tempdir();
    let folder = folder.map_err(CommandError::system("no temporary folder"))?;
    let plan = Plan {
        program: std::env::current_exe().map_err(CommandError::system("no path to baton"))?,
        store: format!("sqlite://{}", folder.path().join("baton.db").display()),
        folder: folder.path().to_owned(),
        namespace: Namespace::new("demo").expect("it is a valid name"),
        every: EVERY,
        body: Body::Run(vec!["--profile".to_owned(), arguments.profile.to_string()]),
    };
    let lease = arguments.profile.settings().lease_timeout;
    let live = stdout::is_terminal() && !arguments.json;
    let mut session = Session::new(Cluster::new(plan).await?, lease, live);
    let outcomes = acts::perform(&mut session, &NODES.map(node)).await?;
    session.close().await?;
    let ticks = session.cluster.ticks()?;
    let picture = plot::draw(&session, &ticks);
    Ok((Summary::new(outcomes, &ticks, lease), picture))
}

fn node(name: &str) -> NodeId {
    NodeId::new(name).expect("it is a valid name")
}
