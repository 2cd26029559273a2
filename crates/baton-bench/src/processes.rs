//! The processes of a bench, as the system lists them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::{SignalKind, signal};

use crate::error::BenchError;

/// This very program, to be started again in another part.
pub fn this_program() -> Result<PathBuf, BenchError> {
    let this = std::env::current_exe();
    this.map_err(|problem| BenchError::File { path: "/proc/self/exe".into(), problem })
}

/// Sends a signal. To a process that has ended it makes no difference.
pub fn send(pid: u32, signal: Signal) -> Result<(), BenchError> {
    let Some(target) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(()) };
    match kill_process(target, signal) {
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(errno) => {
            let path = PathBuf::from(format!("/proc/{pid}"));
            Err(BenchError::File { path, problem: errno.into() })
        }
    }
}

/// Waits until this process is asked to end. Whatever it started ends with what it was doing.
pub async fn stop_requested() -> Result<(), BenchError> {
    let no_signals = |problem| BenchError::File { path: "signals".into(), problem };
    let mut terminated = signal(SignalKind::terminate()).map_err(no_signals)?;
    let mut interrupted = signal(SignalKind::interrupt()).map_err(no_signals)?;
    tokio::select! {
        _ = terminated.recv() => {}
        _ = interrupted.recv() => {}
    }
    Ok(())
}

/// A process that runs a program in the bench's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its process id.
    pub pid: u32,
    /// The processor time it has had, in user and kernel mode.
    pub cpu: Duration,
}

/// Has it been stopped, by itself or by another process?
pub fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name before it is in brackets, and may have brackets in it.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
}

/// Every process that runs a program in this folder. One that ended and was not waited for runs
/// nothing any more.
pub fn in_folder(folder: &Path) -> std::io::Result<Vec<Process>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(pid) = name.and_then(|name| name.parse().ok()) else { continue };
        // It may end while it is looked at, or be another user's: then it is none of ours.
        let Ok(program) = std::fs::read_link(path.join("exe")) else { continue };
        if !program.starts_with(folder) {
            continue;
        }
        found.extend(cpu(&path).map(|cpu| Process { pid, cpu }));
    }
    Ok(found)
}

/// The time of all its threads, to the nanosecond: the ticks that `stat` counts in are longer than
/// an idle process runs in half a minute.
fn cpu(process: &Path) -> Option<Duration> {
    let mut total = Duration::ZERO;
    for thread in std::fs::read_dir(process.join("task")).ok()? {
        let Ok(schedule) = std::fs::read_to_string(thread.ok()?.path().join("schedstat")) else {
            continue;
        };
        total += on_processor(&schedule)?;
    }
    Some(total)
}

/// The first number of `schedstat`: nanoseconds on a processor.
fn on_processor(schedule: &str) -> Option<Duration> {
    schedule.split_ascii_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_very_process_is_found_by_the_folder_of_its_program() {
        let program = std::env::current_exe().expect("this program is a file");
        let folder = program.parent().expect("a file is in a folder");
        let found = in_folder(folder).expect("/proc is there");
        assert!(found.iter().any(|process| process.pid == std::process::id()));
        let elsewhere = in_folder(Path::new("/nowhere")).expect("/proc is there");
        assert_eq!(elsewhere, []);
    }

    #[test]
    fn a_stopped_process_is_known_as_such() {
        let mut idle = std::process::Command::new("sleep").arg("60").spawn();
        let idle = idle.as_mut().expect("there is a sleep");
        assert!(!is_stopped(idle.id()));
        send(idle.id(), Signal::STOP).expect("it is ours");
        let stopped = (0..1_000_000).any(|_| is_stopped(idle.id()));
        idle.kill().expect("it is ours");
        idle.wait().expect("it is ours");
        assert!(stopped && !is_stopped(idle.id()));
    }

    #[test]
    fn processor_time_is_that_of_every_thread() {
        assert_eq!(on_processor("78386 12 1\n"), Some(Duration::from_nanos(78_386)));
        assert_eq!(on_processor(""), None);
        // Another process, since the threads of this one come and go with its tests.
        let mut busy = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn();
        let busy = busy.as_mut().expect("there is a shell");
        let process = Path::new("/proc").join(busy.id().to_string());
        let first = cpu(&process).expect("it is there");
        let grows = (0..1_000_000).any(|_| cpu(&process).is_some_and(|now| now > first));
        busy.kill().expect("it is ours");
        busy.wait().expect("it is ours");
        assert!(grows);
    }
}
