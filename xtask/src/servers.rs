//! Servers for the day: baton-servers, built and run.

use std::path::Path;

use crate::command::Command;
use crate::failure::Failure;

/// Builds the program, and runs it.
pub fn run(arguments: &[String], root: &Path) -> Result<(), Failure> {
    command(arguments).run(root)
}

/// The call of baton-servers.
pub fn command(arguments: &[String]) -> Command {
    Command::cargo("run --quiet -p baton-testbed --bin baton-servers --").args(arguments)
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn arguments_are_passed_on() {
        let ran = command(&["up".to_owned(), "--install-only".to_owned()]).to_string();
        let wanted = "cargo run --quiet -p baton-testbed --bin baton-servers -- up --install-only";
        assert_eq!(ran, wanted);
    }
}
