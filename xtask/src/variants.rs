//! Builds that the other steps do not make: each feature alone, and another operating system.

use std::path::Path;

use crate::command::Command;
use crate::failure::Failure;

/// The stores that a user can choose from, each a feature.
const STORES: [&str; 6] = ["sqlite", "postgres", "mysql", "redis", "s3", "etcd"];

/// What a user can add to the library.
const EXTRAS: [&str; 2] = ["http", "otel"];

/// The system that is checked besides Linux.
const MACOS: &str = "aarch64-apple-darwin";

/// Clippy over the drivers with no feature and with each alone, and over the library with no
/// feature and with each of its own; its other features are the drivers'.
///
/// `--workspace` would not do: the command line program enables all of them.
pub fn features() -> Vec<Command> {
    let drivers = std::iter::once("").chain(STORES).map(|only| ("baton-drivers", only));
    let library = std::iter::once("").chain(EXTRAS).map(|only| ("baton", only));
    let clippy = |(package, only): (&str, &str)| {
        let package = format!("clippy --quiet -p {package} --no-default-features");
        let features = if only.is_empty() { String::new() } else { format!(" --features {only}") };
        Command::cargo(&format!("{package}{features} -- -D warnings"))
    };
    drivers.chain(library).map(clippy).collect()
}

/// Compiles everything that a user of macOS runs, if Rust's library for it is installed;
/// otherwise says what would install it.
///
/// No C compiler for that system is needed, since nothing is linked: build scripts that compile C
/// are handed a program that does nothing.
pub fn macos(root: &Path) -> Result<(), Failure> {
    let library =
        Command::rustc(&format!("--print target-libdir --target {MACOS}")).output(root)?;
    if !Path::new(library.trim()).is_dir() {
        eprintln!("  skipped: `rustup target add {MACOS}` installs what this step needs");
        return Ok(());
    }
    macos_command().run(root)
}

/// The command of [`macos`].
pub fn macos_command() -> Command {
    let packages = "-p baton -p baton-drivers -p baton-cli --features baton-drivers/all";
    Command::cargo(&format!("check --quiet --target {MACOS} {packages}"))
        .env("CARGO_TARGET_AARCH64_APPLE_DARWIN_RUSTFLAGS", "-D warnings")
        .env("CC_aarch64_apple_darwin", "true")
        .env("AR_aarch64_apple_darwin", "true")
}

#[cfg(test)]
mod tests {
    use super::{features, macos_command};

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
