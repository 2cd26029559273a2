//! A process of its own that has the file open: one call a line in, one answer a line out.
//!
//! The test program starts itself again and runs the one test below, which serves if it finds its
//! orders in the environment.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use baton_core::ids::{BootId, Namespace};
use baton_core::protocol::Request;
use baton_drivers::sqlite::{SqliteConfig, SqliteStore, process_locks};
use baton_store::clock::{Clock, SystemClock};
use baton_store::wrap::Layer;
use baton_store::{Answer, Backend, Call, StoreError};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::clock::FileClock;
use crate::file::File;

const DATABASE: &str = "BATON_TEST_PEER_DATABASE";
const CLOCK: &str = "BATON_TEST_PEER_CLOCK";

/// What libtest prints does not begin with this.
const MARK: &str = "peer> ";

/// What a peer is told.
#[derive(Serialize, Deserialize)]
pub enum Order {
    /// Make this call.
    Call(Namespace, Box<Call>),
    /// Start a process that has the locks of this boot too, and say its id.
    Guard(BootId),
}

/// What a peer says.
#[derive(Debug, Serialize, Deserialize)]
pub enum Said {
    /// The file is open.
    Ready,
    /// The file is not open, because of this.
    Refused(String),
    /// The answer to a call.
    Answer(Box<Result<Answer, StoreError>>),
    /// The id of the guard's process.
    Guard(u32),
}

fn say(said: &Said) {
    let line = serde_json::to_string(said).expect("it is plain data");
    let mut out = std::io::stdout().lock();
    let written = writeln!(out, "\n{MARK}{line}").and_then(|()| out.flush());
    written.expect("whoever started this process listens");
}

fn serve(database: &Path) {
    let clock: Arc<dyn Clock> = match std::env::var_os(CLOCK) {
        Some(path) => Arc::new(FileClock::open(Path::new(&path))),
        None => Arc::new(SystemClock),
    };
    let store = match SqliteStore::open_with_clock(SqliteConfig::at(database), clock) {
        Ok(store) => store,
        Err(refusal) => return say(&Said::Refused(refusal.to_string())),
    };
    say(&Said::Ready);
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("nothing is asked of it");
    for line in std::io::stdin().lines().map_while(Result::ok) {
        match serde_json::from_str(&line).expect("orders are plain data") {
            Order::Call(namespace, call) => {
                let answer = runtime.block_on(store.call(&namespace, *call));
                say(&Said::Answer(Box::new(answer)));
            }
            Order::Guard(boot) => {
                let lock = process_locks(boot).pop().expect("the boot has beaten here");
                let guard = std::process::Command::new("sleep")
                    .arg("600")
                    .stdin(Stdio::from(lock))
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn();
                say(&Said::Guard(guard.expect("every machine can sleep").id()));
            }
        }
    }
}

/// A peer's process. Killed when it is dropped.
pub struct Process {
    child: tokio::sync::Mutex<Child>,
    pipes: tokio::sync::Mutex<(ChildStdin, Lines<BufReader<ChildStdout>>)>,
    boots: Mutex<BTreeSet<BootId>>,
}

/// How a peer is to be started.
#[derive(Default)]
pub struct Start<'a> {
    pub clock: Option<&'a Path>,
    pub zone: Option<&'a str>,
    pub user: Option<u32>,
}

impl Process {
    /// Starts one on this file, and waits until it has it open; says why if it was refused.
    pub async fn start(database: &Path, start: Start<'_>) -> Result<Self, String> {
        let this = std::env::current_exe().expect("a test knows its program");
        let mut command = Command::new(this);
        command.args(["--exact", "peer::a_peer_answers_from_its_own_process", "--nocapture"]);
        command.env(DATABASE, database).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        start.clock.map(|path| command.env(CLOCK, path));
        start.zone.map(|zone| command.env("TZ", zone));
        start.user.map(|user| command.uid(user).gid(user));
        let mut child = command.spawn().expect("the test's own program can be started");
        let stdin = child.stdin.take().expect("it was asked for");
        let stdout = child.stdout.take().expect("it was asked for");
        let pipes = tokio::sync::Mutex::new((stdin, BufReader::new(stdout).lines()));
        let process =
            Self { child: tokio::sync::Mutex::new(child), pipes, boots: Mutex::default() };
        match process.hear().await? {
            Said::Ready => Ok(process),
            Said::Refused(why) => Err(why),
            other => Err(format!("it said {other:?} first")),
        }
    }

    /// Tells it something, without waiting for what it says.
    pub async fn tell(&self, order: &Order) -> Result<(), String> {
        if let Order::Call(_, call) = order
            && let Call::Core(Request::Beat(beat)) = &**call
        {
            self.boots.lock().expect("no holder panics").insert(beat.node.boot);
        }
        let line = serde_json::to_string(order).expect("it is plain data");
        let mut pipes = self.pipes.lock().await;
        let told = pipes.0.write_all(format!("{line}\n").as_bytes()).await;
        told.map_err(|error| error.to_string())
    }

    /// What it says next.
    pub async fn hear(&self) -> Result<Said, String> {
        let mut pipes = self.pipes.lock().await;
        while let Some(line) = pipes.1.next_line().await.map_err(|error| error.to_string())? {
            if let Some(said) = line.strip_prefix(MARK) {
                return serde_json::from_str(said).map_err(|error| error.to_string());
            }
        }
        Err("the peer's process has ended".to_owned())
    }

    /// Did this boot beat here?
    pub fn is_of(&self, boot: BootId) -> bool {
        self.boots.lock().expect("no holder panics").contains(&boot)
    }

    /// Kills it with signal 9, and waits until it is gone.
    pub async fn kill(&self) {
        self.child.lock().await.kill().await.expect("it is this one's child");
    }
}

/// A store whose calls are made in that process.
pub struct Remote(pub Arc<Process>);

#[async_trait]
impl Layer for Remote {
    async fn call(
        &self,
        _inner: &dyn Backend,
        namespace: &Namespace,
        call: Call,
    ) -> Result<Answer, StoreError> {
        let broken = |detail| StoreError::Unknown { detail };
        let order = Order::Call(namespace.clone(), Box::new(call));
        self.0.tell(&order).await.map_err(broken)?;
        match self.0.hear().await.map_err(broken)? {
            Said::Answer(answer) => *answer,
            other => Err(broken(format!("the peer said {other:?}"))),
        }
    }
}

#[tokio::test]
async fn a_peer_answers_from_its_own_process() {
    if let Some(database) = std::env::var_os(DATABASE) {
        let database = std::path::PathBuf::from(database);
        let served = std::thread::scope(|scope| scope.spawn(|| serve(&database)).join());
        return assert!(served.is_ok(), "the peer panicked");
    }
    let file = File::new();
    let process = Process::start(&file.path(), Start::default()).await.expect("it may be opened");
    let namespace = crate::beats::namespace("web");
    process.tell(&Order::Call(namespace, Box::new(Call::Inspect))).await.expect("it listens");
    let said = process.hear().await.expect("it answers");
    assert!(matches!(&said, Said::Answer(answer) if answer.is_ok()), "{said:?}");
}
