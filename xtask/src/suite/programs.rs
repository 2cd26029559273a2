//! The test programs of the workspace, as cargo lists them when it has built them.

use std::path::{Path, PathBuf};
use std::process;

use serde_json::Value;

use crate::command::{self, Command};
use crate::failure::Failure;

/// Programs that take longest, the longest first; they start before the others, so that none of
/// them is left to run alone at the end. Only the order depends on this list.
const SLOWEST: [&str; 8] = [
    "baton-drivers test s3",
    "baton-cli test counters",
    "baton-drivers test mysql",
    "baton-drivers test postgres",
    "baton-drivers test etcd",
    "baton test node",
    "baton-drivers test redis",
    "baton-cli test cli",
];

/// A test program, or the tests of the documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name, for people: `baton-drivers test redis`.
    pub name: String,
    /// The flag by which cargo selects it.
    pub flag: String,
    /// The folder of the package, in which cargo runs it.
    folder: PathBuf,
    /// The built program; none for the documentation, which cargo runs.
    executable: Option<PathBuf>,
}

impl Program {
    /// The tests in the documentation of every crate, which rustdoc builds and runs.
    pub fn documentation(root: &Path) -> Self {
        let (name, flag) = ("documentation".to_owned(), "--doc".to_owned());
        Self { name, flag, folder: root.to_path_buf(), executable: None }
    }

    /// Runs it as `cargo test` would.
    pub fn command(&self) -> process::Command {
        let Some(executable) = &self.executable else {
            return Command::cargo("test --workspace --doc").prepare(&self.folder);
        };
        let mut command = command::clean(executable);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }

    fn rank(&self) -> usize {
        SLOWEST.iter().position(|slow| *slow == self.name).unwrap_or(SLOWEST.len())
    }
}

/// Builds all test programs, and lists them with the documentation, the slowest first.
pub fn build(root: &Path) -> Result<Vec<Program>, Failure> {
    let build = "test --workspace --no-run --quiet --message-format=json-render-diagnostics";
    let messages = Command::cargo(build).output(root)?;
    let mut programs: Vec<Program> = messages.lines().filter_map(program).collect();
    programs.push(Program::documentation(root));
    programs.sort_by_key(Program::rank);
    Ok(programs)
}

/// The test program that a message of cargo is about.
fn program(message: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(message).ok()?;
    let is_test = message["profile"]["test"].as_bool()? && message["reason"] == "compiler-artifact";
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    let package = folder.file_name()?.to_str()?;
    let (kind, target) = (&message["target"]["kind"][0], &message["target"]["name"]);
    let (name, flag) = match (kind.as_str()?, target.as_str()?) {
        ("lib", _) => (format!("{package} lib"), "--lib".to_owned()),
        (kind, target) => (format!("{package} {kind} {target}"), format!("--{kind} {target}")),
    };
    let executable = Some(message["executable"].as_str()?.into());
    is_test.then(|| Program { name, flag, folder: folder.to_path_buf(), executable })
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn a_test_program_is_found_in_the_messages_of_cargo() {
        let message = r#"{"reason":"compiler-artifact","manifest_path":"/w/crates/baton/Cargo.toml",
            "target":{"kind":["test"],"name":"node"},"profile":{"test":true},
            "executable":"/w/target/debug/deps/node-1"}"#;
        let found = program(&message.replace('\n', "")).expect("it is one");
        assert_eq!((found.name.as_str(), found.flag.as_str()), ("baton test node", "--test node"));
        let command = found.command();
        assert_eq!(command.get_program(), "/w/target/debug/deps/node-1");
        assert_eq!(command.get_current_dir(), Some("/w/crates/baton".as_ref()));
        let unit = message.replace(r#"["test"]"#, r#"["lib"]"#).replace('\n', "");
        let found = program(&unit).expect("it is one");
        assert_eq!((found.name.as_str(), found.flag.as_str()), ("baton lib", "--lib"));
    }

    #[test]
    fn what_is_no_test_program_is_left_out() {
        let example = r#"{"reason":"compiler-artifact","manifest_path":"/w/Cargo.toml","target":
            {"kind":["example"],"name":"x"},"profile":{"test":false},"executable":"/w/x"}"#;
        assert_eq!(program(&example.replace('\n', "")), None);
        assert_eq!(program(r#"{"reason":"build-finished","success":true}"#), None);
        assert_eq!(program("noise"), None);
    }
}
