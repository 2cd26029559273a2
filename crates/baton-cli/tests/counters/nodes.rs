//! Nodes that may lead: `baton serve`, one of which is killed again and again.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use baton::Store;
use baton_core::protocol::Expiry;
use baton_testbed::wait::until;

use crate::adder::namespace;
use crate::fixture::Fixture;

/// The nodes of a test. Killed when they are dropped.
pub struct Nodes {
    running: BTreeMap<String, Child>,
}

impl Nodes {
    /// Starts `count` nodes.
    pub fn start(fixture: &Fixture, count: usize) -> Self {
        let node = |at: usize| {
            let name = format!("node-{at}");
            let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
            command.args(["serve", "--id", &name, "--profile", "fast"]);
            command.args(["--namespace", namespace().as_str()]);
            command.env_clear().env("BATON_STORE", fixture.url());
            command.env("HOME", fixture.path("home"));
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            (name, command.spawn().expect("the binary was built for this test"))
        };
        Self { running: (0..count).map(node).collect() }
    }

    /// Waits until one of those that run leads in a later epoch than this; the epoch.
    pub async fn led_beyond(&self, store: &Arc<dyn Store>, epoch: u64) -> (String, u64) {
        until("a node leads", async || {
            let lease = store.inspect(&namespace()).await.ok()?.lease?;
            let is_over = lease.expiry == Expiry::Left(Duration::ZERO);
            let name = lease.holder?.node.to_string();
            let found = lease.version.epoch.0;
            let is_new = found > epoch && !is_over && self.running.contains_key(&name);
            is_new.then_some((name, found))
        })
        .await
    }

    /// Kills this one with -9.
    pub fn kill(&mut self, name: &str) {
        let mut child = self.running.remove(name).expect("it runs");
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        for child in self.running.values_mut() {
            // One that has ended cannot be killed, and need not.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
