//! `baton demo --partitions`: three real processes share the partitions of a task list while one
//! dies, one gives its partitions away, and a new one joins.
//!
//! ```text
//!   acts ── kill -9, drain, join ──► OwnerCluster ──► a log of each process
//!     │                                  │                  │
//!     └──► session: what happened ◄────────┴── looks ◄────────┘
//!            │ every tenth of a second        │ at the end
//!            ▼                                ▼
//!          view: who owns what             summary ──► verdict, JSON, plot
//! ```

mod acts;
mod plot;
mod session;
mod summary;
mod view;

use baton::partitions::TaskList;

use super::Arguments;
use crate::cluster::owners::{Findings, OwnerCluster, OwnerPlan};
use crate::error::CommandError;
use session::Session;
use summary::Summary;

/// The nodes that start together, by name, and the one that joins later.
const NODES: [&str; 3] = ["alice", "bob", "carol"];
const NEWCOMER: &str = "dave";

/// How many partitions the list has.
const PARTITIONS: u32 = 12;

/// What the demo shows, and a picture of it. All processes have ended when it returns.
pub async fn play(arguments: &Arguments) -> Result<(Summary, String), CommandError> {
    let folder = super::folder()?;
    let list = TaskList::new("orders".parse().expect("it is a valid name"), PARTITIONS);
    let plan = OwnerPlan {
        program: super::program()?,
        command: vec!["own".to_owned()],
        store: super::store_in(&folder),
        namespace: super::namespace(),
        folder: folder.path().to_owned(),
        profile: arguments.profile,
        lists: vec![list],
    };
    let lease = arguments.profile.settings().lease_timeout;
    let cluster = OwnerCluster::new(plan).await?;
    let mut session = Session::new(cluster, lease, arguments.is_live());
    let outcomes = acts::perform(&mut session).await?;
    session.close().await?;
    let history = &session.cluster.history;
    let summary = Summary::new(outcomes, history.works.len(), Findings::of(history), lease);
    Ok((summary, plot::draw(&session)))
}
