//! A process and its descendants, as `/proc` shows them.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use baton_store::clock::{Clock, SystemClock};
use rustix::process::{Pid, Signal, kill_process};

/// How long a thread may take to stop: it may be waiting for a disk.
const PATIENCE: Duration = Duration::from_secs(2);

/// What `/proc/PID/stat` says of a process.
struct Stat {
    parent: u32,
    is_zombie: bool,
    /// Processor time in ticks, its own and that of children it has waited for.
    ticks: u64,
    /// When it started, in ticks since the machine was booted.
    started: u64,
}

impl Stat {
    fn read(pid: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name stands in brackets and may hold anything.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        Some(Self {
            parent: u32::try_from(number(1)?).ok()?,
            is_zombie: fields.first() == Some(&"Z"),
            ticks: (11..=14).filter_map(number).sum(),
            started: number(19)?,
        })
    }
}

/// Does it run? A process that ended and was not waited for does not.
pub fn is_alive(pid: u32) -> bool {
    Stat::read(pid).is_some_and(|stat| !stat.is_zombie)
}

/// When it started, in ticks since the machine was booted: tells it from a later one of that id.
pub fn started(pid: u32) -> Option<u64> {
    Stat::read(pid).map(|stat| stat.started)
}

/// The process and its descendants, parents before children.
pub fn kin(root: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(pid) = pid else { continue };
        if let Some(stat) = Stat::read(pid) {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    let mut found = vec![root];
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        found.extend(children.remove(pid).unwrap_or_default());
        next += 1;
    }
    found
}

/// Processor time of the process and its descendants.
pub fn cpu(root: u32) -> Duration {
    let ticks: u64 = kin(root).into_iter().filter_map(Stat::read).map(|stat| stat.ticks).sum();
    let micros = ticks * 1_000_000 / rustix::param::clock_ticks_per_second();
    Duration::from_micros(micros)
}

/// Stops all of them. A parent that is stopped starts no more, so the second look finds the rest.
pub fn pause(root: u32) {
    stop(root);
    for _ in 0..2 {
        kin(root).into_iter().for_each(stop);
    }
}

/// Stops one, and returns when the last of its threads has stopped: the signal alone does not say
/// so.
pub fn stop(pid: u32) {
    signal(pid, Signal::STOP);
    let until = SystemClock.now() + PATIENCE;
    while !has_stopped(pid) && SystemClock.now() < until {
        std::thread::yield_now();
    }
}

fn has_stopped(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let mut states = threads.filter_map(|thread| {
        let text = fs::read_to_string(thread.path().join("stat")).ok()?;
        let (_, rest) = text.rsplit_once(')')?;
        rest.trim_start().chars().next()
    });
    states.all(|state| matches!(state, 'T' | 't' | 'Z' | 'X'))
}

/// Lets all of them go on, children first.
pub fn resume(root: u32) {
    kin(root).into_iter().rev().for_each(|pid| signal(pid, Signal::CONT));
}

/// Kills all of them with -9.
pub fn kill(root: u32) {
    pause(root);
    kin(root).into_iter().rev().for_each(|pid| signal(pid, Signal::KILL));
}

/// Sends a signal. A process that is gone needs none.
pub fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        let _ = kill_process(pid, signal);
    }
}
