//! The chores that baton-sim carries out, always in release mode.

use std::num::NonZeroU32;

use crate::command::Command;

/// The short simulation of `cargo xtask test`.
pub fn short() -> Command {
    baton_sim("--seeds 1000")
}

/// Replays the kept failing seeds.
pub fn replay() -> Command {
    baton_sim("replay")
}

/// Plants every bug in turn. The target folder is its own, because `RUSTFLAGS` would otherwise
/// make cargo rebuild everything now and again at the next ordinary build.
pub fn bugs(seeds: NonZeroU32) -> Command {
    baton_sim(&format!("bugs --seeds {seeds}"))
        .env("RUSTFLAGS", "--cfg baton_bugs")
        .env("CARGO_TARGET_DIR", "target/bugs")
}

/// Runs each seed twice and compares.
pub fn determinism(seeds: NonZeroU32) -> Command {
    baton_sim(&format!("determinism --seeds {seeds}"))
}

/// Simulates fresh seeds for so many minutes.
pub fn soak(minutes: NonZeroU32) -> Command {
    baton_sim(&format!("soak --minutes {minutes}"))
}

/// Measures what the protocol asks of the store.
pub fn cost() -> Command {
    baton_sim("cost")
}

/// Walks every interleaving of a small cluster.
pub fn exhaustive() -> Command {
    baton_sim("exhaustive")
}

fn baton_sim(args: &str) -> Command {
    Command::cargo(&format!("run --release -p baton-sim -- {args}"))
}

#[cfg(test)]
mod tests {
    use super::{bugs, cost, determinism, exhaustive, replay, short, soak};
    use std::num::NonZeroU32;

    const RUN: &str = "cargo run --release -p baton-sim --";

    fn count(n: u32) -> NonZeroU32 {
        NonZeroU32::new(n).expect("the tests count from one")
    }

    #[test]
    fn each_chore_runs_the_simulator_in_release_mode() {
        assert_eq!(short().to_string(), format!("{RUN} --seeds 1000"));
        assert_eq!(replay().to_string(), format!("{RUN} replay"));
        let twice = determinism(count(50)).to_string();
        assert_eq!(twice, format!("{RUN} determinism --seeds 50"));
        assert_eq!(soak(count(7)).to_string(), format!("{RUN} soak --minutes 7"));
        assert_eq!(cost().to_string(), format!("{RUN} cost"));
        assert_eq!(exhaustive().to_string(), format!("{RUN} exhaustive"));
    }

    #[test]
    fn bugs_are_planted_by_flags_in_a_target_folder_of_their_own() {
        let flags = r#"RUSTFLAGS="--cfg baton_bugs" CARGO_TARGET_DIR="target/bugs""#;
        let expected = format!("{flags} {RUN} bugs --seeds 9");
        assert_eq!(bugs(count(9)).to_string(), expected);
    }
}
