//! Chaos on real processes and servers: a bench by a name of its own.

use std::path::Path;

use crate::bench;
use crate::command::Command;
use crate::failure::Failure;

/// Builds both programs in release mode, and lets it rage.
pub fn run(arguments: &[String], root: &Path) -> Result<(), Failure> {
    bench::run(&bench_arguments(arguments), root)
}

fn bench_arguments(arguments: &[String]) -> Vec<String> {
    std::iter::once("chaos".to_owned()).chain(arguments.iter().cloned()).collect()
}

/// A short one: a file and a server. Both programs are those that the tests have built: asked for
/// alone, with fewer features, they would be built again.
pub fn short() -> Command {
    let short = "chaos --store sqlite,redis --seconds 15 --failovers 3";
    Command::built("debug/baton-bench", short)
}

#[cfg(test)]
mod tests {
    use super::bench_arguments;

    #[test]
    fn it_is_a_bench_with_its_own_arguments() {
        let given = ["--store".to_owned(), "redis".to_owned()];
        assert_eq!(bench_arguments(&given), ["chaos", "--store", "redis"]);
    }
}
