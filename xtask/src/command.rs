//! Runs a child process: says what it runs, and how long that took.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// A program with its arguments and environment; displayed as a line to paste into a shell.
#[derive(Clone, Debug)]
pub struct Command {
    program: &'static str,
    /// Does it lie in the target folder?
    is_built: bool,
    args: Vec<String>,
    env: Vec<(&'static str, String)>,
}

impl Command {
    /// A call of `cargo`, with its arguments separated by spaces.
    pub fn cargo(args: &str) -> Self {
        Self::new("cargo", args)
    }

    /// A call of a program that was built, named by its path in the target folder.
    pub fn built(program: &'static str, args: &str) -> Self {
        Self { is_built: true, ..Self::new(program, args) }
    }

    /// A call of another program.
    pub fn new(program: &'static str, args: &str) -> Self {
        Self {
            program,
            is_built: false,
            args: args.split_whitespace().map(str::to_owned).collect(),
            env: Vec::new(),
        }
    }

    /// The same, with more arguments, each taken as it is.
    pub fn args(mut self, more: &[String]) -> Self {
        self.args.extend_from_slice(more);
        self
    }

    /// The same, with an environment variable set.
    pub fn env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.env.push((name, value.into()));
        self
    }

    /// Runs it in `root` with our own input and output, and waits for its end.
    pub fn run(&self, root: &Path) -> Result<(), Failure> {
        eprintln!("$ {self}");
        let (status, took) = timed(|| self.prepare(root).status());
        let status = status.map_err(|source| self.not_started(source))?;
        eprintln!("  took {}", seconds(took));
        self.judge(status)
    }

    /// Runs it in `root` and returns what it wrote to stdout.
    pub fn output(&self, root: &Path) -> Result<String, Failure> {
        let output = self
            .prepare(root)
            .stderr(process::Stdio::inherit())
            .output()
            .map_err(|source| self.not_started(source))?;
        self.judge(output.status)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Ready to be run in `root`.
    pub fn prepare(&self, root: &Path) -> process::Command {
        let mut command = clean(self.found());
        command
            .args(&self.args)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(root);
        command
    }

    fn found(&self) -> OsString {
        if self.is_built {
            return target().join(self.program).into_os_string();
        }
        // Under `cargo xtask` the variable names the very cargo that runs us.
        let cargo = std::env::var_os("CARGO").filter(|_| self.program == "cargo");
        cargo.unwrap_or_else(|| self.program.into())
    }

    fn judge(&self, status: process::ExitStatus) -> Result<(), Failure> {
        if status.success() {
            return Ok(());
        }
        Err(Failure::Exited { command: self.to_string(), code: status.code() })
    }

    fn not_started(&self, source: std::io::Error) -> Failure {
        Failure::NotStarted { command: self.to_string(), source }
    }
}

/// The target folder: the one that this program was built in.
pub fn target() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let profile = program.ancestors().find(|folder| folder.ends_with("debug"));
    profile.and_then(Path::parent).map_or_else(|| PathBuf::from("target"), Path::to_path_buf)
}

/// A program without the variables in which cargo describes this package. A build script would take
/// them for a change, and everything that depends on it would be built again.
pub fn clean(program: impl AsRef<OsStr>) -> process::Command {
    let mut command = process::Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_about_us(name)) {
        command.env_remove(name);
    }
    command
}

/// Does the variable describe the package that cargo runs, instead of the machine or the caller's
/// wishes?
fn is_about_us(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix))
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.env {
            write!(f, "{name}=\"{value}\" ")?;
        }
        let folder = if self.is_built { "target/" } else { "" };
        write!(f, "{folder}{}", self.program)?;
        self.args.iter().try_for_each(|arg| write!(f, " {arg}"))
    }
}

/// Runs the commands in `root`, up to the first that fails.
pub fn run_all(commands: &[Command], root: &Path) -> Result<(), Failure> {
    commands.iter().try_for_each(|command| command.run(root))
}

/// Does the work and says how long it took.
#[expect(
    clippy::disallowed_methods,
    reason = "a chore's duration is shown to a person and decides nothing"
)]
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed())
}

/// A duration for people: `12.3 s`.
pub fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::{Command, seconds};
    use crate::failure::Failure;
    use std::path::Path;
    use std::time::Duration;

    #[test]
    fn is_displayed_as_a_line_for_the_shell() {
        let command = Command::cargo("doc --no-deps").env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(command.to_string(), "RUSTDOCFLAGS=\"-D warnings\" cargo doc --no-deps");
    }

    #[test]
    fn what_cargo_says_of_this_program_is_not_handed_on() {
        let told = |name: &str| super::is_about_us(name.as_ref());
        assert!(told("CARGO_PKG_NAME") && told("CARGO_MANIFEST_DIR"));
        assert!(!told("CARGO_TARGET_DIR") && !told("CARGO_HOME") && !told("PATH"));
    }

    #[test]
    fn a_program_that_was_built_lies_in_the_target_folder_of_this_one() {
        let bench = Command::built("debug/baton-bench", "chaos");
        let here = std::env::current_exe().expect("a test has a path");
        let built = Path::new(&bench.found()).with_file_name("");
        assert!(here.starts_with(&built), "{} is not above {}", built.display(), here.display());
        assert_eq!(bench.to_string(), "target/debug/baton-bench chaos");
    }

    #[test]
    fn output_is_captured() {
        let version = Command::cargo("--version").output(Path::new("."));
        assert!(version.is_ok_and(|text| text.starts_with("cargo ")));
    }

    #[test]
    fn a_child_that_fails_is_an_error_with_its_code() {
        let failure = Command::cargo("--no-such-flag").output(Path::new("."));
        assert!(matches!(
            failure,
            Err(Failure::Exited { code: Some(code), .. }) if code != 0
        ));
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let missing = Command::new("no-such-program", "");
        let failure = missing.output(Path::new("."));
        assert!(matches!(failure, Err(Failure::NotStarted { .. })));
    }

    #[test]
    fn durations_are_in_seconds() {
        assert_eq!(seconds(Duration::from_millis(1250)), "1.2 s");
    }
}
