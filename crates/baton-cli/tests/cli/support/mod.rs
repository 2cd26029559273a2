//! A folder of a test's own, and the binary in it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use serde_json::Value;
use tempfile::TempDir;

/// What is awaited must come before this; far more than it takes.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Time between two looks at what is awaited.
pub const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A folder with a store, where nothing of the user's is seen.
pub struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    pub fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"));
        Self { folder: folder.expect("the build's own folder can be written to") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file of this sandbox's.
    pub fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("the sandbox can be written to");
        path
    }

    pub fn database(&self) -> PathBuf {
        self.path("state/baton/baton.db")
    }

    /// The binary, with nothing in its environment but a home.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
        command.args(arguments).env_clear().current_dir(self.folder.path());
        command.env("HOME", self.folder.path()).env("XDG_STATE_HOME", self.path("state"));
        command
    }

    pub fn baton(&self, arguments: &[&str]) -> Said {
        self.said(self.command(arguments))
    }

    pub fn baton_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Said {
        let mut command = self.command(arguments);
        command.envs(variables.iter().copied());
        self.said(command)
    }

    /// Runs a command to its end, which must come: a node that should have been refused goes on.
    pub fn said(&self, mut command: Command) -> Said {
        let file = |name: &str| {
            let path = self.path(name);
            (std::fs::File::create(&path).expect("the sandbox can be written to"), path)
        };
        let ((out, out_path), (err, err_path)) = (file(".out"), file(".err"));
        command.stdin(Stdio::null()).stdout(out).stderr(err);
        let mut child = Serving { child: command.spawn().expect("the program is there") };
        let code = child.ended();
        let read = |path| std::fs::read_to_string(path).expect("the program prints UTF-8");
        Said { code, out: read(out_path), err: read(err_path) }
    }

    /// A node that starts at once and beats often. Its lease outlasts the stalls of a busy machine.
    pub fn serve(&self, id: &str, more: &[&str]) -> Serving {
        let lease = ["--lease-timeout", "20s", "--heartbeat-interval", "1s"];
        self.serve_leased(id, &[&lease, more].concat())
    }

    /// The same, with what is said of its lease and its beats.
    pub fn serve_leased(&self, id: &str, lease: &[&str]) -> Serving {
        let arguments = ["serve", "--id", id, "--profile", "fast", "--skip-cold-start"];
        let mut command = self.command(&[arguments.as_slice(), lease].concat());
        let file = |end| std::fs::File::create(self.path(&format!("{id}.{end}")));
        let (out, err) = (file("out").expect("a new file"), file("err").expect("a new file"));
        command.stdin(Stdio::null()).stdout(out).stderr(err);
        Serving { child: command.spawn().expect("the binary was built for this test") }
    }

    /// Waits until a file of this sandbox has a line like this.
    pub fn until_written(&self, name: &str, wanted: impl Fn(&str) -> bool) -> String {
        let gives_up_at = SystemClock.now() + PATIENCE;
        loop {
            let written = lines(&self.path(name));
            if let Some(line) = written.iter().find(|line| wanted(line)) {
                return line.clone();
            }
            assert!(SystemClock.now() < gives_up_at, "not in {name}: {written:?}");
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    pub fn status(&self) -> Option<Value> {
        let said = self.baton(&["status", "--json"]);
        (said.code == Some(0)).then(|| said.json())
    }

    /// Waits until this node leads, and knows it: the store knows a little earlier.
    pub fn until_led_by(&self, id: &str) -> Value {
        self.until(&format!("{id} leads"), |status| {
            let knows = |line: &String| {
                line.contains("this node leads, ") || line.contains("coordinator-promoted")
            };
            status["coordinator"]["node"] == id
                && lines(&self.path(&format!("{id}.out"))).iter().any(knows)
        })
    }

    /// No line is wider than 80 columns. A path is as long as it is: this sandbox's counts as `~`.
    #[track_caller]
    pub fn assert_narrow(&self, said: &Said) {
        let home = self.folder.path().to_str().expect("the build's folder has a readable name");
        for line in said.out.lines() {
            let columns = line.replace(home, "~").chars().count();
            assert!(columns <= 80, "{columns} columns: {line:?}");
        }
    }

    /// Waits until a look at the namespace shows what is awaited.
    pub fn until(&self, what: &str, seen: impl Fn(&Value) -> bool) -> Value {
        let gives_up_at = SystemClock.now() + PATIENCE;
        while SystemClock.now() < gives_up_at {
            if let Some(status) = self.status().filter(&seen) {
                return status;
            }
        }
        unreachable!("{what}: not within {PATIENCE:?}; last seen: {:?}", self.status())
    }
}

/// What the binary said.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Said {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).expect("stdout is JSON")
    }

    /// One line on stderr that says what to do, nothing on stdout, no trace of a panic.
    #[track_caller]
    pub fn assert_refused(&self, code: i32, expected: &str) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.out, "", "{self:?}");
        assert_eq!(self.err.lines().count(), 1, "{self:?}");
        assert!(self.err.starts_with("baton: "), "{self:?}");
        assert!(self.err.contains(expected), "{expected:?} is not in {:?}", self.err);
        assert!(!self.err.contains("panicked") && !self.err.contains("RUST_BACKTRACE"), "{self:?}");
    }
}

/// A node that runs until it is told to stop.
pub struct Serving {
    child: Child,
}

impl Serving {
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        let pid = pid.expect("a child has a process id");
        rustix::process::kill_process(pid, signal).expect("the child is still there");
        if signal == rustix::process::Signal::STOP {
            self.until_stopped();
        }
    }

    /// On a busy machine the other threads of a process run on for a while.
    fn until_stopped(&self) {
        let stat = format!("/proc/{}/stat", self.child.id());
        let gives_up_at = SystemClock.now() + PATIENCE;
        while !std::fs::read_to_string(&stat).is_ok_and(|text| text.contains(") T ")) {
            assert!(SystemClock.now() < gives_up_at, "it does not stop");
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    /// Waits for its end.
    pub fn ended(&mut self) -> Option<i32> {
        let gives_up_at: Moment = SystemClock.now() + PATIENCE;
        loop {
            match self.child.try_wait().expect("it is this process's child") {
                Some(status) => return status.code(),
                None => assert!(SystemClock.now() < gives_up_at, "it does not end"),
            }
            std::thread::park_timeout(LOOK_EVERY);
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads lines that a node printed.
pub fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("the node's output is a file");
    text.lines().map(str::to_owned).collect()
}
