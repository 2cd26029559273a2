//! `cargo xtask tidy`: style as a test. Each rule has a test that makes it fire.
//!
//! ```text
//!   files ──► Repo ──► rust_files: header, sizes, leftovers, tests, unused files ─┐
//!                 └──► documents: links and paths; markdown reads them ───────────┼──► findings
//!   cargo metadata, manifests ──► dependencies ───────────────────────────────────┘
//! ```
//!
//! What clippy or rustfmt can check is no rule here: `clippy.toml` limits the length of functions.

mod dependencies;
mod documents;
mod markdown;
mod repo;
mod rust_files;

use std::fmt;
use std::path::Path;

use crate::failure::Failure;
use repo::Repo;

/// One thing to fix; displayed as `path:line: message`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// The file, from the root of the repository.
    path: String,
    /// The line, counted from one.
    line: usize,
    /// What is wrong, and what to do where that is not plain.
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// The lines of a text with their numbers, counted from one.
fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines())
}

/// Prints every finding; an error if there is one.
pub fn run(root: &Path) -> Result<(), Failure> {
    let mut findings = findings_in(&Repo::read(root)?);
    findings.extend(dependencies::check(root)?);
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
        rust_files::check(path, text).into_iter().chain(dependencies::planted_bugs(path, text))
    });
    let of_all = [rust_files::unused(repo), documents::links(repo), documents::named_paths(repo)];
    of_one.chain(of_all.into_iter().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Repo, findings_in};

    #[test]
    fn every_finding_of_every_file_is_reported() {
        let repo = Repo::of(&[
            ("a/Cargo.toml", "[features]\nbaton_bugs = []\n"),
            ("a/src/lib.rs", concat!("// FIX", "ME\n")),
            ("a/src/lost.rs", "//! Lost.\n"),
            ("ARCHITECTURE.md", "[gone](gone.md)\n`src/gone.rs`\n"),
        ]);
        let mut found = findings_in(&repo);
        found.sort();
        let places: Vec<String> = found.iter().map(|f| format!("{}:{}", f.path, f.line)).collect();
        let expected = [
            "ARCHITECTURE.md:1",
            "ARCHITECTURE.md:2",
            "a/Cargo.toml:2",
            "a/src/lib.rs:1",
            "a/src/lib.rs:1",
            "a/src/lost.rs:1",
        ];
        assert_eq!(places, expected);
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
