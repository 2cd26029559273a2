//! What the tests share: a folder, a store, processes, and waiting for something to become true.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use baton::{Epoch, Namespace, Store};
use baton_cli::attempts::Attempts;
use baton_testbed::{Kind, Server, faketime};
use rustix::process::{Pid, Signal, kill_process};

use crate::runs::Runs;

/// Nothing that is waited for takes this long, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A lease that no busy machine loses: what moves leadership here is the death of its holder.
pub const STEADY: &[&str] = &[
    "--profile=fast",
    "--lease-timeout=15s",
    "--heartbeat-interval=1s",
    "--cold-start-observation-window=200ms",
];

/// A lease of three seconds, for a test that must see one run out.
pub const QUICK: &[&str] =
    &["--profile=fast", "--stop-grace=1s", "--cold-start-observation-window=200ms"];

/// What most tests run: a line for each start of the command.
pub const NOTE: &str = "echo $BATON_SLOT $BATON_ATTEMPT $BATON_NODE_ID >> runs";

/// The namespace of the schedule: its nodes run nothing else.
pub fn namespace() -> Namespace {
    Namespace::new("default:schedule:tick").expect("a valid name")
}

/// A folder, and a store.
pub struct Stage {
    folder: tempfile::TempDir,
    server: Option<Server>,
}

impl Stage {
    /// The embedded store, or a server of this kind.
    pub async fn new(kind: Option<Kind>) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a writable folder");
        let server = match kind {
            Some(kind) => Some(Server::start(kind).await.expect("it can be started here")),
            None => None,
        };
        Self { folder, server }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn store(&self) -> String {
        let file = || format!("sqlite://{}", self.path("baton.db").display());
        self.server.as_ref().map_or_else(file, Server::url)
    }

    pub async fn open(&self) -> Arc<dyn Store> {
        baton::open(&self.store()).await.expect("it is there")
    }

    /// A process that runs a script on a schedule.
    pub fn replica(&self, id: &str, schedule: &[&str], script: &str) -> Replica {
        self.spawn(id, &[STEADY, schedule].concat(), script, None)
    }

    /// The same with another lease.
    pub fn replica_with(&self, id: &str, flags: &[&str], script: &str) -> Replica {
        self.spawn(id, flags, script, None)
    }

    /// The same, with a wall clock that is ahead by this many seconds. It leads at once.
    pub fn replica_at(&self, ahead_s: i64, schedule: &[&str], script: &str) -> Replica {
        faketime::write(&self.path("clock"), ahead_s).expect("a writable folder");
        let flags = [STEADY, schedule, &["--skip-cold-start"]].concat();
        self.spawn("a", &flags, script, Some(&self.path("clock")))
    }

    fn spawn(&self, id: &str, flags: &[&str], script: &str, clock: Option<&PathBuf>) -> Replica {
        let err = File::options().create(true).append(true).open(self.path(&format!("{id}.err")));
        let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
        command.args(["run", "--store", &self.store(), "--id", id, "--schedule", "tick"]);
        command.args(flags).args(["--", "sh", "-c", script]);
        if let Some(file) = clock {
            command.envs(faketime::environment(file).expect("the library can be installed"));
        }
        let process = command
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(err.expect("the folder is writable"))
            .process_group(0)
            .spawn();
        Replica(process.expect("the program was built"))
    }

    /// What a replica said so far.
    pub fn said_by(&self, id: &str) -> String {
        fs::read_to_string(self.path(&format!("{id}.err"))).unwrap_or_default()
    }

    /// What the commands wrote so far.
    pub fn runs(&self) -> Runs {
        Runs::read(&fs::read_to_string(self.path("runs")).unwrap_or_default())
    }

    /// Waits until the command was started this often.
    pub async fn starts(&self, count: usize) -> Runs {
        until("starts", async || Some(self.runs()).filter(|runs| runs.0.len() >= count)).await
    }

    /// The node that leads and its epoch, once there is one after this epoch.
    pub async fn leader(&self, store: &Arc<dyn Store>, after: Epoch) -> (String, Epoch) {
        let namespace = namespace();
        let look = async || {
            let lease = store.inspect(&namespace).await.ok()?.lease?;
            let leader = (lease.leader()?.node.to_string(), lease.version.epoch);
            Some(leader).filter(|(_, epoch)| *epoch > after)
        };
        until("a leader", look).await
    }
}

/// A process of `baton run`. Dropping it kills it.
pub struct Replica(Child);

impl Replica {
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("it was not waited for");
    }

    /// Kills it with -9, and waits for its end.
    pub fn kill(&mut self) {
        self.0.kill().expect("it was not waited for");
        self.0.wait().expect("it is ours");
    }

    /// Asks it to end, and waits for that.
    pub async fn stop(&mut self) {
        self.signal(Signal::TERM);
        let end = async || self.0.try_wait().expect("it is ours");
        let status = until("a replica's end", end).await;
        assert!(status.success(), "{status}");
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until a look finds something.
pub async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let mut attempts = Attempts::new(Duration::from_millis(2), PATIENCE);
    while attempts.next().await {
        if let Some(found) = look().await {
            return found;
        }
    }
    unreachable!("waited {PATIENCE:?} for {what}, in vain")
}
