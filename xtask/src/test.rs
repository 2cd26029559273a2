//! `cargo xtask test`: every check of a submission, in order, up to the first that fails.

use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use crate::command::{Command, seconds, timed};
use crate::failure::Failure;
use crate::{chaos, conformance, load, sim, suite, tidy, variants};

/// How many seeds may be tried for each planted bug.
const SEEDS: NonZeroU32 = NonZeroU32::new(1_000).expect("it is above zero");

/// One step, by its short name in the summary.
struct Step {
    name: &'static str,
    job: Job,
    /// How many busy loops run beside it.
    loops: u32,
}

impl Step {
    /// The command that does this alone, with what else mattered as a remark.
    fn repeat(&self) -> String {
        let command = self.job.repeat();
        if self.loops == 0 {
            command
        } else {
            format!("{command} # beside {} busy loops", self.loops)
        }
    }
}

enum Job {
    Run(Command),
    /// Several commands, up to the first that fails.
    RunAll(Vec<Command>),
    /// A check for macOS, where that can be done.
    Macos,
    /// The tests, which leave the reports for the table behind.
    Tests,
    Conformance,
    Tidy,
    Bugs,
}

impl Job {
    fn perform(&self, root: &Path) -> Result<(), Failure> {
        match self {
            Self::Run(command) => command.run(root),
            Self::RunAll(commands) => commands.iter().try_for_each(|command| command.run(root)),
            Self::Macos => variants::macos(root),
            Self::Tests => {
                conformance::forget(root)?;
                let folder = conformance::folder(root).display().to_string();
                suite::run(root, suite::AT_ONCE, &[], &[(conformance::VARIABLE, folder)])
            }
            Self::Conformance => conformance::run(root),
            Self::Tidy => tidy::run(root),
            Self::Bugs => sim::bugs(SEEDS, root),
        }
    }

    /// The command that does this alone.
    fn repeat(&self) -> String {
        match self {
            Self::Run(command) => command.to_string(),
            Self::RunAll(commands) => {
                let lines: Vec<String> = commands.iter().map(ToString::to_string).collect();
                lines.join(" && ")
            }
            Self::Macos => variants::macos_command().to_string(),
            Self::Tests => "cargo xtask suite".to_owned(),
            Self::Conformance => "cargo xtask conformance".to_owned(),
            Self::Tidy => "cargo xtask tidy".to_owned(),
            Self::Bugs => format!("cargo xtask bugs --seeds {SEEDS}"),
        }
    }
}

/// Runs all steps, those that may depend on speed beside this many busy loops; the last line
/// printed is the summary.
pub fn run(root: &Path, loops: u32) -> Result<(), Failure> {
    run_steps(&steps(loops), root)
}

fn run_steps(steps: &[Step], root: &Path) -> Result<(), Failure> {
    let mut done = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let name = step.name;
        eprintln!("── {}/{}: {name}", index + 1, steps.len());
        let (outcome, took) = timed(|| load::beside(step.loops, || step.job.perform(root)));
        if let Err(failure) = outcome {
            return Err(Failure::Step {
                step: name,
                repeat: step.repeat(),
                source: Box::new(failure),
            });
        }
        done.push((name, took));
    }
    println!("{}", summary(&done));
    Ok(())
}

fn steps(loops: u32) -> Vec<Step> {
    let step = |name, job| Step { name, job, loops: 0 };
    let run = |name, command| step(name, Job::Run(command));
    let doc = "doc --workspace --no-deps --document-private-items";
    vec![
        run("fmt", Command::cargo("fmt --all --check")),
        step("tidy", Job::Tidy),
        run("clippy", Command::cargo("clippy --workspace --all-targets -- -D warnings")),
        step("features", Job::RunAll(variants::features())),
        step("macos", Job::Macos),
        run("doc", Command::cargo(doc).env("RUSTDOCFLAGS", "-D warnings")),
        // Built before the loops begin: a compiler beside them takes longer and shows nothing.
        run("build", Command::cargo("test --workspace --no-run")),
        Step { name: "tests", job: Job::Tests, loops },
        step("conformance", Job::Conformance),
        Step { name: "chaos", job: Job::Run(chaos::short()), loops },
        run("simulation", sim::short()),
        run("replay", sim::replay()),
        run("determinism", sim::short_determinism()),
        step("bugs", Job::Bugs),
    ]
}

fn summary(done: &[(&'static str, Duration)]) -> String {
    let total = done.iter().map(|(_, took)| *took).sum();
    let steps: Vec<String> =
        done.iter().map(|(name, took)| format!("{name} {}", seconds(*took))).collect();
    format!("all passed in {}: {}", seconds(total), steps.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{Job, Step, run_steps, steps, summary};
    use crate::command::Command;
    use crate::failure::Failure;
    use std::path::Path;
    use std::time::Duration;

    #[test]
    fn the_steps_stand_in_their_order() {
        let ordinary = |step: &&Step| !["features", "macos"].contains(&step.name);
        let repeats: Vec<String> = steps(0).iter().filter(ordinary).map(Step::repeat).collect();
        let doc = "cargo doc --workspace --no-deps --document-private-items";
        let chaos = "chaos --store sqlite,redis --seconds 15 --failovers 3";
        assert_eq!(
            repeats,
            [
                "cargo fmt --all --check",
                "cargo xtask tidy",
                "cargo clippy --workspace --all-targets -- -D warnings",
                &format!("RUSTDOCFLAGS=\"-D warnings\" {doc}"),
                "cargo test --workspace --no-run",
                "cargo xtask suite",
                "cargo xtask conformance",
                &format!("target/debug/baton-bench {chaos}"),
                "target/debug/baton-sim --seeds 1000",
                "target/debug/baton-sim replay",
                "target/debug/baton-sim determinism --seeds 10",
                "cargo xtask bugs --seeds 1000",
            ]
        );
    }

    #[test]
    fn busy_loops_run_beside_what_may_depend_on_speed() {
        let steps = steps(2);
        let loaded: Vec<&str> =
            steps.iter().filter(|step| step.loops == 2).map(|step| step.name).collect();
        assert_eq!(loaded, ["tests", "chaos"]);
        let tests = steps.iter().find(|step| step.name == "tests").map(Step::repeat);
        let repeat = "cargo xtask suite # beside 2 busy loops";
        assert_eq!(tests.as_deref(), Some(repeat));
    }

    #[test]
    fn a_failing_step_is_named_with_the_command_that_repeats_it() {
        let steps = [("good", "--version"), ("bad", "--no-such-flag")].map(|(name, args)| Step {
            name,
            job: Job::Run(Command::cargo(args)),
            loops: 0,
        });
        let failure = run_steps(&steps, Path::new(".")).expect_err("the second step fails");
        assert!(matches!(failure, Failure::Step { step: "bad", .. }));
        let message = failure.to_string();
        assert!(message.ends_with("repeat it with: cargo --no-such-flag"));
    }

    #[test]
    fn the_summary_is_one_line_with_every_duration() {
        let done = [("fmt", Duration::from_millis(400)), ("clippy", Duration::from_secs(12))];
        assert_eq!(summary(&done), "all passed in 12.4 s: fmt 0.4 s, clippy 12.0 s");
    }
}
