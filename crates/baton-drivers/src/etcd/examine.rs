//! What is to be said of the cluster: version, members, alarms, room, rights, speed.

use std::time::Duration;

use baton_store::{Finding, StoreError};
use serde::{Deserialize, Serialize};

use super::connect::Link;
use super::error::Trouble;
use super::keys;
use super::wire::{Decimal, Grant, Granted, Nothing, OfLease, Range, RangeAnswer};

/// etcd's own limit, where nobody set another. It tells the limit from 3.6 on.
const QUOTA_BYTES: i64 = 2 << 30;

/// A read that takes longer deserves a look.
const SLOW: Duration = Duration::from_millis(100);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    version: String,
    leader: Decimal<u64>,
    #[serde(rename = "dbSize")]
    size: Decimal<i64>,
    #[serde(rename = "dbSizeQuota")]
    quota: Decimal<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Members {
    members: Vec<Nothing>,
}

#[derive(Serialize)]
struct AlarmQuery {
    action: &'static str,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Alarms {
    alarms: Vec<Alarm>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Alarm {
    alarm: String,
}

/// Looks at everything that would weaken a promise.
pub(super) async fn examine(link: &Link) -> Result<Vec<Finding>, StoreError> {
    let by = link.deadline();
    let status: Status =
        link.ask("maintenance/status", &Nothing {}, by).await.map_err(Trouble::of_read)?;
    let mut findings = vec![version(&status.version), leader(&status), room(&status)];
    findings.push(members(link).await);
    findings.extend(endpoints(link).await);
    findings.push(alarms(link).await);
    findings.push(login(link));
    findings.push(privacy(link));
    findings.push(shortest(link).await);
    findings.push(speed(link).await);
    Ok(findings)
}

fn version(found: &str) -> Finding {
    let mut parts = found.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let (major, minor) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    match (major, minor) >= (3, 4) {
        true => Finding::ok("version", format!("etcd {found}")),
        false => Finding::fail("version", format!("etcd {found}"), "use etcd 3.4 or later"),
    }
}

fn leader(status: &Status) -> Finding {
    match status.leader.0 {
        0 => {
            let remedy = "start more of its members, or look at the network between them";
            Finding::fail("leader", "the cluster has none, so nothing can be written", remedy)
        }
        _ => Finding::ok("leader", "the cluster has one"),
    }
}

fn room(status: &Status) -> Finding {
    let quota = if status.quota.0 > 0 { status.quota.0 } else { QUOTA_BYTES };
    let detail = format!("{} MiB of {} MiB are used", status.size.0 >> 20, quota >> 20);
    match status.size.0 > quota / 5 * 4 {
        true => {
            let remedy = "compact and defragment, or raise --quota-backend-bytes";
            Finding::warn("room", detail, remedy)
        }
        false => Finding::ok("room", detail),
    }
}

async fn members(link: &Link) -> Finding {
    let found: Result<Members, _> =
        link.ask("cluster/member/list", &Nothing {}, link.deadline()).await;
    match found.map(|found| found.members.len()) {
        Ok(count) if count >= 3 => Finding::ok("members", format!("{count}")),
        Ok(count) => {
            let detail = format!("{count}: when one is gone, nothing can be written");
            Finding::warn("members", detail, "run 3 or 5 members")
        }
        Err(trouble) => not_told("members", trouble),
    }
}

async fn endpoints(link: &Link) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, url) in link.config.endpoints.iter().enumerate() {
        let answer: Result<Status, _> = link.ask_one(at, "maintenance/status", &Nothing {}).await;
        if let Err(trouble) = answer {
            let detail = format!("{url}: {}", trouble.of_read());
            findings.push(Finding::warn("endpoint", detail, "start it, or take it out of the URL"));
        }
    }
    findings
}

