//! What the tests share: commands, marks, and waiting for something to become true.

use std::ffi::OsString;
use std::fs;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_cli::attempts::Attempts;
use baton_cli::guard::{Guard, Report, Start};
use baton_core::lease::Window;
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use rustix::process::Pid;

/// Nothing that is waited for takes this long, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time between two looks at what is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A folder of its own, whose path marks every process of the test. What a failed test leaves
/// behind ends soon after the folder has gone.
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

    /// A shell script that runs in the folder and carries its mark.
    pub fn script(&self, script: &str, window: Window) -> Start {
        Self::script_in(self.folder.path(), script, window)
    }

    /// The same in another folder than the stage's.
    pub fn script_in(folder: &Path, script: &str, window: Window) -> Start {
        let script = format!("cd \"$STAGE\" && {{ {script}\n}}");
        Start {
            program: OsString::from("/bin/sh"),
            args: vec![OsString::from("-c"), OsString::from(script)],
            env: vec![(OsString::from("STAGE"), folder.into())],
            window,
        }
    }

    /// The process ids of everything that carries the mark.
    pub fn marked(&self) -> Vec<i32> {
        let mark = format!("STAGE={}\0", self.folder.path().display());
        let has_mark = |pid: &i32| {
            let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ.windows(mark.len()).any(|window| window == mark.as_bytes())
        };
        let entries = fs::read_dir("/proc").expect("/proc is there").filter_map(Result::ok);
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(has_mark).collect()
    }

    /// Is everything that carries the mark gone?
    pub fn assert_nothing_runs(&self) {
        assert_eq!(self.marked(), Vec::<i32>::new(), "these still run");
    }

    /// What the command has written into a file, once it holds a whole line.
    pub async fn line(&self, name: &str) -> String {
        let path = self.path(name);
        let whole = || fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n'));
        found(async || whole()).await.trim().to_owned()
    }
}

/// Starts a guard of the built program, for commands without a standard input.
pub fn guard() -> Guard {
    let nothing = fs::File::open("/dev/null").expect("/dev/null is everywhere");
    let baton = Path::new(env!("CARGO_BIN_EXE_baton"));
    Guard::spawn_as(baton, nothing.as_fd(), &[]).expect("the program was built")
}

/// The guard's next report.
pub async fn next(guard: &mut Guard) -> Report {
    tokio::select! {
        report = guard.next() => report,
        () = SystemClock.sleep(PATIENCE) => Report::Lost { how: "no report came".to_owned() },
    }
}

/// Waits for the command to run.
pub async fn started(guard: &mut Guard) -> i32 {
    let report = next(guard).await;
    assert!(matches!(report, Report::Started { .. }), "{report:?}");
    let Report::Started { pid } = report else { unreachable!("asserted above") };
    pid
}

/// Waits until something is so.
pub async fn until(is_so: impl Fn() -> bool) {
    found(async || is_so().then_some(())).await;
}

/// Waits until a look finds something.
pub async fn found<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let mut attempts = Attempts::new(LOOK_EVERY, PATIENCE);
    while attempts.next().await {
        if let Some(found) = look().await {
            return found;
        }
    }
    unreachable!("it did not become true in {PATIENCE:?}")
}

/// A window that closes this many milliseconds from now.
pub fn window(soft_ms: u64, hard_ms: u64) -> Window {
    let now = SystemClock.now();
    let at = |ms| now + Duration::from_millis(ms);
    Window { soft: at(soft_ms), hard: at(hard_ms) }
}

/// A window that no test sees the end of.
pub fn long_window() -> Window {
    window(600_000, 660_000)
}

pub fn from_now(ms: u64) -> Moment {
    SystemClock.now() + Duration::from_millis(ms)
}

/// Does the process run, and not only wait to be waited for?
pub fn is_alive(pid: i32) -> bool {
    !matches!(state(pid), None | Some('Z' | 'X'))
}

/// A child of the process that runs.
pub fn child_of(parent: i32) -> Option<i32> {
    let is_child = |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        fields.nth(1) == Some(parent.to_string().as_str())
    };
    let entries = fs::read_dir("/proc").expect("/proc is there").filter_map(Result::ok);
    let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.find(|pid| is_child(pid) && is_alive(*pid))
}

/// The letter for what the process is doing.
pub fn state(pid: i32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

pub fn pid(raw: i32) -> Pid {
    Pid::from_raw(raw).expect("no process has the number 0")
}

/// Moments as a command reads them from `/proc/uptime`, whose clock is the window's, rounded down
/// to hundredths of a second.
pub fn uptime(text: &str) -> Moment {
    let seconds: f64 = text.trim().parse().expect("a reading of /proc/uptime");
    Moment::from_micros(0) + Duration::from_secs_f64(seconds)
}

/// A command that ignores TERM, but writes down when it heard it and when it last ran.
pub const STUBBORN: &str = "
    trap 'read -r up _ < /proc/uptime; echo $up > heard' TERM
    while [ -e $STAGE ]; do read -r up _ < /proc/uptime; echo $up >> ran; sleep 0.01; done";
