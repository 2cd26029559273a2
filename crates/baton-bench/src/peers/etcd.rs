//! etcd's own election: `etcdctl lock` runs a command when it has the lock, and gives the lock up
//! when the command ends.

use std::path::Path;
use std::process::Command;

use super::lock::TTL;
use crate::failover::TICK_EVERY;

/// Waits for the lock, then runs `baton tick`, whose arguments may go on.
pub fn lock(url: &str, name: &str, baton: &Path) -> Command {
    let server = url.trim_start_matches("etcd://");
    let mut command = Command::new("etcdctl");
    command
        .env("ETCDCTL_API", "3")
        .arg(format!("--endpoints={server}"))
        .args(["lock", &format!("--ttl={}", TTL.as_secs()), "--", name])
        .arg(baton)
        .args(["tick", "--node", "waiter", "--every", &format!("{}us", TICK_EVERY.as_micros())]);
    command
}
