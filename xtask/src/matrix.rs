//! `cargo xtask matrix`: the tests of drivers against servers that the test suite does not use.
//!
//! ```text
//!   baton-servers up ──► a URL each ──► cargo test -p baton-drivers, the URL in its environment
//!        └── baton-servers down, also after a failure
//! ```
//!
//! A server that the environment names is not the tests' to stop: those that would are left out by
//! the name of their file.

use std::path::Path;

use crate::chores;
use crate::command::Command;
use crate::failure::Failure;

/// A driver's tests on another server.
#[derive(Clone, Copy)]
struct Entry {
    /// The server, by baton-servers' name.
    server: &'static str,
    /// The variable in which baton-servers prints its URL.
    printed_variable: &'static str,
    /// The variable from which the tests take a URL.
    test_variable: &'static str,
    /// The driver, and its test program. All of them are built, so that one build serves all.
    driver: &'static str,
    /// The files of tests that a server need not be stopped for.
    files: &'static [&'static str],
}

const ENTRIES: [Entry; 3] = [
    Entry {
        server: "mysql",
        printed_variable: "BATON_TEST_ORACLE_MYSQL_URL",
        test_variable: "BATON_TEST_MYSQL_URL",
        driver: "mysql",
        files: &["conforms::", "peer::", "fence::", "round_trips::", "traps::"],
    },
    Entry {
        server: "postgres18",
        printed_variable: "BATON_TEST_POSTGRES18_URL",
        test_variable: "BATON_TEST_POSTGRES_URL",
        driver: "postgres",
        files: &["conforms::", "peer::", "fence::", "sweep::", "round_trips::", "traps::"],
    },
    Entry {
        server: "seaweedfs",
        printed_variable: "BATON_TEST_SEAWEEDFS_URL",
        test_variable: "BATON_TEST_S3_URL",
        driver: "s3",
        files: &["conforms::", "peer::", "fence::", "round_trips::", "traps::"],
    },
];

/// The servers, by the names that baton-servers knows.
pub fn servers() -> [&'static str; ENTRIES.len()] {
    ENTRIES.map(|entry| entry.server)
}

/// Runs the entries of these servers, or all, and says of each whether it passed.
pub fn run(root: &Path, wanted: &[String]) -> Result<(), Failure> {
    let mut failed = None;
    let is_wanted =
        |entry: &&Entry| wanted.is_empty() || wanted.iter().any(|server| server == entry.server);
    for entry in ENTRIES.iter().filter(is_wanted) {
        let outcome = entry.run(root);
        let verdict = if outcome.is_ok() { "passed" } else { "FAILED" };
        println!("{verdict}: {} on {}: {}", entry.driver, entry.server, entry.files.join(" "));
        failed = failed.or(outcome.err());
    }
    failed.map_or(Ok(()), Err)
}

impl Entry {
    fn run(&self, root: &Path) -> Result<(), Failure> {
        let said = chores::servers(&["up".to_owned(), self.server.to_owned()]).output(root)?;
        let tested = match url(&said, self.printed_variable) {
            Some(url) => self.tests(url).run(root),
            None => Err(Failure::NoUrl { server: self.server }),
        };
        let down = chores::servers(&["down".to_owned()]).run(root);
        tested.and(down)
    }

    fn tests(&self, url: &str) -> Command {
        let (driver, files) = (self.driver, self.files.join(" "));
        let test = format!("test -p baton-drivers --features all --test {driver} -- {files}");
        Command::cargo(&test).env(self.test_variable, url)
    }
}

/// What a line like `export NAME='URL'` says.
fn url<'a>(said: &'a str, name: &str) -> Option<&'a str> {
    let value = |line: &'a str| line.strip_prefix("export ")?.strip_prefix(name)?.strip_prefix('=');
    said.lines().find_map(value).map(|quoted| quoted.trim_matches('\''))
}

#[cfg(test)]
mod tests {
    use super::{ENTRIES, url};

    #[test]
    fn the_url_is_read_from_what_is_meant_for_a_shell() {
        let said = "noise\nexport A_URL='a://x?y=1&z=2'\nexport B_URL='b://x'\n";
        assert_eq!(url(said, "B_URL"), Some("b://x"));
        assert_eq!(url(said, "A_URL"), Some("a://x?y=1&z=2"));
        assert_eq!(url(said, "C_URL"), None);
    }

    #[test]
    fn the_tests_get_the_url_under_the_name_they_know() {
        let command = ENTRIES[0].tests("mysql://x").to_string();
        let wanted = "BATON_TEST_MYSQL_URL=\"mysql://x\" cargo test -p baton-drivers \
                      --features all --test mysql -- conforms:: peer:: fence:: round_trips:: \
                      traps::";
        assert_eq!(command, wanted);
    }
}
