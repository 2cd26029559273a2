//! A server's process, on its leash: a small shell that kills it when this process is gone.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use baton_store::clock::{Clock, SystemClock};
use rustix::process::Signal;

use super::recipe::Recipe;
use super::tree;
use crate::error::{ErrorContext, TestbedError};
use crate::folders::{self, NOBODY};

const LEASH: &str = include_str!("leash.sh");

/// How long a server may take to end when it is asked to.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that runs. Killed with -9 when it is dropped.
pub struct Process {
    leash: Child,
    pub pid: u32,
    is_free: bool,
}

impl Process {
    /// Starts it. The folder is removed by the leash should this process be killed.
    pub fn start(recipe: &Recipe, folder: &Path, log: &Path) -> Result<Self, TestbedError> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", LEASH, "leash"]).arg(folder).arg(log);
        command.args(command_line(recipe));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // A group of its own: what a terminal sends to the test is not meant for the server.
        command.current_dir("/").process_group(0);
        let what = || format!("starting {}", recipe.program.display());
        let mut leash = command.spawn().context(what)?;
        let stdout = leash.stdout.take().expect("it was asked for");
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).context(what)?;
        let not_a_number = |_| std::io::Error::other(format!("the shell said {line:?}"));
        let pid = line.trim().parse().map_err(not_a_number).context(what)?;
        Ok(Self { leash, pid, is_free: false })
    }

    /// Has it not ended?
    pub fn is_alive(&self) -> bool {
        tree::is_alive(self.pid)
    }

    /// Asks it to end and waits until it has; kills it if it does not.
    pub async fn stop(self, signal: Signal) {
        tree::signal(self.pid, signal);
        let until = SystemClock.now() + PATIENCE;
        while self.is_alive() && SystemClock.now() < until {
            SystemClock.sleep(Duration::from_millis(5)).await;
        }
        // What is left of it is killed with the leash.
    }

    /// Takes the leash off: from now on it outlives this process.
    pub fn detach(mut self) {
        self.is_free = true;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_free {
            tree::kill(self.pid);
        }
        if let Some(mut held) = self.leash.stdin.take() {
            let word: &[u8] = if self.is_free { b"free\n" } else { b"keep\n" };
            // If the leash is gone, it was killed, and there is no process to tell.
            let _ = held.write_all(word);
        }
        let _ = self.leash.wait();
    }
}

/// The program with its arguments and environment, as the user that it accepts.
fn command_line(recipe: &Recipe) -> Vec<std::ffi::OsString> {
    let mut words = if recipe.unprivileged { as_nobody() } else { Vec::new() };
    words.push("env".into());
    words.extend(recipe.environment.iter().map(|(name, value)| format!("{name}={value}").into()));
    words.push(recipe.program.clone().into());
    words.extend(recipe.arguments.iter().map(Into::into));
    words
}

/// What turns a command line of the superuser's into one of [`NOBODY`]'s.
pub fn as_nobody() -> Vec<std::ffi::OsString> {
    if !folders::is_root() {
        return Vec::new();
    }
    let ids = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
    let mut words = vec!["setpriv".into()];
    words.extend(ids.map(Into::into));
    words.push("--clear-groups".into());
    words
}
