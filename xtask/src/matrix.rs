//! `cargo xtask matrix`: the tests of drivers against servers that the test suite does not use.
//!
//! ```text
//!   baton-servers up ──► a URL each ──► cargo test -p baton-drivers, the URL in its environment
//!        └── baton-servers down, also after a failure
//!   MySQL by Oracle ──────────────────► cargo test -p baton-drivers, whose tests start their own
//! ```
//!
//! A server that the environment names is not the tests' to stop: those that would are left out by
//! the name of their file. Tests that start their own servers all run.

use std::path::Path;

use crate::chores;
use crate::command::Command;
use crate::failure::Failure;

/// A driver's tests on another server.
#[derive(Clone, Copy)]
struct Entry {
    /// The server, by baton-servers' name.
    server: &'static str,
    /// The driver, and its test program. All of them are built, so that one build serves all.
    driver: &'static str,
    origin: Origin,
}

/// Who starts the server.
#[derive(Clone, Copy)]
enum Origin {
    /// Each test starts its own, as this variable tells it to.
    Tests { variable: &'static str, value: &'static str },
    /// baton-servers starts one for all tests.
    BatonServers {
        /// The variable in which baton-servers prints its URL.
        printed_variable: &'static str,
        /// The variable from which the tests take a URL.
        test_variable: &'static str,
        /// The files of tests that a server need not be stopped for.
        files: &'static str,
    },
}

const ENTRIES: [Entry; 3] = [
    Entry {
        server: "mysql",
        driver: "mysql",
        origin: Origin::Tests { variable: "BATON_TEST_MYSQL_BY", value: "oracle" },
    },
    Entry {
        server: "postgres18",
        driver: "postgres",
        origin: Origin::BatonServers {
            printed_variable: "BATON_TEST_POSTGRES18_URL",
            test_variable: "BATON_TEST_POSTGRES_URL",
            files: "conforms:: peer:: fence:: sweep:: round_trips:: traps::",
        },
    },
    Entry {
        server: "seaweedfs",
        driver: "s3",
        origin: Origin::BatonServers {
            printed_variable: "BATON_TEST_SEAWEEDFS_URL",
            test_variable: "BATON_TEST_S3_URL",
            files: "conforms:: peer:: fence:: round_trips:: traps::",
        },
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
        let files = match entry.origin {
            Origin::Tests { .. } => "all tests",
            Origin::BatonServers { files, .. } => files,
        };
        println!("{verdict}: {} on {}: {files}", entry.driver, entry.server);
        failed = failed.or(outcome.err());
    }
    failed.map_or(Ok(()), Err)
}

impl Entry {
    fn run(&self, root: &Path) -> Result<(), Failure> {
        let (printed_variable, test_variable, files) = match self.origin {
            Origin::Tests { variable, value } => {
                return self.tests("").env(variable, value).run(root);
            }
            Origin::BatonServers { printed_variable, test_variable, files } => {
                (printed_variable, test_variable, files)
            }
        };
        let said = chores::servers(&["up".to_owned(), self.server.to_owned()]).output(root)?;
        let tested = match url(&said, printed_variable) {
            Some(url) => self.tests(files).env(test_variable, url).run(root),
            None => Err(Failure::NoUrl { server: self.server }),
        };
        let down = chores::servers(&["down".to_owned()]).run(root);
        tested.and(down)
    }

    fn tests(&self, files: &str) -> Command {
        let test = format!("test -p baton-drivers --features all --test {}", self.driver);
        Command::cargo(&if files.is_empty() { test } else { format!("{test} -- {files}") })
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
    fn tests_that_would_stop_a_shared_server_are_left_out() {
        let all = ENTRIES[0].tests("").to_string();
        assert_eq!(all, "cargo test -p baton-drivers --features all --test mysql");
        let some = ENTRIES[1].tests("conforms:: peer::").env("URL", "x://y").to_string();
        let wanted = "URL=\"x://y\" cargo test -p baton-drivers --features all --test postgres \
                      -- conforms:: peer::";
        assert_eq!(some, wanted);
    }
}
