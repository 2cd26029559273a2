//! `baton demo`: three real processes on one file, and three failovers.
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
use std::time::Duration;

use baton::{Namespace, NodeId, Settings};

use crate::cluster::{Body, Cluster, Plan};
use crate::error::CommandError;
use session::Session;

pub use summary::Summary;

/// How often the job ticks.
const EVERY: Duration = Duration::from_millis(100);

/// The nodes, by name.
const NODES: [&str; 3] = ["alice", "bob", "carol"];

pub struct Demo {
    pub settings: Settings,
    /// Flags of `baton run` that give these settings.
    pub flags: Vec<String>,
    pub live: bool,
}

/// What the demo showed.
pub struct Played {
    pub summary: Summary,
    pub picture: String,
}

/// Plays the demo. All processes have ended when it returns.
pub async fn play(demo: &Demo) -> Result<Played, CommandError> {
    let error = |problem| CommandError::System { what: "no temporary folder", problem };
    let folder = tempfile::Builder::new().prefix("baton-demo-").tempdir().map_err(error)?;
    let this = std::env::current_exe();
    let this =
        this.map_err(|problem| CommandError::System { what: "no path to baton", problem })?;
    let cluster = Cluster::new(plan(demo, this, folder.path().to_owned())).await?;
    let mut session = Session::new(cluster, demo.settings.clone(), demo.live);
    let outcomes = acts::perform(&mut session, &NODES.map(node)).await?;
    session.close().await?;
    let ticks = session.cluster.ticks()?;
    let picture = plot::draw(&session, &ticks);
    Ok(Played { summary: Summary::new(outcomes, &ticks, demo.settings.lease_timeout), picture })
}

fn plan(demo: &Demo, program: PathBuf, folder: PathBuf) -> Plan {
    Plan {
        program,
        store: format!("sqlite://{}", folder.join("baton.db").display()),
        folder,
        namespace: Namespace::new("demo").expect("it is a valid name"),
        every: EVERY,
        body: Body::Run(demo.flags.clone()),
    }
}

fn node(name: &str) -> NodeId {
    NodeId::new(name).expect("it is a valid name")
}
