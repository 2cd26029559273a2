//! The test's side: a peer's process, told what to call, killed and paused.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use baton_core::ids::{BootId, Namespace};
use baton_core::protocol::Request;
use baton_store::Declaration;
use baton_store::{Answer, Call, StoreError};
use rustix::process::Signal;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::TEST;
use super::messages::{MARK, PeerCall, PeerMessage, URL};
use crate::faketime;
use crate::server::{signal, stop};

/// How a peer is to be started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start<'a> {
    /// Its time zone.
    pub zone: Option<&'a str>,
    /// The file that says how far its wall clock is ahead, see [`Process::set_clock`].
    pub faketime: Option<&'a Path>,
    /// The user and the group that it runs as, instead of those of the test.
    pub user: Option<u32>,
}

/// A peer's process. Killed with -9 when it is dropped.
pub struct Process {
    child: tokio::sync::Mutex<Child>,
    pid: u32,
    pipes: tokio::sync::Mutex<Pipes>,
    orders: AtomicU64,
    boots: Mutex<BTreeSet<BootId>>,
    declaration: Declaration,
}

struct Pipes {
    orders: ChildStdin,
    said: Lines<BufReader<ChildStdout>>,
}

impl Process {
    /// Starts one, and waits until it has the store open; says why if it was refused.
    pub async fn start(url: &str, start: Start<'_>) -> Result<Self, String> {
        let this = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(this);
        command.args(["--exact", TEST, "--nocapture", "--test-threads=1"]);
        command.env(URL, url).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        start.zone.map(|zone| command.env("TZ", zone));
        start.user.map(|user| command.uid(user).gid(user));
        if let Some(file) = start.faketime {
            command.envs(faketime::environment(file).map_err(|error| error.to_string())?);
        }
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let pid = child.id().expect("it has not been waited for");
        let orders = child.stdin.take().expect("it was asked for");
        let said = BufReader::new(child.stdout.take().expect("it was asked for")).lines();
        let mut pipes = Pipes { orders, said };
        let declaration = match pipes.hear().await? {
            PeerMessage::Ready(declaration) => declaration,
            PeerMessage::Refused(why) => return Err(why),
            PeerMessage::Answer(..) => {
                return Err("the peer answered before it was asked".to_owned());
            }
        };
        Ok(Self {
            child: tokio::sync::Mutex::new(child),
            pid,
            pipes: tokio::sync::Mutex::new(pipes),
            orders: AtomicU64::new(0),
            boots: Mutex::default(),
            declaration,
        })
    }

    /// What its store says of itself.
    pub fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    /// Makes a call there. A process that is gone leaves the outcome unknown.
    pub async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        if let Call::Core(Request::Beat(beat)) = &call {
            self.boots.lock().expect("no holder panics").insert(beat.node.boot);
        }
        let number = self.orders.fetch_add(1, Ordering::Relaxed);
        let order = PeerCall { number, namespace: namespace.clone(), call };
        let mut pipes = self.pipes.lock().await;
        let answer = pipes.exchange(&order).await;
        answer.unwrap_or_else(|detail| Err(StoreError::Unknown { detail }))
    }

    /// Did this boot beat here?
    pub fn is_of(&self, boot: BootId) -> bool {
        self.boots.lock().expect("no holder panics").contains(&boot)
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Kills it with -9, and waits until it is gone.
    pub async fn kill(&self) {
        // It cannot be killed twice, and need not.
        let _ = self.child.lock().await.kill().await;
    }

    /// Stops time for it, with SIGSTOP.
    pub fn pause(&self) {
        stop(self.pid);
    }

    /// Lets it go on.
    pub fn resume(&self) {
        signal(self.pid, Signal::CONT);
    }

    /// Sets the wall clock of all peers that were started with this file.
    pub fn set_clock(file: &Path, seconds_ahead: i64) -> Result<(), String> {
        faketime::write(file, seconds_ahead).map_err(|error| error.to_string())
    }
}

impl Pipes {
    async fn exchange(&mut self, order: &PeerCall) -> Result<Result<Answer, StoreError>, String> {
        let line = serde_json::to_string(order).expect("it is plain data");
        let told = self.orders.write_all(format!("{line}\n").as_bytes()).await;
        told.map_err(|error| format!("the peer's process has ended: {error}"))?;
        loop {
            match self.hear().await? {
                PeerMessage::Answer(number, answer) if number == order.number => {
                    return Ok(*answer);
                }
                // The caller of this order did not wait for its answer.
                PeerMessage::Answer(..) => {}
                other => return Err(format!("the peer said {other:?}")),
            }
        }
    }

    async fn hear(&mut self) -> Result<PeerMessage, String> {
        while let Some(line) = self.said.next_line().await.map_err(|error| error.to_string())? {
            if let Some(said) = line.strip_prefix(MARK) {
                return serde_json::from_str(said).map_err(|error| error.to_string());
            }
        }
        Err("the peer's process has ended".to_owned())
    }
}
