//! What the tests share: a folder, settings, and waiting for something to become true.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton::clock::Moment;
use baton::{Namespace, NodeId};
use baton_cli::attempts::Attempts;
use baton_cli::cluster::{Body, Cluster, Plan};
use baton_store::clock::{Clock, SystemClock};
use rustix::process::Pid;

use crate::running::{Running, Said};

/// Nothing that is waited for takes this long, on however busy a machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Time between two looks at what is waited for.
pub const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The defaults, with a shorter cold start: the lease lasts 15 s.
pub const DEFAULT: &[&str] = &["--cold-start-observation-window", "300ms"];

/// Their beats, without the jitter.
pub const DEFAULT_BEAT: Duration = Duration::from_secs(5);

/// A lease of 15 s that no busy machine loses, and beats that no test waits long for.
pub const STEADY: &[&str] = &[
    "--profile=fast",
    "--lease-timeout=15s",
    "--heartbeat-interval=1s",
    "--cold-start-observation-window=200ms",
];

/// A lease of twice [`PATIENCE`]: while a test waits, no term ends because its lease ran out.
pub const LONG: &[&str] = &[
    "--profile=fast",
    "--lease-timeout=1m",
    "--stop-grace=1s",
    "--cold-start-observation-window=200ms",
];

/// For whatever has to wait for a lease to run out: it lasts [`FAST_LEASE`]. A busy machine may
/// wake the guard most of a second late; the profile's own grace is half a second.
pub const FAST: &[&str] =
    &["--profile=fast", "--stop-grace=1s", "--cold-start-observation-window=200ms"];
pub const FAST_LEASE: Duration = Duration::from_secs(3);

/// How much shorter the trust window is than the lease: the clocks' drift and the safety margin.
pub const FAST_MARGIN: Duration = Duration::from_millis(130);

/// For a node alone: it leads at once.
pub const ALONE: &[&str] = &["--skip-cold-start"];

/// A folder of its own, whose path marks every process of the test.
pub struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    pub fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a writable folder");
        Self { folder }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn store(&self) -> String {
        format!("sqlite://{}", self.path("baton.db").display())
    }

    /// A cluster without members. Two of one stage share the store and the log.
    pub async fn cluster(&self, flags: &[&str]) -> Cluster {
        self.cluster_on(self.store(), flags).await
    }

    /// A cluster without members on another store.
    pub async fn cluster_on(&self, store: impl Into<String>, flags: &[&str]) -> Cluster {
        let plan = Plan {
            program: PathBuf::from(env!("CARGO_BIN_EXE_baton")),
            folder: self.folder.path().to_owned(),
            store: store.into(),
            namespace: Namespace::new("default").expect("a valid name"),
            every: Duration::from_millis(10),
            body: Body::run(flags),
        };
        Cluster::new(plan).await.expect("the folder is writable")
    }

    /// `baton run` with a shell script as its command.
    pub fn run(&self, flags: &[&str], script: &str) -> Running {
        let command = ["--", "sh", "-c", script];
        Running::start(self, &[&["run"], flags, &command].concat())
    }

    /// What baton says to these arguments, and how it ends.
    pub async fn baton(&self, arguments: &[&str]) -> Said {
        Running::start(self, arguments).said().await
    }

    /// The JSON document that baton prints.
    pub async fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let said = self.baton(&[arguments, &["--json"]].concat()).await;
        assert_eq!(said.code, Some(0), "{arguments:?}: {}", said.err);
        serde_json::from_str(&said.out).expect("a JSON document")
    }

    /// What a node of a cluster said on its standard error.
    pub fn said_by(&self, node: &str) -> String {
        fs::read_to_string(self.path(&format!("{node}.err"))).unwrap_or_default()
    }

    /// What was written into a file, once it ends with a whole line.
    pub async fn line(&self, name: &str) -> String {
        let path = self.path(name);
        let whole = || fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n'));
        until(name, async || whole()).await.trim().to_owned()
    }

    /// The process ids of everything that has the folder in its arguments or its environment.
    pub fn marked(&self) -> Vec<i32> {
        let mark = self.folder.path().display().to_string();
        let holds = |file: &str, pid: &i32| {
            let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            bytes.windows(mark.len()).any(|window| window == mark.as_bytes())
        };
        pids().filter(|pid| holds("environ", pid) || holds("cmdline", pid)).collect()
    }
}

fn pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").expect("/proc is there").filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The children of a process that have this name, such as baton's guard.
pub fn children(parent: u32, name: &str) -> Vec<Pid> {
    let is_child = |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let (head, tail) = stat.rsplit_once(')').unwrap_or_default();
        let above = tail.split_ascii_whitespace().nth(1).unwrap_or_default();
        head.ends_with(&format!("({name}")) && above == parent.to_string()
    };
    pids().filter(is_child).filter_map(Pid::from_raw).collect()
}

/// Waits until a look finds something.
pub async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let mut attempts = Attempts::new(LOOK_EVERY, PATIENCE);
    while attempts.next().await {
        if let Some(found) = look().await {
            return found;
        }
    }
    unreachable!("waited {PATIENCE:?} for {what}, in vain")
}

pub fn now() -> Moment {
    SystemClock.now()
}

pub fn id(name: &str) -> NodeId {
    NodeId::new(name).expect("a valid name")
}
