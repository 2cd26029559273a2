//! What `baton doctor` sees of the server: whatever would weaken a promise, with its remedy.

use std::collections::BTreeMap;

use ::redis::{ErrorKind, ServerErrorKind};
use baton_core::ids::Namespace;
use baton_store::{Finding, StoreError};

use super::config::RedisConfig;
use super::connect::{Connection, major_minor};
use super::context::RedisEngine;
use super::error;
use super::script::Arguments;
use crate::OpenError;
use crate::driver::{DriverError, is_this_machine};

const SETTINGS: [&str; 4] = ["save", "appendfsync", "timeout", "min-replicas-to-write"];

struct Server<'a> {
    config: &'a RedisConfig,
    facts: BTreeMap<String, String>,
    /// `None` if this user may not see the settings.
    settings: Option<BTreeMap<String, String>>,
    missing: Vec<String>,
}

pub(super) async fn examine(engine: &RedisEngine) -> Result<Vec<Finding>, StoreError> {
    let config = engine.config();
    let look = engine.slot.run(|connection| async move {
        let facts = connection.facts(&["server", "memory", "persistence", "replication"]).await;
        let missing = missing_rights(engine, &connection).await;
        let server = Server {
            config,
            facts: facts.map_err(|problem| DriverError::from(problem).of_read())?,
            settings: connection.settings(&SETTINGS).await.ok(),
            missing: missing.map_err(StoreError::from)?,
        };
        Ok(server.findings())
    });
    look.await
}

/// Each command of the scripts that this user may not run. Servers before 7.0 cannot be asked.
pub(super) async fn missing_rights(
    engine: &RedisEngine,
    connection: &Connection,
) -> Result<Vec<String>, OpenError> {
    let config = engine.config();
    let namespace = Namespace::new("any").expect("it is a name");
    let arguments = Arguments::default().text(config.channel(&namespace));
    match engine.scripts.rights.run(connection, &config.keys(&namespace), &arguments).await {
        Ok(missing) => Ok(missing),
        Err(problem) if problem.kind() == ErrorKind::Server(ServerErrorKind::NoPerm) => {
            Ok(vec!["EVALSHA and EVAL".to_owned()])
        }
        Err(problem) => Err(error::at_opening(&problem, config.place())),
    }
}

