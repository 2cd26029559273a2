//! Rules over dependencies and manifests: where every crate comes from and under which licence,
//! what the core may not depend on, and that no manifest plants a bug.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use super::{Finding, numbered};
use crate::command::Command;
use crate::failure::Failure;

/// Licences that ask for no more than to be named.
const LICENCES: [&str; 10] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-3-Clause",
    "BSL-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
];

/// Crates that would bring a second implementation of TLS, or need a library of the system.
const BANNED: [&str; 4] = ["aws-lc-rs", "native-tls", "openssl", "openssl-sys"];

/// Crates that do I/O, tell the time or draw numbers; also everything named `futures…`. The
/// calendar of `jiff` is allowed: clippy.toml bans its clock and its files by name.
const BANNED_IN_CORE: [&str; 12] = [
    "async-std",
    "chrono",
    "fastrand",
    "getrandom",
    "instant",
    "mio",
    "quanta",
    "rand",
    "rand_core",
    "smol",
    "time",
    "tokio",
];

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The flag that plants bugs. Only `cargo xtask bugs` may set it, by its wrapper of the compiler.
const BUGS: &str = "baton_bugs";

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Graph,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    license: Option<String>,
    /// The workspace's own have none.
    source: Option<String>,
}

/// Which package depends on which, with the features that all crates of the workspace switch on.
#[derive(Deserialize)]
struct Graph {
    nodes: Vec<Node>,
}

impl Graph {
    /// What a package depends on, other than for development and building.
    fn ordinary<'a>(&'a self, id: &str) -> impl Iterator<Item = &'a str> {
        let node = self.nodes.iter().find(|node| node.id == id);
        let all = node.into_iter().flat_map(|node| &node.deps);
        let is_ordinary = |it: &&Dependency| it.dep_kinds.iter().any(|edge| edge.kind.is_none());
        all.filter(is_ordinary).map(|it| it.pkg.as_str())
    }
}

/// A package by its id, and what it depends on.
#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Edge>,
}

/// `kind` is `dev` or `build`; an ordinary dependency has none.
#[derive(Deserialize)]
struct Edge {
    kind: Option<String>,
}

/// Asks cargo for all dependencies.
pub fn check(root: &Path) -> Result<Vec<Finding>, Failure> {
    let json = Command::cargo("metadata --format-version 1").output(root)?;
    let metadata: Metadata = serde_json::from_str(&json).map_err(Failure::Metadata)?;
    Ok([packages(&metadata), core(&metadata)].concat())
}

/// Fires on each package that is banned, comes from elsewhere, or has another licence.
fn packages(metadata: &Metadata) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Package { name, license, source, .. } in &metadata.packages {
        let mut fires = |message: String| findings.push(Finding::new("Cargo.lock", 1, message));
        if BANNED.contains(&name.as_str()) {
            fires(format!("`{name}` is banned: TLS is rustls with ring"));
        }
        if let Some(source) = source.as_ref().filter(|source| *source != CRATES_IO) {
            fires(format!("`{name}` comes from {source}, not from crates.io"));
        }
        let licence = license.as_deref().unwrap_or("none");
        if !is_allowed(licence) {
            fires(format!("`{name}` has the licence {licence}, which is not on the list"));
        }
    }
    findings
}

/// Is the SPDX expression met by the licences of the list? Each part of an `AND` has to offer one
/// of them; old manifests write `/` for `OR`. A choice that holds an `AND` is refused.
fn is_allowed(expression: &str) -> bool {
    let offered = |part: &str| {
        let choices = part.trim_matches(['(', ')']).replace('/', " OR ");
        choices.split(" OR ").any(|choice| LICENCES.contains(&choice.trim()))
    };
    expression.split(" AND ").all(offered)
}

/// Fires on each crate below the core that may block, tell the time or draw numbers. Dependencies
/// for development and building are not part of the core.
fn core(metadata: &Metadata) -> Vec<Finding> {
    let names: BTreeMap<&str, &str> =
        metadata.packages.iter().map(|it| (it.id.as_str(), it.name.as_str())).collect();
    let core = names.iter().filter(|(_, name)| **name == "baton-core");
    let mut open: Vec<_> = core.map(|(id, name)| (*id, (*name).to_owned())).collect();
    let mut known = BTreeSet::new();
    let mut findings = Vec::new();
    while let Some((from, path)) = open.pop() {
        for id in metadata.resolve.ordinary(from).filter(|id| known.insert(*id)) {
            let name = names[id];
            let path = format!("{path} → {name}");
            if BANNED_IN_CORE.contains(&name) || name.starts_with("futures") {
                let message = format!("the core may not depend on `{name}`: {path}");
                findings.push(Finding::new("crates/baton-core/Cargo.toml", 1, message));
            }
            open.push((id, path));
        }
    }
    findings
}

