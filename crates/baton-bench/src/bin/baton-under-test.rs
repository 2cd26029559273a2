//! The baton command again: cargo tells a crate's tests only where that crate's own programs are.

use std::process::ExitCode;

fn main() -> ExitCode {
    baton_cli::entry::main()
}
