//! One process of baton, with what it says kept in files.

use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::stage::{Stage, until};

/// Tells the files of two processes apart.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// A process that ended, and what it said.
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// A process of baton. Dropping it kills it.
pub struct Running {
    process: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Running {
    /// Starts it in the stage's folder, at the stage's store, without a standard input.
    pub fn start(stage: &Stage, arguments: &[&str]) -> Self {
        Self::start_with(stage, arguments, Stdio::null())
    }

    /// Starts it with a pipe as its standard input.
    pub fn start_piped(stage: &Stage, arguments: &[&str]) -> (Self, ChildStdin) {
        let mut running = Self::start_with(stage, arguments, Stdio::piped());
        let pipe = running.process.stdin.take().expect("a pipe was asked for");
        (running, pipe)
    }

    /// Starts it through another program, which is told where it is as its last argument.
    pub fn start_through(stage: &Stage, program: &[&str]) -> Self {
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).arg(env!("CARGO_BIN_EXE_baton"));
        Self::spawn(stage, command, Stdio::null())
    }

    fn start_with(stage: &Stage, arguments: &[&str], stdin: Stdio) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
        command.args(arguments);
        Self::spawn(stage, command, stdin)
    }

    fn spawn(stage: &Stage, mut command: Command, stdin: Stdio) -> Self {
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let [out, err] = ["out", "err"].map(|kind| stage.path(&format!("said-{number}.{kind}")));
        let file = |path| File::create(path).expect("the folder is writable");
        // A process group of its own, as a shell makes one for each line.
        let process = command
            .env("BATON_STORE", stage.store())
            .current_dir(stage.folder())
            .stdin(stdin)
            .stdout(file(&out))
            .stderr(file(&err))
            .process_group(0)
            .spawn();
        Self { process: process.expect("the program was built"), out, err }
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).expect("it was not waited for");
    }

    /// Signals the whole process group, as a terminal does.
    pub fn signal_group(&self, signal: Signal) {
        let group = Pid::from_child(&self.process);
        kill_process_group(group, signal).expect("it was not waited for");
    }

    pub fn runs(&mut self) -> bool {
        self.process.try_wait().expect("it is ours").is_none()
    }

    pub fn out(&self) -> String {
        fs::read_to_string(&self.out).expect("made before the process")
    }

    pub fn err(&self) -> String {
        fs::read_to_string(&self.err).expect("made before the process")
    }

    /// The events or changes it has printed, a JSON object a line.
    pub fn lines(&self) -> Vec<serde_json::Value> {
        let text = self.out();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let parse = |line| serde_json::from_str(line).expect("a JSON object");
        whole.lines().map(parse).collect()
    }

    pub async fn ended(&mut self) -> ExitStatus {
        until("a process's end", async || self.process.try_wait().expect("it is ours")).await
    }

    /// Waits for its end. A process ended by a signal has no code.
    pub async fn said(mut self) -> Said {
        let status = self.ended().await;
        assert_eq!(status.signal(), None, "{}", self.err());
        Said { code: status.code(), out: self.out(), err: self.err() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
