//! `baton demo`: three real processes on one file, and the three ways to lose a leader.
//!
//! ```text
//!   acts ── kill -9, resign, pause ──► cluster ──► ticks.log
//!     │                                  │            │
//!     └──► stage: what happened ◄────────┴── looks ◄──┘
//!            │ every tenth of a second        │ at the end
//!            ▼                                ▼
//!          view (a terminal)               summary ──► verdict, JSON, plot
//! ```

mod acts;
mod plot;
mod stage;
mod summary;
mod view;

use std::path::PathBuf;
use std::time::Duration;

use baton::{Namespace, NodeId, Settings};

use crate::cluster::{Body, Cluster, Plan};
use crate::error::CommandError;
use stage::Stage;

pub use acts::Act;
pub use summary::Summary;

/// How often the job ticks.
const EVERY: Duration = Duration::from_millis(100);

/// The nodes, by name.
const NODES: [&str; 3] = ["alice", "bob", "carol"];

/// What the demo is to do.
pub struct Demo {
    /// The settings the nodes run with.
    pub settings: Settings,
    /// The flags that say so.
    pub flags: Vec<String>,
    /// Draw the live view, if there is a terminal.
    pub live: bool,
}

/// What came of it, and what can be drawn of it.
pub struct Shown {
    /// The figures.
    pub summary: Summary,
    /// The timeline as a picture.
    pub picture: String,
}

/// Plays the demo. Whatever was started has ended when it returns.
pub async fn play(demo: &Demo) -> Result<Shown, CommandError> {
    let trouble = |problem| CommandError::System { what: "no temporary folder", problem };
    let folder = tempfile::Builder::new().prefix("baton-demo-").tempdir().map_err(trouble)?;
    let this = std::env::current_exe();
    let this =
        this.map_err(|problem| CommandError::System { what: "no path to baton", problem })?;
    let cluster = Cluster::new(plan(demo, this, folder.path().to_owned())).await?;
    let mut stage = Stage::new(cluster, demo.settings.clone(), demo.live);
    let outcomes = acts::perform(&mut stage, &NODES.map(node)).await?;
    stage.close().await?;
    let ticks = stage.ticks()?;
    let picture = plot::draw(&stage, &ticks);
    Ok(Shown { summary: Summary::new(outcomes, &ticks, demo.settings.lease_timeout), picture })
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