async fn alarms(link: &Link) -> Finding {
    let query = AlarmQuery { action: "GET" };
    let found: Result<Alarms, _> = link.ask("maintenance/alarm", &query, link.deadline()).await;
    match found.map(|found| found.alarms) {
        Ok(alarms) if alarms.is_empty() => Finding::ok("alarms", "none"),
        Ok(alarms) => {
            let names: Vec<&str> = alarms.iter().map(|alarm| alarm.alarm.as_str()).collect();
            let remedy = "NOSPACE: compact, defragment, then etcdctl alarm disarm; CORRUPT: \
                          replace the member";
            Finding::fail("alarms", names.join(", "), remedy)
        }
        Err(trouble) => not_told("alarms", trouble),
    }
}

fn login(link: &Link) -> Finding {
    let remedy = "make a user with readwrite on the prefix, then etcdctl auth enable";
    match &link.config.login {
        Some((user, _)) if !link.login_is_ignored() => {
            Finding::ok("login", format!("as {user}, whom etcd knows"))
        }
        Some((user, _)) => {
            Finding::warn("login", format!("as {user}, but etcd asks nobody who they are"), remedy)
        }
        None if link.config.local => Finding::ok("login", "none is asked for, on this machine"),
        None => Finding::warn("login", "none is asked for: anybody may write the lease", remedy),
    }
}

fn privacy(link: &Link) -> Finding {
    match (&link.config.tls, link.config.local) {
        (Some(_), _) => Finding::ok("tls", "the connection is encrypted"),
        (None, true) => Finding::ok("tls", "off, on this machine"),
        (None, false) => {
            let detail = "off: the password can be read on the network";
            Finding::warn("tls", detail, "add tls=verify, and tls_ca for a CA of your own")
        }
    }
}

/// The shortest lease that etcd grants: it depends on its election timeout.
async fn shortest(link: &Link) -> Finding {
    let query = Grant { ttl: Decimal(1) };
    let granted: Result<Granted, _> = link.ask("lease/grant", &query, link.deadline()).await;
    let granted = match granted {
        Ok(granted) => granted,
        Err(trouble) => return not_told("ttl", trouble),
    };
    // It would end by itself; this is only tidier.
    let query = OfLease { id: granted.id };
    let _: Result<Nothing, _> = link.ask("lease/revoke", &query, link.deadline()).await;
    let detail = format!("a lease lasts {} s at least, whatever lease_timeout says", granted.ttl.0);
    match granted.ttl.0 > 5 {
        true => Finding::warn("ttl", detail, "lower etcd's --election-timeout"),
        false => Finding::ok("ttl", detail),
    }
}

/// The best of three: the first makes the connection.
async fn speed(link: &Link) -> Finding {
    let query = Range::key(&keys::format(&link.config.prefix));
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let before = link.clock.now();
        let answer: Result<RangeAnswer, _> = link.ask("kv/range", &query, link.deadline()).await;
        if let Err(trouble) = answer {
            return not_told("speed", trouble);
        }
        best = best.min(link.clock.now().since(before));
    }
    let detail = format!("a read takes {:.1} ms", best.as_secs_f64() * 1_000.0);
    match best > SLOW {
        true => Finding::warn("speed", detail, "look at etcd's disk and at the network"),
        false => Finding::ok("speed", detail),
    }
}

fn not_told(check: &'static str, trouble: Trouble) -> Finding {
    let remedy = "try again, or look as a user who may";
    Finding::warn(check, trouble.of_read().to_string(), remedy)
}

#[cfg(test)]
mod tests {
    use baton_store::Verdict;

    use super::*;

    #[test]
    fn what_is_told_is_judged() {
        assert_eq!(version("3.3.27").verdict, Verdict::Fail);
        assert_eq!(version("3.10.0").verdict, Verdict::Ok);
        let full = Status { size: Decimal(1_900 << 20), ..Status::default() };
        assert_eq!(room(&full).verdict, Verdict::Warn);
        assert_eq!(leader(&full).verdict, Verdict::Fail);
    }
}
