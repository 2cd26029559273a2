//! The baton command.

use std::process::ExitCode;

fn main() -> ExitCode {
    baton_cli::entry::main()
}
