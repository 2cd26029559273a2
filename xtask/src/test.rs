//! `cargo xtask test`: every check of a submission, in order, up to the first that fails.

use std::hint::black_box;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::command::{Command, run_all, seconds, timed};
use crate::failure::Failure;
use crate::{chores, conformance, suite, tidy};

/// How many seeds may be tried for each planted bug.
const SEEDS: NonZeroU32 = NonZeroU32::new(1_000).expect("it is above zero");

type Job = Box<dyn Fn(&Path) -> Result<(), Failure>>;

struct Step {
    /// Its short name, for the summary.
    name: &'static str,
    /// The command that does this alone.
    repeat: String,
    perform: Job,
    /// How many busy loops run beside it.
    loops: u32,
}

impl Step {
    fn beside(mut self, loops: u32) -> Self {
        if loops > 0 {
            self.repeat.push_str(&format!(" # beside {loops} busy loops"));
        }
        Self { loops, ..self }
    }
}

fn step(
    name: &'static str,
    repeat: impl Into<String>,
    perform: impl Fn(&Path) -> Result<(), Failure> + 'static,
) -> Step {
    Step { name, repeat: repeat.into(), perform: Box::new(perform), loops: 0 }
}

/// A step that is nothing but commands.
fn run(name: &'static str, commands: impl Into<Vec<Command>>) -> Step {
    let commands = commands.into();
    let lines: Vec<String> = commands.iter().map(ToString::to_string).collect();
    step(name, lines.join(" && "), move |root| run_all(&commands, root))
}

/// Runs all steps, those that may depend on speed beside this many busy loops; the last line
/// printed is the summary.
pub fn run_test(root: &Path, loops: u32) -> Result<(), Failure> {
    run_steps(&steps(loops), root)
}

fn run_steps(steps: &[Step], root: &Path) -> Result<(), Failure> {
    let mut done = Vec::new();
    for (index, Step { name, repeat, perform, loops }) in steps.iter().enumerate() {
        eprintln!("── {}/{}: {name}", index + 1, steps.len());
        let (outcome, took) = timed(|| beside(*loops, || perform(root)));
        outcome.map_err(|failure| Failure::Step {
            step: name,
            repeat: repeat.clone(),
            source: Box::new(failure),
        })?;
        done.push((*name, took));
    }
    println!("{}", summary(&done));
    Ok(())
}

fn steps(loops: u32) -> Vec<Step> {
    let doc = "doc --workspace --no-deps --document-private-items";
    let bugs = format!("cargo xtask bugs --seeds {SEEDS}");
    vec![
        run("fmt", [Command::cargo("fmt --all --check")]),
        step("tidy", "cargo xtask tidy", tidy::run),
        run("clippy", [Command::cargo("clippy --workspace --all-targets -- -D warnings")]),
        run("features", chores::features()),
        step("macos", chores::macos_command().to_string(), chores::macos),
        run("doc", [Command::cargo(doc).env("RUSTDOCFLAGS", "-D warnings")]),
        // Built before the loops begin: a compiler beside them takes longer and shows nothing.
        run("build", [Command::cargo("test --workspace --no-run")]),
        step("tests", "cargo xtask suite", tests).beside(loops),
        step("conformance", "cargo xtask conformance", conformance::run),
        run("chaos", [chores::short_chaos()]).beside(loops),
        run("soak", [chores::short_soak()]).beside(loops),
        run("simulation", [chores::built_simulator("--seeds 1000")]),
        run("schedules", [chores::built_simulator("schedules --seeds 100")]),
        run("partitions", [chores::built_simulator("partitions --seeds 200")]),
        run("once", [chores::built_simulator("once --faults 1")]),
        run("replay", [chores::built_simulator("replay")]),
        run("determinism", [chores::built_simulator("determinism --seeds 10")]),
        step("bugs", bugs, |root| run_all(&chores::bugs(SEEDS, root), root)),
    ]
}

/// The tests, which leave the reports for the table of conformance behind.
fn tests(root: &Path) -> Result<(), Failure> {
    conformance::forget(root)?;
    let folder = conformance::folder(root).display().to_string();
    suite::run(root, suite::AT_ONCE, &[], &[(conformance::VARIABLE, folder)])
}

fn summary(done: &[(&'static str, Duration)]) -> String {
    let total = done.iter().map(|(_, took)| *took).sum();
    let steps: Vec<String> =
        done.iter().map(|(name, took)| format!("{name} {}", seconds(*took))).collect();
    format!("all passed in {}: {}", seconds(total), steps.join(", "))
}

/// Does the work beside this many busy loops, and ends them with it: what passes on an idle machine
/// only, depends on speed. They are threads of this process, so nothing is left of them if it is
/// killed.
fn beside<T>(loops: u32, work: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Declared inside, so that a panic in the work ends them too, before they are joined.
        let _end = EndOnDrop(&over);
        for _ in 0..loops {
            scope.spawn(|| {
                let mut turns = 0_u64;
                while !over.load(Ordering::Relaxed) {
                    turns = black_box(turns.wrapping_add(1));
                }
            });
        }
        work()
    })
}

struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{Step, beside, run, run_steps, steps, summary};
    use crate::command::Command;
    use crate::failure::Failure;
    use std::fs;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::path::Path;
    use std::time::Duration;

    #[test]
    fn the_steps_stand_in_their_order() {
        let ordinary = |step: &&Step| !["features", "macos"].contains(&step.name);
        let steps = steps(0);
        let repeats: Vec<&str> =
            steps.iter().filter(ordinary).map(|step| step.repeat.as_str()).collect();
        let doc = "cargo doc --workspace --no-deps --document-private-items";
        let chaos = "chaos --store sqlite,redis --seconds 15 --failovers 3";
        let soak = "soak --store sqlite,redis --nodes 5 --lists 3 --seconds 10";
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
                &format!("target/debug/baton-bench {soak}"),
                "target/debug/baton-sim --seeds 1000",
                "target/debug/baton-sim schedules --seeds 100",
                "target/debug/baton-sim partitions --seeds 200",
                "target/debug/baton-sim once --faults 1",
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
        assert_eq!(loaded, ["tests", "chaos", "soak"]);
        let tests = steps.iter().find(|step| step.name == "tests").map(|step| step.repeat.as_str());
        let repeat = "cargo xtask suite # beside 2 busy loops";
        assert_eq!(tests, Some(repeat));
    }

    #[test]
    fn a_failing_step_is_named_with_the_command_that_repeats_it() {
        let steps = [("good", "--version"), ("bad", "--no-such-flag")]
            .map(|(name, args)| run(name, [Command::cargo(args)]));
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

    fn threads() -> usize {
        fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
    }

    #[test]
    fn the_loops_run_beside_the_work_and_end_with_it() {
        // That it returns shows that they ended: a scope waits for its threads.
        let during = beside(64, threads);
        assert!(during >= 64, "{during} threads");
        assert_eq!(beside(0, || 7), 7);
    }

    #[test]
    fn work_that_panics_ends_them_too() {
        let failed = catch_unwind(AssertUnwindSafe(|| beside(2, || unreachable!("on purpose"))));
        assert!(failed.is_err());
    }
}
