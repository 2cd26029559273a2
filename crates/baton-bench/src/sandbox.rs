//! Where a bench runs: a temporary folder with a copy of the program, and clusters in it.
//!
//! The copy is what makes a process known as ours: everything that a bench starts, jobs and guards
//! too, runs a program in this folder.

use std::path::{Path, PathBuf};
use std::time::Duration;

use baton::{BootId, Namespace, NodeId};
use baton_cli::cluster::{Body, Cluster, LeaderLease, Plan};
use baton_store::clock::{Clock, SystemClock};
use tempfile::TempDir;

use crate::error::BenchError;
use crate::fixture::Fixture;
use crate::processes::this_program;
use crate::settle;

/// How long anything may take that takes a few beats.
const PATIENCE: Duration = Duration::from_secs(90);

/// A node that lost an election stands back for an eighth of a beat. A strike within that time
/// would measure the election before it.
const STANDS_BACK: Duration = Duration::from_secs(1);

/// A process that starts keeps the machine busy for this long.
const STARTS_WITHIN: Duration = Duration::from_millis(250);

/// A temporary folder, removed with its end unless it is kept.
pub struct Sandbox {
    folder: TempDir,
    program: PathBuf,
    owner: PathBuf,
}

impl Sandbox {
    /// Makes the folder, and copies baton and this program into it: before anything else is
    /// started, because a file that is being written cannot be run.
    pub fn new(baton: &Path, within: &Path) -> Result<Self, BenchError> {
        if !baton.is_file() {
            return Err(BenchError::NoProgram(baton.to_owned()));
        }
        let trouble = |path: &Path| {
            let path = path.to_owned();
            move |problem| BenchError::File { path, problem }
        };
        let folder = tempfile::Builder::new().prefix("bench-").tempdir_in(within);
        let folder = folder.map_err(trouble(within))?;
        let program = folder.path().join("baton");
        std::fs::copy(baton, &program).map_err(trouble(baton))?;
        let (this, owner) = (this_program()?, folder.path().join("baton-owner"));
        std::fs::copy(&this, &owner).map_err(trouble(&this))?;
        Ok(Self { folder, program, owner })
    }

    /// The copy of baton.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The copy of this program, which owns partitions: a build beside a long bench changes
    /// nothing of it.
    pub fn owner(&self) -> &Path {
        &self.owner
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves the folder where it is, for a look at what happened.
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    /// Makes a folder for a store.
    pub fn room(&self, name: &str) -> Result<PathBuf, BenchError> {
        let folder = self.folder().join(name);
        let made = std::fs::create_dir_all(&folder);
        made.map_err(|problem| BenchError::File { path: folder.clone(), problem })?;
        Ok(folder)
    }

    /// A cluster of this many nodes with a namespace of its own, all of them started.
    pub async fn cluster(
        &self,
        fixture: &Fixture,
        name: &str,
        nodes: usize,
        every: Duration,
        body: Body,
    ) -> Result<Stage, BenchError> {
        let folder = self.room(&format!("{}-{name}", fixture.kind()))?;
        let cluster = Cluster::new(Plan {
            program: self.program.clone(),
            store: fixture.url(&folder),
            folder,
            namespace: Namespace::new(name).expect("a plain name"),
            every,
            body,
        })
        .await?;
        let digits = nodes.to_string().len();
        let id = |number| NodeId::new(&format!("node-{number:0digits$}")).expect("a plain name");
        let mut stage = Stage { cluster, names: (1..=nodes).map(id).collect() };
        for name in stage.names.clone() {
            stage.cluster.start(&name)?;
        }
        Ok(stage)
    }
}

/// A cluster and the names of its nodes.
pub struct Stage {
    /// The processes.
    pub cluster: Cluster,
    /// The nodes that take part.
    pub names: Vec<NodeId>,
}

impl Stage {
    /// Waits until every node is known and knows the leader, and the last election is over.
    pub async fn settled(&self) -> Result<LeaderLease, BenchError> {
        let lead = settle::settled(&self.cluster, self.names.len(), PATIENCE).await?;
        SystemClock.sleep(STANDS_BACK).await;
        Ok(lead)
    }

    /// Starts a node again that has ended. Returns the past process.
    pub async fn start_again(&mut self, name: &NodeId) -> Result<Option<BootId>, BenchError> {
        let past = settle::boot_of(&self.cluster, name).await?;
        self.cluster.start(name)?;
        SystemClock.sleep(STARTS_WITHIN).await;
        Ok(past)
    }

    /// Waits until the store knows the new process.
    pub async fn known_again(&self, name: &NodeId, past: Option<BootId>) -> Result<(), BenchError> {
        Ok(settle::registered(&self.cluster, name, past, PATIENCE).await?)
    }
}
