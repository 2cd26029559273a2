//! A process of its own that uses the client, so that it can be killed and paused: this very test
//! program, run again for one test.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use baton_cli::guard::{Guard, Report};
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::stage::{Stage, found, until, window};

/// What a driver is to do.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub script: String,
    pub soft_ms: u64,
    pub hard_ms: u64,
    /// Renews the window all the time.
    pub renews: bool,
}

/// A driver, as the test sees it.
pub struct Driver {
    process: Child,
    log: PathBuf,
    lock: PathBuf,
}

impl Driver {
    pub fn run(stage: &Stage, plan: &Plan) -> Self {
        let (log, lock) = (stage.path("log"), stage.path("lock"));
        let plan = serde_json::to_string(plan).expect("a plan is plain data");
        let this = std::env::current_exe().expect("this program is a file");
        let process = Command::new(this)
            .args(["--exact", "driver::drives", "--nocapture"])
            .env("DRIVER_PLAN", plan)
            .env("DRIVER_FOLDER", stage.folder())
            .stdout(Stdio::null())
            .spawn()
            .expect("this program can be run");
        Self { process, log, lock }
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).expect("it was not waited for");
    }

    /// Waits until the driver itself has ended.
    pub async fn end(&mut self) {
        let process = std::cell::RefCell::new(&mut self.process);
        let has_ended = || process.borrow_mut().try_wait().expect("it is ours").is_some();
        until(has_ended).await;
    }

    /// The number after this word in the log.
    pub async fn number(&self, word: &str) -> i32 {
        let prefix = format!("{word} ");
        found(async || {
            let lines = self.lines();
            lines.iter().find_map(|(_, line)| line.strip_prefix(&prefix)?.parse().ok())
        })
        .await
    }

    /// The reports so far, each with the moment at which the driver had it.
    pub fn reports(&self) -> Vec<(Moment, Report)> {
        let lines = self.lines();
        let read = |(at, line): &(Moment, String)| Some((*at, serde_json::from_str(line).ok()?));
        lines.iter().filter_map(read).collect()
    }

    fn lines(&self) -> Vec<(Moment, String)> {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let parts = whole.filter_map(|line| line.split_once(' '));
        let at = |micros: &str| micros.parse().map(Moment::from_micros).ok();
        parts.filter_map(|(micros, line)| Some((at(micros)?, line.to_owned()))).collect()
    }

    /// Can another process have what the driver holds: its port and its lock?
    pub async fn is_free(&self) -> (bool, bool) {
        let port = u16::try_from(self.number("port").await).expect("a port's number");
        // No process accepts: once the queue is full, connecting would take a second and more.
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let tried = TcpStream::connect_timeout(&address, Duration::from_millis(5));
        let refused = tried.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused);
        let file = File::open(&self.lock).expect("the driver made it");
        let locked = flock(&file, FlockOperation::NonBlockingLockExclusive).is_err();
        (refused, !locked)
    }
}

/// Runs as a driver if there is a plan. As a test, it checks that a plan arrives as it was made.
#[tokio::test]
async fn drives() {
    let Ok(plan) = std::env::var("DRIVER_PLAN") else {
        let plan = Plan { script: "a\n\"b\"".to_owned(), soft_ms: 1, hard_ms: 2, renews: true };
        let text = serde_json::to_string(&plan).expect("a plan is plain data");
        assert_eq!(serde_json::from_str::<Plan>(&text).expect("just written"), plan);
        return;
    };
    let plan = serde_json::from_str(&plan).expect("a plan made by a test");
    let folder = std::env::var("DRIVER_FOLDER").expect("it comes with the plan");
    drive(&plan, Path::new(&folder)).await.expect("nothing on the way fails");
}

async fn drive(plan: &Plan, folder: &Path) -> std::io::Result<()> {
    let mut log = File::create(folder.join("log"))?;
    let mut note = move |line: String| {
        writeln!(log, "{} {line}", SystemClock.now().as_micros())
            .expect("the test keeps the folder");
    };
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let lock = File::create(folder.join("lock"))?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
    let nothing = File::open("/dev/null")?;
    let baton = Path::new(env!("CARGO_BIN_EXE_baton"));
    let mut guard = Guard::spawn_as(baton, nothing.as_fd(), &[listener.as_fd(), lock.as_fd()])?;
    note(format!("port {}", listener.local_addr()?.port()));
    note(format!("guard {}", guard.pid()));

    let now = || window(plan.soft_ms, plan.hard_ms);
    guard.start(Stage::script_in(folder, &plan.script, now()))?;
    loop {
        tokio::select! {
            report = guard.next() => {
                note(serde_json::to_string(&report)?);
                if matches!(report, Report::Stopped | Report::Lost { .. }) {
                    return Ok(());
                }
            }
            () = SystemClock.sleep(Duration::from_millis(20)), if plan.renews => {
                guard.extend(now())?;
            }
        }
    }
}
