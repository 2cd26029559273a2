//! An old leader in a process of its own, stopped right before it writes.
//!
//! ```text
//!   test                                    the same program again, running the same test
//!   PausedLeader::start(TEST, orders) ────► orders_if_asked: take the lease
//!     next_report ◄──────────────────────── report "epoch 1"
//!     pause: every thread stands still      wait_for_go_ahead
//!     send_go_ahead: it waits in the pipe
//!     … another one takes over and writes
//!     resume ─────────────────────────────► reads it; writes, too late
//!     next_report ◄──────────────────────── report "epoch 1 is behind 2 …"
//! ```

use std::io::Write;
use std::process::Stdio;

use rustix::process::Signal;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::server::{signal, stop};
use crate::wait::soon;

/// The environment variable that holds the orders.
const ORDERS: &str = "BATON_TEST_OLD_COORDINATOR";

/// What libtest prints does not begin with this.
const MARK: &str = "old> ";

/// The orders of the old leader, if this process is one.
pub fn orders_if_asked() -> Option<String> {
    std::env::var(ORDERS).ok()
}

/// Reports something to the test that started this process.
///
/// # Panics
///
/// If no process listens.
pub fn report(text: &str) {
    let mut out = std::io::stdout().lock();
    let said = writeln!(out, "\n{MARK}{text}").and_then(|()| out.flush());
    said.expect("the process that started this one listens");
}

/// Waits until the test lets it go on. Blocks the thread: nothing is to happen meanwhile.
///
/// # Panics
///
/// If the test ended without it.
pub fn wait_for_go_ahead() {
    let heard = std::io::stdin().read_line(&mut String::new());
    assert!(heard.is_ok_and(|length| length > 0), "the process that started this one speaks to it");
}

/// The old leader, as the test sees it. Killed when it is dropped.
pub struct PausedLeader {
    child: Child,
    pid: u32,
    said: Lines<BufReader<ChildStdout>>,
}

impl PausedLeader {
    /// Starts this program again to run one test, which finds these orders.
    ///
    /// # Panics
    ///
    /// If the program cannot be started.
    pub fn start(test: &str, orders: &str) -> Self {
        let this = std::env::current_exe().expect("a test knows its program");
        let mut child = Command::new(this)
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(ORDERS, orders)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("a test can be started again");
        let pid = child.id().expect("it has not been waited for");
        let said = BufReader::new(child.stdout.take().expect("it was asked for")).lines();
        Self { child, pid, said }
    }

    /// Its next report.
    ///
    /// # Panics
    ///
    /// If it ends without a word, or says nothing for too long.
    pub async fn next_report(&mut self) -> String {
        let said = soon(async {
            while let Ok(Some(line)) = self.said.next_line().await {
                if let Some(said) = line.strip_prefix(MARK) {
                    return Some(said.to_owned());
                }
            }
            None
        });
        said.await.expect("the old leader speaks before it ends")
    }

    /// Stops it, and returns once every thread of it has stopped: one that still ran might write
    /// in time.
    pub fn pause(&self) {
        stop(self.pid);
    }

    /// Lets it go on past `wait_for_go_ahead`. If it is paused, it reads this when it is resumed.
    ///
    /// # Panics
    ///
    /// If it has ended.
    pub async fn send_go_ahead(&mut self) {
        let words = self.child.stdin.as_mut().expect("it was asked for");
        words.write_all(b"go on\n").await.expect("it is there");
        words.flush().await.expect("it is there");
    }

    /// Lets it go on.
    pub fn resume(&self) {
        signal(self.pid, Signal::CONT);
    }

    /// Waits for its end; says whether its test passed.
    pub async fn ended_well(mut self) -> bool {
        let ended = soon(async { self.child.wait().await.ok() }).await;
        ended.is_some_and(|status| status.success())
    }
}
