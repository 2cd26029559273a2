//! The tests of the workspace. Most test programs wait for servers, processes and leases, so
//! several run side by side.
//!
//! ```text
//!   cargo test --no-run ──► programs: every test program, the slowest first
//!        run: N at a time, each into a log of its own ──► Outcome: printed when a program ends
//!             └─► what failed, the command that repeats it, "N passed, N failed"
//! ```

mod programs;

use std::collections::VecDeque;
use std::fmt;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use crate::command::{seconds, timed};
use crate::failure::Failure;
use programs::Program;

/// How many test programs run at once if nothing else is asked for. Each runs as many tests at a
/// time as the machine has cores.
pub const AT_ONCE: usize = 4;

/// Builds the test programs whose name contains one of `wanted`, or all, and runs them.
pub fn run(
    root: &Path,
    at_once: usize,
    wanted: &[String],
    env: &[(&str, String)],
) -> Result<(), Failure> {
    let mut programs = programs::build(root)?;
    if !wanted.is_empty() {
        programs.retain(|program| wanted.iter().any(|part| program.name.contains(part.as_str())));
    }
    let logs = root.join("target/test-logs");
    fs::create_dir_all(&logs).map_err(|source| unwritable(&logs, source))?;
    let waiting = Mutex::new(VecDeque::from(programs));
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..at_once.max(1) {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().expect("no worker panics").pop_front();
                    let Some(program) = next else { return };
                    let outcome = run_one(&program, &logs, env);
                    let mut done = done.lock().expect("no worker panics");
                    if let Ok(outcome) = &outcome {
                        println!("{outcome}");
                    }
                    done.push(outcome);
                }
            });
        }
    });
    conclude(done.into_inner().expect("no worker panicked"))
}

/// Runs one program to its end. What it writes goes to a file: a pipe would have to be read until
/// the last process that the program left behind closes it.
fn run_one(program: &Program, logs: &Path, env: &[(&str, String)]) -> Result<Outcome, Failure> {
    let log = logs.join(format!("{}.log", program.name.replace(['/', ' '], "-")));
    let open = || -> std::io::Result<(File, File)> {
        let file = File::create(&log)?;
        Ok((file.try_clone()?, file))
    };
    let (out, err) = open().map_err(|source| unwritable(&log, source))?;
    let mut command = program.command();
    command.envs(env.iter().map(|(name, value)| (name, value))).stdout(out).stderr(err);
    let (status, took) = timed(|| command.status());
    let status =
        status.map_err(|source| Failure::NotStarted { command: program.name.clone(), source })?;
    let output =
        fs::read(&log).map_err(|source| Failure::File { what: "read", path: log, source })?;
    let output = String::from_utf8_lossy(&output).into_owned();
    Ok(Outcome::new(program, status.success(), took, output))
}

/// Prints the totals; an error if anything failed.
fn conclude(done: Vec<Result<Outcome, Failure>>) -> Result<(), Failure> {
    let outcomes = done.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut slowest: Vec<&Outcome> = outcomes.iter().collect();
    slowest.sort_by_key(|outcome| std::cmp::Reverse(outcome.took));
    let shown = slowest.iter().take(8).map(|it| format!("{} {}", it.name, seconds(it.took)));
    println!("slowest: {}", shown.collect::<Vec<_>>().join(", "));
    for failed in outcomes.iter().filter(|outcome| outcome.failed > 0) {
        println!("FAILED: {}\n  repeat it with: {}", failed.name, failed.repeat());
    }
    let passed: usize = outcomes.iter().map(|outcome| outcome.passed).sum();
    let failed: usize = outcomes.iter().map(|outcome| outcome.failed).sum();
    println!("{passed} passed, {failed} failed");
    match (passed, failed) {
        (0, 0) => Err(Failure::NoTests),
        (_, 0) => Ok(()),
        (_, failed) => Err(Failure::Tests { failed }),
    }
}

fn unwritable(path: &Path, source: std::io::Error) -> Failure {
    Failure::File { what: "write", path: path.to_path_buf(), source }
}

/// One program's run.
struct Outcome {
    name: String,
    passed: usize,
    /// How many tests failed: one if the program failed without a word about its tests.
    failed: usize,
    took: Duration,
    /// cargo's flag that selects the program.
    flag: String,
    output: String,
}

impl Outcome {
    /// Reads the output of a program that has ended.
    fn new(program: &Program, success: bool, took: Duration, output: String) -> Self {
        let (passed, failed) = counts(&output);
        let failed = if success { failed } else { failed.max(1) };
        let (name, flag) = (program.name.clone(), program.flag.clone());
        Self { name, passed, failed, took, flag, output }
    }

    /// The command that runs the failed tests again: of the whole workspace, so that nothing is
    /// built with other features.
    fn repeat(&self) -> String {
        let names = failures(&self.output).collect::<Vec<_>>().join(" ");
        format!("cargo test --workspace {} -- {names}", self.flag)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, passed, failed, .. } = self;
        let (output, took) = (self.output.trim_end(), seconds(self.took));
        write!(f, "── {name}\n{output}\n── {name}: {passed} passed, {failed} failed in {took}")
    }
}

/// How many tests passed and failed, over all results: the tests of documentation have one for each
/// crate.
fn counts(output: &str) -> (usize, usize) {
    let results = output.lines().filter_map(|line| line.strip_prefix("test result: "));
    let (mut passed, mut failed) = (0, 0);
    for result in results {
        let words: Vec<&str> = result.split([' ', ';']).collect();
        for pair in words.windows(2) {
            let count = pair[0].parse().unwrap_or(0);
            match pair[1] {
                "passed" => passed += count,
                "failed" => failed += count,
                _ => {}
            }
        }
    }
    (passed, failed)
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

    use super::programs::Program;
    use super::{Outcome, conclude, counts};
    use crate::failure::Failure;

    fn outcome(success: bool, output: &str) -> Result<Outcome, Failure> {
        let program = Program::documentation(Path::new("."));
        Ok(Outcome::new(&program, success, Duration::from_secs(1), output.to_owned()))
    }

    #[test]
    fn nothing_that_ran_is_an_error() {
        assert!(matches!(conclude(Vec::new()), Err(Failure::NoTests)));
    }

    #[test]
    fn one_failed_test_fails_the_suite() {
        let passed = "test result: ok. 2 passed; 0 failed; 0 ignored";
        assert!(conclude(vec![outcome(true, passed)]).is_ok());
        let failed = "test result: FAILED. 1 passed; 1 failed; 0 ignored";
        let both = vec![outcome(true, passed), outcome(false, failed)];
        assert!(matches!(conclude(both), Err(Failure::Tests { failed: 1 })));
    }

    #[test]
    fn a_program_that_dies_without_a_result_failed() {
        let died = vec![outcome(false, "running 3 tests\ntest a ... ok\n")];
        assert!(matches!(conclude(died), Err(Failure::Tests { failed: 1 })));
    }

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
