//! The benches: baton-bench measures the baton program that is built beside it.

use std::path::Path;

use crate::command::Command;
use crate::failure::Failure;

/// Builds both programs in release mode, and runs the bench.
pub fn run(arguments: &[String], root: &Path) -> Result<(), Failure> {
    programs().run(root)?;
    bench(arguments).run(root)
}

/// Both in one call, with the features of what `cargo build --release` builds.
fn programs() -> Command {
    Command::cargo("build --release -p baton-cli --bin baton -p baton-bench --bin baton-bench")
}

fn bench(arguments: &[String]) -> Command {
    Command::built("release/baton-bench", "").args(arguments)
}

#[cfg(test)]
mod tests {
    use super::{bench, programs};

    #[test]
    fn both_programs_are_built_and_arguments_passed_on() {
        let built =
            "cargo build --release -p baton-cli --bin baton -p baton-bench --bin baton-bench";
        assert_eq!(programs().to_string(), built);
        let arguments = ["idle".to_owned(), "--json".to_owned(), "a b.json".to_owned()];
        let ran = bench(&arguments).to_string();
        assert_eq!(ran, "target/release/baton-bench idle --json a b.json");
    }
}
