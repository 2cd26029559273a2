//! What a test program's run came to, read from what libtest printed.

use std::fmt;
use std::time::Duration;

use super::programs::Program;
use crate::command::seconds;

/// One program's run.
pub struct Outcome {
    /// The program's name, for people.
    pub name: String,
    /// How many tests passed.
    pub passed: usize,
    /// How many tests failed: one if the program failed without a word about its tests.
    pub failed: usize,
    /// How long it took.
    pub took: Duration,
    /// cargo's flag that selects the program.
    target: String,
    output: String,
}

impl Outcome {
    /// Reads the output of a program that has ended.
    pub fn new(program: &Program, success: bool, took: Duration, output: String) -> Self {
        let (passed, failed) = counts(&output);
        let failed = if success { failed } else { failed.max(1) };
        Self { name: program.name(), passed, failed, took, target: program.target(), output }
    }

    /// The command that runs the failed tests again: of the whole workspace, so that nothing is
    /// built with other features.
    pub fn repeat(&self) -> String {
        let names = failures(&self.output).collect::<Vec<_>>().join(" ");
        format!("cargo test --workspace {} -- {names}", self.target)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, passed, failed, took) =
            (&self.name, self.passed, self.failed, seconds(self.took));
        writeln!(f, "── {name}")?;
        writeln!(f, "{}", self.output.trim_end())?;
        write!(f, "── {name}: {passed} passed, {failed} failed in {took}")
    }
}

/// How many tests passed and failed, over all results: the tests of documentation have one for each
/// crate.
fn counts(output: &str) -> (usize, usize) {
    let results = output.lines().filter_map(|line| line.strip_prefix("test result: "));
    let count = |result: &str, what: &str| {
        let mut words = result.split([' ', ';']).filter(|word| !word.is_empty());
        let mut last = "0";
        words.find_map(|word| {
            let found = (word == what).then(|| last.parse::<usize>().unwrap_or(0));
            last = word;
            found
        })
    };
    results.fold((0, 0), |(passed, failed), result| {
        (
            passed + count(result, "passed").unwrap_or(0),
            failed + count(result, "failed").unwrap_or(0),
        )
    })
}

/// The names in the list of failures that libtest ends with.
fn failures(output: &str) -> impl Iterator<Item = &str> {
    let list = output.rsplit_once("\nfailures:\n").map_or("", |(_, list)| list);
    list.lines().map_while(|line| line.strip_prefix("    ")).map(str::trim)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::{Outcome, counts};
    use crate::suite::programs::Program;

    const FAILED: &str = "\
running 3 tests
test a::one ... ok
test a::two ... FAILED
test a::three ... FAILED

failures:

---- a::two stdout ----
failures:
it went wrong

failures:
    a::two
    a::three

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s
";

    #[test]
    fn every_result_counts() {
        assert_eq!(counts(FAILED), (1, 2));
        let two =
            "test result: ok. 7 passed; 0 failed;\nnoise\ntest result: ok. 35 passed; 0 failed;";
        assert_eq!(counts(two), (42, 0));
        assert_eq!(counts("no result"), (0, 0));
    }

    #[test]
    fn the_failed_tests_are_named_in_the_command_that_repeats_them() {
        let program = Program::documentation(Path::new("."));
        let outcome = Outcome::new(&program, false, Duration::from_millis(1500), FAILED.to_owned());
        assert_eq!(outcome.repeat(), "cargo test --workspace --doc -- a::two a::three");
        let shown = outcome.to_string();
        assert!(shown.starts_with("── documentation\nrunning 3 tests\n"), "{shown}");
        assert!(shown.ends_with("── documentation: 1 passed, 2 failed in 1.5 s"), "{shown}");
    }
}
