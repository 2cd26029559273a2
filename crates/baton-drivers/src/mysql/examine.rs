//! What the server is, and every setting that would weaken a promise.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use baton_store::Finding;

use super::NAME;
use super::connect::Servers;
use super::context::MysqlEngine;
use super::error::{BINLOG_FORMAT, ErrorClass};
use super::schema::Flavour;
use crate::OpenError;
use crate::driver::DriverError;

/// What the server is. A version that is too old is refused; a replica is passed over if another
/// host is named.
pub(super) async fn first_look(servers: &Servers) -> Result<Flavour, OpenError> {
    let refused = |error| servers.refused(error);
    let mut hosts_left = servers.config.address.hosts.len();
    loop {
        hosts_left -= 1;
        let look = "SELECT VERSION(), @@global.read_only, @@max_allowed_packet".to_owned();
        let rows = servers.query(look).await.map_err(refused)?;
        let text = |at: usize| rows.first().and_then(|row| row.get::<String, _>(at));
        let (version, read_only) = (text(0).unwrap_or_default(), text(1).unwrap_or_default());
        let packet_max = text(2).and_then(|text| text.parse().ok()).unwrap_or(u64::MAX);
        servers.packet_max.store(packet_max, Ordering::Relaxed);
        let is_mariadb = version.contains("MariaDB");
        let flavour = if is_mariadb { Flavour::Mariadb } else { Flavour::Mysql };
        let place = || servers.place();
        let (needed, least) = flavour.needed();
        if number(&version) < Some(least) {
            return Err(OpenError::Version { store: NAME, place: place(), found: version, needed });
        }
        match is_on(&read_only) {
            false => return Ok(flavour),
            true if hosts_left > 0 => servers.move_on(),
            true => {
                return Err(OpenError::Unfit {
                    store: NAME,
                    place: place(),
                    finding: "it is read-only".to_owned(),
                    remedy: "name the primary, or several hosts".to_owned(),
                });
            }
        }
    }
}

/// The first two numbers of a version.
fn number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn is_on(value: &str) -> bool {
    !matches!(value, "" | "0" | "OFF")
}

/// The settings that are looked at. A server that does not know one says nothing of it.
const SETTINGS: [&str; 12] = [
    "version",
    "innodb_flush_log_at_trx_commit",
    "log_bin",
    "sync_binlog",
    "binlog_format",
    "read_only",
    "wsrep_on",
    "group_replication_group_name",
    "rpl_semi_sync_master_enabled",
    "rpl_semi_sync_source_enabled",
    "max_connections",
    "time_zone",
];

/// Looks at everything.
pub(super) async fn examine(engine: &MysqlEngine) -> Result<Vec<Finding>, DriverError> {
    let query = async |text: String| engine.servers.query(text).await;
    let failed = |error| engine.servers.failed(error, None);
    let names = SETTINGS.map(|name| format!("'{name}'")).join(",");
    let text = format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})");
    let mut settings: BTreeMap<String, String> = BTreeMap::new();
    for row in query(text).await.map_err(failed)? {
        if let (Some(name), Some(value)) = (row.get::<String, _>(0), row.get::<String, _>(1)) {
            settings.insert(name.to_ascii_lowercase(), value);
        }
    }
    let connected = query("SHOW GLOBAL STATUS LIKE 'Threads_connected'".to_owned()).await;
    let connected = connected.map_err(failed)?;
    let connected = connected.first().and_then(|row| row.get::<String, _>(1));
    let replica = query("SHOW SLAVE STATUS".to_owned()).await;
    let replica = match replica {
        // Oracle's MySQL has renamed it.
        Err(error) if error.class() != Some(ErrorClass::Rights) => {
            query("SHOW REPLICA STATUS".to_owned()).await
        }
        answer => answer,
    };
    let setting = |name: &str| settings.get(name).map(String::as_str);
    let (name, version) = (engine.flavour.name(), setting("version").unwrap_or("unknown"));
    let mut findings = vec![Finding::ok("version", format!("{name} {version}"))];
    findings.extend(durability(&setting));
    findings.extend(binlog(&setting));
    findings.push(replication(&setting, replica.map(|rows| !rows.is_empty()).ok()));
    findings.push(room(setting("max_connections"), connected.as_deref()));
    findings.push(rights(engine).await);
    let zone = setting("time_zone").unwrap_or("unknown");
    let clock = format!("the server's, in UTC; its time zone ({zone}) is not used");
    findings.push(Finding::ok("clock", clock));
    Ok(findings)
}

