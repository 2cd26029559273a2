//! The chores that baton-sim carries out.
//!
//! `cargo xtask test` runs the program that was built for the tests, so that nothing is compiled
//! again; the longer chores are commands of their own and run in release mode.

use std::num::NonZeroU32;
use std::path::Path;

use crate::command::{Command, target};
use crate::failure::Failure;

/// The short simulation of `cargo xtask test`.
pub fn short() -> Command {
    Command::built("debug/baton-sim", "--seeds 1000")
}

/// Replays the kept failing seeds.
pub fn replay() -> Command {
    Command::built("debug/baton-sim", "replay")
}

/// Runs a few seeds twice and compares.
pub fn short_determinism() -> Command {
    Command::built("debug/baton-sim", "determinism --seeds 10")
}

/// Plants every bug in turn, in a program built for that.
///
/// The flag reaches the crates of the workspace alone, through a wrapper of the compiler. Cargo
/// keeps what was compiled with a wrapper apart from what was not, so everything else is shared
/// with the tests. The program lies in a target folder of its own, where nothing else looks for
/// one.
pub fn bugs(seeds: NonZeroU32, root: &Path) -> Result<(), Failure> {
    planted_build(root).run(root)?;
    Command::built("bugs/debug/baton-sim", &format!("bugs --seeds {seeds}")).run(root)
}

fn planted_build(root: &Path) -> Command {
    // The whole workspace is selected, so that dependencies have the features that the tests need.
    Command::cargo("build --workspace --bin baton-sim")
        .env("RUSTC_WORKSPACE_WRAPPER", root.join("xtask/planted-rustc.sh").display().to_string())
        .env("CARGO_BUILD_BUILD_DIR", target().display().to_string())
        .env("CARGO_TARGET_DIR", target().join("bugs").display().to_string())
}

/// Runs each seed twice and compares.
pub fn determinism(seeds: NonZeroU32) -> Command {
    released(&format!("determinism --seeds {seeds}"))
}

/// Simulates fresh seeds for this many minutes.
pub fn soak(minutes: NonZeroU32) -> Command {
    released(&format!("soak --minutes {minutes}"))
}

/// Measures what the protocol asks of the store.
pub fn cost() -> Command {
    released("cost")
}

/// Walks every interleaving of a small cluster.
pub fn exhaustive() -> Command {
    released("exhaustive")
}

fn released(args: &str) -> Command {
    Command::cargo(&format!("run --release -p baton-sim -- {args}"))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::path::Path;

    use super::{cost, determinism, exhaustive, planted_build, replay, short, soak};

    fn count(n: u32) -> NonZeroU32 {
        NonZeroU32::new(n).expect("the tests count from one")
    }

    #[test]
    fn long_chores_run_in_release_mode_and_short_ones_build_nothing() {
        let run = "cargo run --release -p baton-sim --";
        assert_eq!(determinism(count(50)).to_string(), format!("{run} determinism --seeds 50"));
        assert_eq!(soak(count(7)).to_string(), format!("{run} soak --minutes 7"));
        assert_eq!(cost().to_string(), format!("{run} cost"));
        assert_eq!(exhaustive().to_string(), format!("{run} exhaustive"));
        assert_eq!(short().to_string(), "target/debug/baton-sim --seeds 1000");
        assert_eq!(replay().to_string(), "target/debug/baton-sim replay");
    }

    #[test]
    fn bugs_are_planted_in_a_program_of_their_own() {
        let build = planted_build(Path::new("/w")).to_string();
        assert!(build.starts_with("RUSTC_WORKSPACE_WRAPPER=\"/w/xtask/planted-rustc.sh\" "));
        assert!(build.contains("/bugs\" cargo build --workspace --bin baton-sim"), "{build}");
    }
}
