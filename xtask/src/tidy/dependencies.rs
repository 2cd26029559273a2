//! Rule: every dependency comes from crates.io, under a licence that a user can accept, and none
//! brings a library that the machine would have to have.

use serde_json::Value;

use super::core_deps::{list, text};
use super::finding::Finding;
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

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Fires on each package of the lock file that breaks the rule; the workspace's own have no source.
pub fn check(metadata: &Value) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    for package in list(metadata, "/packages")? {
        let name = text(package, "/name")?;
        let licence = package["license"].as_str().unwrap_or("none");
        let source = package["source"].as_str();
        let mut fires = |message: String| findings.push(Finding::new("Cargo.lock", 1, message));
        if BANNED.contains(&name) {
            fires(format!("`{name}` is banned: TLS is rustls with ring"));
        }
        if source.is_some_and(|source| source != CRATES_IO) {
            fires(format!(
                "`{name}` comes from {}, not from crates.io",
                source.unwrap_or_default()
            ));
        }
        if !is_allowed(licence) {
            fires(format!("`{name}` has the licence {licence}, which is not on the list"));
        }
    }
    Ok(findings)
}

/// Is the SPDX expression met by the licences of the list? Old manifests write `/` for `OR`.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.trim();
    let one_of = |between: &str| parts(expression, between).any(is_allowed);
    if parts(expression, " OR ").count() > 1 {
        return one_of(" OR ");
    }
    if parts(expression, "/").count() > 1 {
        return one_of("/");
    }
    if parts(expression, " AND ").count() > 1 {
        return parts(expression, " AND ").all(is_allowed);
    }
    match expression.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => is_allowed(inner),
        None => LICENCES.contains(&expression),
    }
}

/// The parts of an expression between these words, outside of parentheses.
fn parts<'a>(expression: &'a str, between: &'a str) -> impl Iterator<Item = &'a str> {
    let mut rest = Some(expression);
    std::iter::from_fn(move || {
        let whole = rest?;
        let is_outside = |at: usize| {
            let count = |c| whole[..at].matches(c).count();
            count('(') == count(')')
        };
        let end = whole.match_indices(between).map(|(at, _)| at).find(|at| is_outside(*at));
        rest = end.map(|end| &whole[end + between.len()..]);
        Some(&whole[..end.unwrap_or(whole.len())])
    })
}

#[cfg(test)]
mod tests {
    use super::{CRATES_IO, check, is_allowed};

    #[test]
    fn an_expression_is_met_by_one_of_its_choices_and_all_of_its_parts() {
        for met in ["MIT", "GPL-3.0 OR MIT", "Unlicense/MIT", "(MIT OR GPL-3.0) AND Unicode-3.0"] {
            assert!(is_allowed(met), "{met}");
        }
        for not in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Zlib) AND GPL-3.0", "none", ""] {
            assert!(!is_allowed(not), "{not}");
        }
        assert!(is_allowed("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT"));
    }

    #[test]
    fn fires_on_banned_crates_other_sources_and_other_licences() {
        let package = |name: &str, licence: &str, source: &str| {
            format!(r#"{{"name": "{name}", "license": "{licence}", "source": "{source}"}}"#)
        };
        let packages = [
            package("good", "MIT", CRATES_IO),
            package("openssl-sys", "MIT", CRATES_IO),
            package("copied", "GPL-3.0", CRATES_IO),
            package("forked", "MIT", "git+https://example.com/forked"),
            r#"{"name": "unlicensed", "license": null, "source": null}"#.to_owned(),
        ];
        let json = format!(r#"{{"packages": [{}]}}"#, packages.join(","));
        let found = check(&serde_json::from_str(&json).expect("it is JSON")).expect("complete");
        let names: Vec<&str> =
            found.iter().filter_map(|finding| finding.message.split('`').nth(1)).collect();
        assert_eq!(names, ["openssl-sys", "copied", "forked", "unlicensed"]);
    }
}
