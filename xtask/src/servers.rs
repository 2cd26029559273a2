//! Servers for the day: baton-servers, built and run.

use std::path::Path;

use crate::command::Command;
use crate::failure::Failure;

/// Builds the program, and runs it.
pub fn run(arguments: &[String], root: &Path) -> Result<(), Failure> {
    servers(arguments).run(root)
}

fn servers(arguments: &[String]) -> Command {
    Command::cargo("run --quiet -p baton-testbed --bin baton-servers --").args(arguments)
}

#[cfg(test)]
mod tests {
    use super::servers;

    #[test]
    fn arguments_are_passed_on() {
        let ran = servers(&["up".to_owned(), "--install-only".to_owned()]).to_string();
        let wanted = "cargo run --quiet -p baton-testbed --bin baton-servers -- up --install-only";
        assert_eq!(ran, wanted);
    }
}
