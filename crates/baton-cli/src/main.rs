//! The baton command.

use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == "guard") {
        return baton_cli::guard::run();
    }
    ExitCode::SUCCESS
}