/// What a loss of power would cost.
fn durability<'a>(setting: &impl Fn(&str) -> Option<&'a str>) -> Vec<Finding> {
    let flush = setting("innodb_flush_log_at_trx_commit").unwrap_or("unknown");
    let detail = format!("innodb_flush_log_at_trx_commit is {flush}");
    let lost = format!("{detail}: a crash of the machine loses up to a second of grants");
    let mut findings = vec![match flush {
        "1" => Finding::ok("durability", detail),
        _ => Finding::warn("durability", lost, "set it to 1"),
    }];
    let (log_bin, sync) = (setting("log_bin").unwrap_or("OFF"), setting("sync_binlog"));
    if is_on(log_bin) && sync != Some("1") {
        findings.push(Finding::warn(
            "binlog",
            format!("sync_binlog is {}: replicas may be ahead after a crash", sync.unwrap_or("?")),
            "set it to 1",
        ));
    }
    findings
}

fn binlog<'a>(setting: &impl Fn(&str) -> Option<&'a str>) -> Option<Finding> {
    let statement = setting("binlog_format") == Some("STATEMENT");
    let written = setting("log_bin").is_some_and(is_on);
    (statement && written).then(|| {
        let detail = "binlog_format is STATEMENT, which refuses READ COMMITTED: no step can write";
        Finding::fail("binlog", detail, BINLOG_FORMAT)
    })
}

fn replication<'a>(
    setting: &impl Fn(&str) -> Option<&'a str>,
    is_replica: Option<bool>,
) -> Finding {
    let on = |name| setting(name).is_some_and(is_on);
    if on("read_only") || is_replica == Some(true) {
        let detail = "this is a replica: what it grants, its primary does not know";
        return Finding::fail("replication", detail, "name the primary");
    }
    if on("wsrep_on") || setting("group_replication_group_name").is_some_and(|it| !it.is_empty()) {
        return Finding::warn(
            "replication",
            "several servers may take writes; that is not tested, and each is a lineage of its own",
            "let every node write to the same server",
        );
    }
    if on("rpl_semi_sync_master_enabled") || on("rpl_semi_sync_source_enabled") {
        let detail = "semi-synchronous: a failover loses writes only after its timeout fell back";
        return Finding::ok("replication", detail);
    }
    match is_replica {
        Some(_) => Finding::ok("replication", "not a replica; a failover shows in the lineage"),
        None => Finding::ok("replication", "not shown to this user (REPLICATION CLIENT)"),
    }
}

/// How many more connections the server would take.
fn room(most: Option<&str>, connected: Option<&str>) -> Finding {
    let read = |text: Option<&str>| text.and_then(|text| text.parse::<u64>().ok());
    let (Some(most), Some(connected)) = (read(most), read(connected)) else {
        return Finding::ok("connections", "not shown to this user");
    };
    let detail = format!("{connected} of {most} are taken");
    let is_tight = connected * 10 >= most * 9;
    Finding::warn_if(is_tight, "connections", detail, "raise max_connections")
}

/// Tries what a beat does, in a namespace without nodes, with a boot of no process.
async fn rights(engine: &MysqlEngine) -> Finding {
    let prefix = &engine.servers.config.prefix;
    let tried = format!(
        "CALL `{prefix}leave`(_ascii 'baton-doctor', 0, _ascii 'nobody', \
         _ascii '00000000000000000000000000000000')"
    );
    match engine.servers.query(tried).await {
        Ok(_) => Finding::ok("rights", "this user may read, write and call the procedures"),
        Err(error) => Finding::fail("rights", error.detail(), super::error::GRANTS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared() {
        assert_eq!(number("10.11.19-MariaDB-0+deb12u1"), Some((10, 11)));
        assert_eq!(number("8.0.36"), Some((8, 0)));
        assert!(number("5.7.44-log") < Some(Flavour::Mysql.needed().1));
        assert!(number("10.5.9-MariaDB") < Some(Flavour::Mariadb.needed().1));
        assert!(number("nonsense") < Some((8, 0)));
    }
}