impl Server<'_> {
    fn fact(&self, name: &str) -> &str {
        self.facts.get(name).map_or("", String::as_str)
    }

    fn number(&self, name: &str) -> u64 {
        self.fact(name).parse().unwrap_or(0)
    }

    fn setting(&self, name: &str) -> Option<&str> {
        self.settings.as_ref()?.get(name).map(String::as_str)
    }

    fn findings(&self) -> Vec<Finding> {
        let found = [self.version(), self.rights(), self.settings(), self.persistence()];
        let more = [self.eviction(), self.memory(), self.replication(), self.cluster()];
        let last = [self.timeout(), self.transport()];
        found.into_iter().chain(more).chain(last).collect()
    }

    fn version(&self) -> Finding {
        let name = match self.facts.get("valkey_version") {
            Some(valkey) => format!("Valkey {valkey}"),
            None => format!("Redis {}", self.fact("redis_version")),
        };
        Finding::ok("version", name)
    }

    fn rights(&self) -> Finding {
        if !self.missing.is_empty() {
            let detail = format!("this user may not run {}", self.missing.join(", "));
            return Finding::fail("rights", detail, "give it the rules of docs/stores/redis.md");
        }
        if major_minor(self.fact("redis_version")).is_some_and(|version| version < (7, 0)) {
            let detail = "a server before 7.0 cannot be asked for rights; the first beat will show";
            return Finding::ok("rights", detail);
        }
        Finding::ok("rights", "this user may run every step")
    }

    fn settings(&self) -> Finding {
        match self.settings {
            Some(_) => Finding::ok("settings", "CONFIG GET shows them"),
            None => Finding::warn(
                "settings",
                "this user may not run CONFIG GET: save, appendfsync, timeout and \
                 min-replicas-to-write could not be seen",
                "allow +config|get, or look at them yourself",
            ),
        }
    }

    fn persistence(&self) -> Finding {
        let log = self.fact("aof_enabled") == "1";
        let remedy = "set appendonly yes";
        match (log, self.setting("save"), self.setting("appendfsync")) {
            (true, _, Some("always")) if self.config.syncs => {
                Finding::ok("persistence", "every write is synced; a restart is no new lineage")
            }
            (true, _, Some("always")) => Finding::ok(
                "persistence",
                "every write is synced; say appendfsync=always in the URL too, for quick restarts",
            ),
            (true, _, Some("no")) => Finding::warn(
                "persistence",
                "appendfsync no: a power loss takes as much as the system had not yet written",
                "set appendfsync everysec or always",
            ),
            (true, ..) => Finding::ok(
                "persistence",
                "append-only file; a power loss may take the last second: a new lineage shows it",
            ),
            (false, Some(""), _) => Finding::fail(
                "persistence",
                "appendonly no and no save: a restart loses every lease, term and document",
                remedy,
            ),
            (false, ..) => Finding::warn(
                "persistence",
                "appendonly no: a restart goes back to the last snapshot",
                remedy,
            ),
        }
    }

    /// No key of ours has a time to live, so the volatile policies never choose one.
    fn eviction(&self) -> Finding {
        let policy = self.fact("maxmemory_policy");
        match (self.number("maxmemory"), policy) {
            (0, _) => Finding::ok("eviction", "no maxmemory"),
            (_, "noeviction") => Finding::ok("eviction", "noeviction"),
            (_, policy) if policy.starts_with("volatile-") => {
                Finding::ok("eviction", format!("{policy} spares keys without a time to live"))
            }
            (_, policy) => Finding::fail(
                "eviction",
                format!("maxmemory-policy {policy} may evict a lease while it is held"),
                "set maxmemory-policy noeviction, or give baton a server of its own",
            ),
        }
    }

    fn memory(&self) -> Finding {
        let (used, most) = (self.number("used_memory"), self.number("maxmemory"));
        let shown = |bytes: u64| format!("{} MiB", bytes / (1 << 20));
        if most == 0 {
            return Finding::ok("memory", format!("{} in use, no limit", shown(used)));
        }
        let detail = format!("{} of {} in use", shown(used), shown(most));
        let remedy = "raise maxmemory: a full server refuses writes";
        Finding::warn_if(used > most / 10 * 9, "memory", detail, remedy)
    }

    fn replication(&self) -> Finding {
        let replicas = self.number("connected_slaves");
        let needed = self.setting("min-replicas-to-write");
        match (replicas, needed) {
            (0, _) => Finding::ok("replication", "a master without replicas"),
            (some, Some("0")) => Finding::warn(
                "replication",
                format!("{some} replicas, and writes wait for none: a failover may lose the last"),
                "set min-replicas-to-write 1: less can be lost, and a new lineage shows it",
            ),
            (some, _) => Finding::ok("replication", format!("{some} replicas")),
        }
    }

    fn cluster(&self) -> Finding {
        match self.fact("redis_mode") {
            "cluster" => Finding::warn(
                "cluster",
                "a Redis Cluster: only the slots of this node can be used",
                "name the node that has the namespace's slot, or use a server outside a cluster",
            ),
            _ => Finding::ok("cluster", "not a cluster"),
        }
    }

    fn timeout(&self) -> Finding {
        match self.setting("timeout") {
            Some("0") | None => Finding::ok("timeout", "idle connections are kept"),
            Some(seconds) => Finding::warn(
                "timeout",
                format!("idle connections are closed after {seconds} s"),
                "set timeout 0, or keep it above the beat: else each beat connects anew",
            ),
        }
    }

    fn transport(&self) -> Finding {
        let is_local = self.config.hosts.iter().all(|(name, _)| is_this_machine(name));
        match (self.config.tls.is_some(), is_local) {
            (true, _) => Finding::ok("transport", "TLS"),
            (false, true) => Finding::ok("transport", "no TLS, and this machine's own address"),
            (false, false) => Finding::warn(
                "transport",
                "no TLS: passwords and leases can be read and changed on the way",
                "write rediss:// and set tls-port at the server",
            ),
        }
    }
}