/// Fires on each line of a manifest or cargo configuration that names the flag of the planted bugs,
/// unless the line declares it to the compiler's `check-cfg`. Comments set nothing.
pub fn planted_bugs(path: &str, text: &str) -> Vec<Finding> {
    let manifests = ["Cargo.toml", ".cargo/config.toml", ".cargo/config"];
    let is_manifest = manifests.iter().any(|name| Path::new(path).ends_with(name));
    let names_flag = |line: &str| match line.contains("check-cfg") {
        true => line.replace(&format!("cfg({BUGS})"), "").contains(BUGS),
        false => line.contains(BUGS),
    };
    let lines = numbered(text).filter(|_| is_manifest);
    let set = lines.filter(|(_, line)| !line.trim_start().starts_with('#') && names_flag(line));
    let message = format!("`{BUGS}` may be declared in `check-cfg`, never set");
    set.map(|(line, _)| Finding::new(path, line, &*message)).collect()
}

#[cfg(test)]
mod tests {
    use super::{CRATES_IO, core, is_allowed, packages, planted_bugs};

    #[test]
    fn an_expression_is_met_by_one_of_its_choices_and_all_of_its_parts() {
        for met in [
            "MIT",
            "GPL-3.0 OR MIT",
            "Unlicense/MIT",
            "Zlib / GPL-3.0",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
        ] {
            assert!(is_allowed(met), "{met}");
        }
        for not in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Zlib) AND GPL-3.0", "none", ""] {
            assert!(!is_allowed(not), "{not}");
        }
        assert!(is_allowed("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT"));
        assert!(!is_allowed("GPL-3.0 OR (MIT AND GPL-2.0)"));
    }

    #[test]
    fn fires_on_banned_crates_other_sources_and_other_licences() {
        let package = |name: &str, licence: &str, source: &str| {
            format!(
                r#"{{"id": "", "name": "{name}", "license": "{licence}", "source": "{source}"}}"#
            )
        };
        let all = [
            package("good", "MIT", CRATES_IO),
            package("openssl-sys", "MIT", CRATES_IO),
            package("copied", "GPL-3.0", CRATES_IO),
            package("forked", "MIT", "git+https://example.com/forked"),
            r#"{"id": "", "name": "unlicensed", "license": null, "source": null}"#.to_owned(),
        ];
        let all = all.join(",");
        let json = format!(r#"{{"packages": [{all}], "resolve": {{"nodes": []}}}}"#);
        let found = packages(&serde_json::from_str(&json).expect("it is JSON"));
        let names: Vec<&str> =
            found.iter().filter_map(|finding| finding.message.split('`').nth(1)).collect();
        assert_eq!(names, ["openssl-sys", "copied", "forked", "unlicensed"]);
    }

    #[test]
    fn fires_on_crates_that_the_core_may_not_have() {
        let edges = [
            ("baton-core", "serde", "null"),
            ("baton-core", "rand", "\"dev\""),
            ("baton-core", "time", "\"build\""),
            ("serde", "futures-util", "null"),
            ("tokio", "baton-core", "null"),
        ];
        let names = ["baton-core", "serde", "rand", "time", "futures-util", "tokio"];
        let package = |name| format!(r#"{{"id": "{name} 1", "name": "{name}"}}"#);
        let node = |name: &str| {
            let own = edges.iter().filter(|(from, ..)| *from == name);
            let dependency = |(_, to, kind): &(&str, &str, &str)| {
                format!(r#"{{"pkg": "{to} 1", "dep_kinds": [{{"kind": {kind}}}]}}"#)
            };
            let deps = own.map(dependency).collect::<Vec<_>>().join(",");
            format!(r#"{{"id": "{name} 1", "deps": [{deps}]}}"#)
        };
        let [packages, nodes] = [names.map(package), names.map(node)].map(|it| it.join(","));
        let json = format!(r#"{{"packages": [{packages}], "resolve": {{"nodes": [{nodes}]}}}}"#);
        let found = core(&serde_json::from_str(&json).expect("it is JSON"));
        let found: Vec<String> = found.into_iter().map(|finding| finding.message).collect();
        let path = "baton-core → serde → futures-util";
        assert_eq!(found, [format!("the core may not depend on `futures-util`: {path}")]);
    }

    #[test]
    fn fires_wherever_the_flag_of_the_bugs_is_set() {
        let rustflags = "[build]\nrustflags = [\"--cfg\", \"baton_bugs\"]\n";
        assert_eq!(planted_bugs(".cargo/config.toml", rustflags).len(), 1);
        let feature = "[features]\nbaton_bugs = []\n";
        assert_eq!(planted_bugs("crates/baton-core/Cargo.toml", feature).len(), 1);
        let both = "flags = \"--check-cfg=cfg(baton_bugs) --cfg=baton_bugs\"\n";
        assert_eq!(planted_bugs("sub/.cargo/config.toml", both).len(), 1);
    }

    #[test]
    fn is_silent_on_the_declaration_of_the_flag_and_on_other_files() {
        let lint = "# baton_bugs is set by xtask.\nx = { check-cfg = [\"cfg(baton_bugs)\"] }\n";
        assert_eq!(planted_bugs("Cargo.toml", lint), []);
        assert_eq!(planted_bugs("crates/a/src/lib.rs", "#[cfg(baton_bugs)]\n"), []);
    }
}
