//! `cargo xtask tidy`: style as a test. One rule, one file, one test that makes it fire.
//!
//! ```text
//!   files ──► Repo ──► rules over one file:  (path, text) ─┐
//!                 └──► rules over all files: (repo) ───────┼──► findings, sorted, printed
//!   cargo metadata ──► core_deps, dependencies ────────────┘
//! ```
//!
//! `source` and `tokens` read Rust just well enough for the rules: what is a comment, what is a
//! literal, where a function ends. `markdown` does the same for documents. What clippy or rustfmt
//! can check is no rule here.

mod assertions;
mod bug_cfg;
mod core_deps;
mod dependencies;
mod file_length;
mod finding;
mod function_length;
mod header;
mod leftovers;
mod line_width;
mod links;
mod markdown;
mod modules;
mod named_paths;
mod repo;
mod source;
mod tokens;
mod unused_files;

use std::path::Path;

use crate::failure::Failure;
use finding::Finding;
use repo::Repo;

type FileRule = fn(&str, &str) -> Vec<Finding>;
type RepoRule = fn(&Repo) -> Vec<Finding>;

const FILE_RULES: [FileRule; 7] = [
    assertions::check,
    bug_cfg::check,
    file_length::check,
    function_length::check,
    header::check,
    leftovers::check,
    line_width::check,
];

const REPO_RULES: [RepoRule; 3] = [links::check, named_paths::check, unused_files::check];

/// Prints every finding; an error if there is one.
pub fn run(root: &Path) -> Result<(), Failure> {
    let repo = Repo::read(root)?;
    let mut findings = findings_in(&repo);
    let metadata = core_deps::metadata(root)?;
    findings.extend(core_deps::check(&metadata)?);
    findings.extend(dependencies::check(&metadata)?);
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        count => Err(Failure::Untidy(count)),
    }
}

fn findings_in(repo: &Repo) -> Vec<Finding> {
    let of_one = repo.files().flat_map(|(path, text)| {
        FILE_RULES.iter().flat_map(move |rule| rule(path, text).into_iter())
    });
    let of_all = REPO_RULES.iter().flat_map(|rule| rule(repo));
    of_one.chain(of_all).collect()
}

#[cfg(test)]
mod tests {
    use super::{Repo, findings_in};

    #[test]
    fn every_finding_of_every_file_is_reported() {
        let repo = Repo::of(&[
            ("a/Cargo.toml", ""),
            ("a/src/lib.rs", "// FIXME\n"),
            ("a/src/lost.rs", "//! Lost.\n"),
            ("README.md", "[gone](gone.md)\n"),
        ]);
        let mut found = findings_in(&repo);
        found.sort();
        let places: Vec<String> = found.iter().map(|f| format!("{}:{}", f.path, f.line)).collect();
        assert_eq!(places, ["README.md:1", "a/src/lib.rs:1", "a/src/lib.rs:1", "a/src/lost.rs:1"]);
    }

    #[test]
    fn a_tidy_repository_is_silent() {
        let repo = Repo::of(&[
            ("a/Cargo.toml", ""),
            ("a/src/lib.rs", "//! A crate.\n\nmod found;\n"),
            ("a/src/found.rs", "//! A module.\n"),
            ("README.md", "[found](a/src/found.rs)\n"),
        ]);
        assert_eq!(findings_in(&repo), []);
    }
}
