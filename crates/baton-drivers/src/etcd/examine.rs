//! What `baton doctor` says of the cluster: version, members, alarms, room, rights, speed.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_store::clock::{Clock, SystemClock};
use baton_store::{Finding, StoreError};
use serde_json::{Value, json};

use super::config::EtcdConfig;
use super::connect::Connection;
use super::error::GatewayError;
use super::schema;
use super::wire::{EtcdLease, Range, RangeAnswer};

/// etcd's own limit, where no other is set. It shows the limit from 3.6 on.
const QUOTA_BYTES: u64 = 2 << 30;

/// A read that takes longer deserves a look.
const SLOW: Duration = Duration::from_millis(100);

/// A number of the status, which JSON carries as text; 0 if it is not shown.
fn number(status: &Value, name: &str) -> u64 {
    status[name].as_str().and_then(|text| text.parse().ok()).unwrap_or(0)
}

pub(super) async fn examine(connection: &Connection) -> Result<Vec<Finding>, StoreError> {
    let status = connection.ask("maintenance/status", &json!({})).await;
    let status: Value = status.map_err(GatewayError::of_read)?;
    let found = status["version"].as_str().unwrap_or_default();
    let mut findings = vec![version(found), leader(&status), room(&status)];
    findings.push(known("members", members(connection).await));
    findings.extend(endpoints(connection).await);
    findings.push(known("alarms", alarms(connection).await));
    findings.push(login(connection));
    findings.push(privacy(connection));
    findings.push(known("ttl", shortest(connection).await));
    findings.push(known("speed", speed(connection).await));
    Ok(findings)
}

/// A finding; a warning if etcd did not answer.
fn known(check: &'static str, found: Result<Finding, GatewayError>) -> Finding {
    let remedy = "try again, or look as a user who may";
    found.unwrap_or_else(|error| Finding::warn(check, error.of_read().to_string(), remedy))
}

fn version(found: &str) -> Finding {
    let mut parts = found.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let (major, minor) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    match (major, minor) >= (3, 4) {
        true => Finding::ok("version", format!("etcd {found}")),
        false => Finding::fail("version", format!("etcd {found}"), "use etcd 3.4 or later"),
    }
}

fn leader(status: &Value) -> Finding {
    match number(status, "leader") {
        0 => {
            let remedy = "start more of its members, or look at the network between them";
            Finding::fail("leader", "the cluster has none, so nothing can be written", remedy)
        }
        _ => Finding::ok("leader", "the cluster has one"),
    }
}

fn room(status: &Value) -> Finding {
    let (size, quota) = (number(status, "dbSize"), number(status, "dbSizeQuota"));
    let quota = if quota > 0 { quota } else { QUOTA_BYTES };
    let detail = format!("{} MiB of {} MiB are used", size >> 20, quota >> 20);
    let remedy = "compact and defragment, or raise --quota-backend-bytes";
    Finding::warn_if(size > quota / 5 * 4, "room", detail, remedy)
}

async fn members(connection: &Connection) -> Result<Finding, GatewayError> {
    let found: Value = connection.ask("cluster/member/list", &json!({})).await?;
    Ok(match found["members"].as_array().map_or(0, Vec::len) {
        count if count >= 3 => Finding::ok("members", format!("{count}")),
        count => {
            let detail = format!("{count}: when one is gone, nothing can be written");
            Finding::warn("members", detail, "run 3 or 5 members")
        }
    })
}

async fn endpoints(connection: &Connection) -> Vec<Finding> {
    let mut findings = Vec::new();
    for url in &connection.config.endpoints {
        let config = EtcdConfig { endpoints: vec![url.clone()], ..connection.config.clone() };
        let Ok(only) = Connection::new(config) else { continue };
        if let Err::<Value, _>(error) = only.ask("maintenance/status", &json!({})).await {
            let detail = format!("{url}: {}", error.of_read());
            findings.push(Finding::warn("endpoint", detail, "start it, or take it out of the URL"));
        }
    }
    findings
}

async fn alarms(connection: &Connection) -> Result<Finding, GatewayError> {
    let found: Value =
        connection.ask("maintenance/alarm", &BTreeMap::from([("action", "GET")])).await?;
    let alarms = found["alarms"].as_array().into_iter().flatten();
    let names: Vec<&str> = alarms.filter_map(|alarm| alarm["alarm"].as_str()).collect();
    let remedy = "NOSPACE: compact, defragment, then etcdctl alarm disarm; CORRUPT: replace the \
                  member";
    Ok(match names.is_empty() {
        true => Finding::ok("alarms", "none"),
        false => Finding::fail("alarms", names.join(", "), remedy),
    })
}

fn login(connection: &Connection) -> Finding {
    let remedy = "make a user with readwrite on the prefix, then etcdctl auth enable";
    match &connection.config.login {
        Some((user, _)) if !connection.login_is_ignored() => {
            Finding::ok("login", format!("as {user}, who is known to etcd"))
        }
        Some((user, _)) => {
            Finding::warn("login", format!("as {user}, but etcd does not ask for users"), remedy)
        }
        None if connection.config.local => {
            Finding::ok("login", "none is asked for, on this machine")
        }
        None => {
            Finding::warn("login", "none is asked for: every client may write the lease", remedy)
        }
    }
}

fn privacy(connection: &Connection) -> Finding {
    match (&connection.config.tls, connection.config.local) {
        (Some(_), _) => Finding::ok("tls", "the connection is encrypted"),
        (None, true) => Finding::ok("tls", "off, on this machine"),
        (None, false) => {
            let detail = "off: the password can be read on the network";
            Finding::warn("tls", detail, "add tls=verify, and tls_ca for a CA of your own")
        }
    }
}

/// The shortest lease that etcd grants: it depends on its election timeout.
async fn shortest(connection: &Connection) -> Result<Finding, GatewayError> {
    let EtcdLease { id, ttl } =
        connection.ask("lease/grant", &BTreeMap::from([("TTL", "1")])).await?;
    // It would end by itself; this is only tidier.
    let lease = BTreeMap::from([("ID", id.to_string())]);
    let _: Result<Value, _> = connection.ask("lease/revoke", &lease).await;
    let detail = format!("a lease lasts {ttl} s at least, whatever lease_timeout says");
    Ok(Finding::warn_if(ttl > 5, "ttl", detail, "lower etcd's --election-timeout"))
}

/// The best of three: the first makes the connection.
async fn speed(connection: &Connection) -> Result<Finding, GatewayError> {
    let query = Range::key(&schema::format(&connection.config.prefix));
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let before = SystemClock.now();
        let _: RangeAnswer = connection.ask("kv/range", &query).await?;
        best = best.min(SystemClock.now().since(before));
    }
    let detail = format!("a read takes {:.1} ms", best.as_secs_f64() * 1_000.0);
    Ok(Finding::warn_if(best > SLOW, "speed", detail, "look at etcd's disk and at the network"))
}

#[cfg(test)]
mod tests {
    use baton_store::FindingLevel;

    use super::*;

    #[test]
    fn weak_spots_are_warned_of() {
        assert_eq!(version("3.3.27").verdict, FindingLevel::Fail);
        assert_eq!(version("3.10.0").verdict, FindingLevel::Ok);
        let full = Value::from_iter([("dbSize", (1_900_u64 << 20).to_string())]);
        assert_eq!(room(&full).verdict, FindingLevel::Warn);
        assert_eq!(leader(&full).verdict, FindingLevel::Fail);
    }
}
