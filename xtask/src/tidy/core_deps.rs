//! Rule: the core's dependency tree holds no runtime, clock or random source.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use serde_json::Value;

use super::finding::Finding;
use crate::command::Command;
use crate::failure::Failure;

const CORE: &str = "baton-core";

/// Crates that do I/O, tell the time or draw numbers; also everything named `futures…`.
const BANNED: [&str; 13] = [
    "async-std",
    "chrono",
    "fastrand",
    "getrandom",
    "instant",
    "jiff",
    "mio",
    "quanta",
    "rand",
    "rand_core",
    "smol",
    "time",
    "tokio",
];

/// What cargo knows of the workspace's dependencies.
pub fn metadata(root: &Path) -> Result<Value, Failure> {
    let json = Command::cargo("metadata --format-version 1").output(root)?;
    serde_json::from_str(&json).map_err(|error| Failure::Metadata(error.to_string()))
}

/// Fires on each banned crate that the core reaches through normal dependencies; development and
/// build dependencies are not part of it. The message names the way there.
pub fn check(metadata: &Value) -> Result<Vec<Finding>, Failure> {
    let names = names(metadata)?;
    let edges = edges(metadata)?;
    let core = names
        .iter()
        .find(|(_, name)| **name == CORE)
        .map(|(id, _)| *id)
        .ok_or_else(|| Failure::Metadata(format!("no package {CORE}")))?;

    let mut findings = Vec::new();
    let mut seen = BTreeSet::from([core]);
    let mut open = VecDeque::from([(core, CORE.to_owned())]);
    while let Some((id, way)) = open.pop_front() {
        let reached = edges.get(id).ok_or_else(|| Failure::Metadata(format!("no node {id}")))?;
        for dependency in reached {
            if !seen.insert(dependency) {
                continue;
            }
            let name = names.get(dependency).copied().unwrap_or(dependency);
            let way = format!("{way} → {name}");
            if is_banned(name) {
                let message = format!("the core may not depend on `{name}`: {way}");
                findings.push(Finding::new("crates/baton-core/Cargo.toml", 1, message));
            }
            open.push_back((dependency, way));
        }
    }
    Ok(findings)
}

fn is_banned(name: &str) -> bool {
    BANNED.contains(&name) || name.starts_with("futures")
}

/// The packages' names by their ids.
fn names(metadata: &Value) -> Result<BTreeMap<&str, &str>, Failure> {
    list(metadata, "/packages")?
        .iter()
        .map(|package| Ok((text(package, "/id")?, text(package, "/name")?)))
        .collect()
}

/// The normal dependencies of each package, all by their ids.
fn edges(metadata: &Value) -> Result<BTreeMap<&str, Vec<&str>>, Failure> {
    let mut edges = BTreeMap::new();
    for node in list(metadata, "/resolve/nodes")? {
        let mut normal = Vec::new();
        for dependency in list(node, "/deps")? {
            let kinds = list(dependency, "/dep_kinds")?;
            if kinds.iter().any(|kind| kind["kind"].is_null()) {
                normal.push(text(dependency, "/pkg")?);
            }
        }
        edges.insert(text(node, "/id")?, normal);
    }
    Ok(edges)
}

/// The list there.
pub fn list<'a>(value: &'a Value, pointer: &str) -> Result<&'a Vec<Value>, Failure> {
    let found = value.pointer(pointer).and_then(Value::as_array);
    found.ok_or_else(|| Failure::Metadata(format!("no list at {pointer}")))
}

/// The text there.
pub fn text<'a>(value: &'a Value, pointer: &str) -> Result<&'a str, Failure> {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.ok_or_else(|| Failure::Metadata(format!("no text at {pointer}")))
}

#[cfg(test)]
mod tests {
    use super::{Value, check};

    type Dependency<'a> = (&'a str, Option<&'a str>);
    type Package<'a> = (&'a str, &'a [Dependency<'a>]);

    /// Packages with their dependencies and the kinds of those; a name is its own id.
    fn metadata(packages: &[Package<'_>]) -> Value {
        let package = |(name, _): &Package<'_>| format!(r#"{{"id": "{name}", "name": "{name}"}}"#);
        let dependency = |(name, kind): &Dependency<'_>| {
            let kind = kind.map_or("null".to_owned(), |kind| format!("\"{kind}\""));
            format!(r#"{{"pkg": "{name}", "dep_kinds": [{{"kind": {kind}}}]}}"#)
        };
        let node = |(name, deps): &Package<'_>| {
            let deps: Vec<String> = deps.iter().map(dependency).collect();
            format!(r#"{{"id": "{name}", "deps": [{}]}}"#, deps.join(","))
        };
        let nodes: Vec<String> = packages.iter().map(node).collect();
        let packages: Vec<String> = packages.iter().map(package).collect();
        let (packages, nodes) = (packages.join(","), nodes.join(","));
        let json = format!(r#"{{"packages": [{packages}], "resolve": {{"nodes": [{nodes}]}}}}"#);
        serde_json::from_str(&json).expect("the test writes valid JSON")
    }

    #[test]
    fn fires_on_banned_crates_however_deep() {
        let metadata = metadata(&[
            ("baton-core", &[("a", None), ("futures-util", None)]),
            ("a", &[("rand", None), ("baton-core", None)]),
            ("rand", &[]),
            ("futures-util", &[]),
        ]);
        let found = check(&metadata).expect("the metadata is complete");
        let messages: Vec<&str> = found.iter().map(|f| f.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "the core may not depend on `futures-util`: baton-core → futures-util",
                "the core may not depend on `rand`: baton-core → a → rand",
            ]
        );
    }

    #[test]
    fn is_silent_on_development_and_build_dependencies() {
        let metadata = metadata(&[
            ("baton-core", &[("serde", None), ("tokio", Some("dev"))]),
            ("serde", &[("time", Some("build"))]),
            ("tokio", &[]),
            ("time", &[]),
        ]);
        assert!(check(&metadata).is_ok_and(|found| found.is_empty()));
    }

    #[test]
    fn metadata_without_the_core_is_an_error() {
        assert!(check(&metadata(&[("other", &[])])).is_err());
        assert!(check(&Value::Null).is_err());
    }
}
