//! Chores that are calls of cargo, or of programs that it builds.
//!
//! `cargo xtask test` runs the programs that were built for the tests, so that nothing is compiled
//! again; the longer chores are commands of their own and run in release mode.

use std::num::NonZeroU32;
use std::path::Path;

use crate::command::{Command, target};
use crate::failure::Failure;

/// The simulator as it was built for the tests.
pub fn built_simulator(args: &str) -> Command {
    Command::built("debug/baton-sim", args)
}

/// The simulator in release mode.
pub fn simulator(args: &str) -> Command {
    Command::cargo(&format!("run --release -p baton-sim -- {args}"))
}

/// Plants every bug in turn, in a program built for that.
///
/// The flag reaches the crates of the workspace alone, through a wrapper of the compiler. Cargo
/// keeps what was compiled with a wrapper apart from what was not, so everything else is shared
/// with the tests. The program lies in a target folder of its own, where nothing else looks for
/// one. The whole workspace is selected, so that dependencies have the features that the tests
/// need.
pub fn bugs(seeds: NonZeroU32, root: &Path) -> [Command; 2] {
    let build = Command::cargo("build --workspace --bin baton-sim")
        .env("RUSTC_WORKSPACE_WRAPPER", root.join("xtask/planted-rustc.sh").display().to_string())
        .env("CARGO_BUILD_BUILD_DIR", target().display().to_string())
        .env("CARGO_TARGET_DIR", target().join("bugs").display().to_string());
    [build, Command::built("bugs/debug/baton-sim", &format!("bugs --seeds {seeds}"))]
}

/// The benches: baton-bench measures the baton program that is built beside it. Both are built in
/// one call, with the features of what `cargo build --release` builds.
pub fn bench(arguments: &[String]) -> [Command; 2] {
    let programs = "build --release -p baton-cli --bin baton -p baton-bench --bin baton-bench";
    [Command::cargo(programs), Command::built("release/baton-bench", "").args(arguments)]
}

/// A short chaos: a file and a server. Both programs are those that the tests have built: asked for
/// alone, with fewer features, they would be built again.
pub fn short_chaos() -> Command {
    let short = "chaos --store sqlite,redis --seconds 15 --failovers 3";
    Command::built("debug/baton-bench", short)
}

/// A short soak of partitions on a file and on a server, by the same program.
pub fn short_soak() -> Command {
    let short = "soak --store sqlite,redis --nodes 5 --lists 3 --seconds 10";
    Command::built("debug/baton-bench", short)
}

/// Servers for the day.
pub fn servers(arguments: &[String]) -> Command {
    Command::cargo("run --quiet -p baton-testbed --bin baton-servers --").args(arguments)
}

/// A new user's tasks, done by the documentation's own blocks: a test of baton-cli that runs
/// examples of baton. Both packages each time, so that one set of features serves both builds.
pub fn newcomer() -> [Command; 2] {
    [
        Command::cargo("build -p baton -p baton-cli --examples"),
        Command::cargo("test -p baton -p baton-cli --test newcomer"),
    ]
}

/// Clippy over the drivers with no feature and with each alone, and over the library with no
/// feature and with each of its own; its other features are the drivers'.
///
/// `--workspace` would not do: the command line program enables all of them.
pub fn features() -> Vec<Command> {
    let drivers = ["", "sqlite", "postgres", "mysql", "redis", "s3", "etcd"];
    let drivers = drivers.map(|only| ("baton-drivers", only));
    let library = ["", "http", "otel"].map(|only| ("baton", only));
    let clippy = |(package, only): (&str, &str)| {
        let package = format!("clippy --quiet -p {package} --no-default-features");
        let features = if only.is_empty() { String::new() } else { format!(" --features {only}") };
        Command::cargo(&format!("{package}{features} -- -D warnings"))
    };
    drivers.into_iter().chain(library).map(clippy).collect()
}

/// Compiles everything that a user of macOS runs, if Rust's library for it is installed;
/// otherwise says what would install it.
pub fn macos(root: &Path) -> Result<(), Failure> {
    let library = Command::new("rustc", "--print target-libdir --target aarch64-apple-darwin");
    if !Path::new(library.output(root)?.trim()).is_dir() {
        eprintln!("  skipped: `rustup target add aarch64-apple-darwin` installs what this needs");
        return Ok(());
    }
    macos_command().run(root)
}

/// The command of [`macos`]. No C compiler for that system is needed, since nothing is linked:
/// build scripts that compile C are handed a program that does nothing.
pub fn macos_command() -> Command {
    let packages = "-p baton -p baton-drivers -p baton-cli --features baton-drivers/all";
    Command::cargo(&format!("check --quiet --target aarch64-apple-darwin {packages}"))
        .env("CARGO_TARGET_AARCH64_APPLE_DARWIN_RUSTFLAGS", "-D warnings")
        .env("CC_aarch64_apple_darwin", "true")
        .env("AR_aarch64_apple_darwin", "true")
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::path::Path;

    use super::{bench, bugs, features, macos_command};

    #[test]
    fn arguments_are_passed_on_as_they_are() {
        let arguments = ["idle".to_owned(), "--json".to_owned(), "a b.json".to_owned()];
        let [_, ran] = bench(&arguments).map(|command| command.to_string());
        assert_eq!(ran, "target/release/baton-bench idle --json a b.json");
    }

    #[test]
    fn bugs_are_planted_in_a_program_of_their_own() {
        let seeds = NonZeroU32::new(7).expect("above zero");
        let [build, run] = bugs(seeds, Path::new("/w")).map(|command| command.to_string());
        assert!(build.starts_with("RUSTC_WORKSPACE_WRAPPER=\"/w/xtask/planted-rustc.sh\" "));
        assert!(build.contains("/bugs\" cargo build --workspace --bin baton-sim"), "{build}");
        assert_eq!(run, "target/bugs/debug/baton-sim bugs --seeds 7");
    }

    #[test]
    fn each_feature_is_checked_alone() {
        let commands: Vec<String> = features().iter().map(ToString::to_string).collect();
        assert_eq!(commands.len(), 10);
        let none = "cargo clippy --quiet -p baton-drivers --no-default-features -- -D warnings";
        assert_eq!(commands[0], none);
        let otel = "cargo clippy --quiet -p baton --no-default-features --features otel";
        assert!(commands[9].starts_with(otel), "{}", commands[9]);
    }

    #[test]
    fn c_is_not_compiled_for_another_system() {
        let command = macos_command().to_string();
        assert!(command.contains("CC_aarch64_apple_darwin=\"true\""), "{command}");
    }
}
