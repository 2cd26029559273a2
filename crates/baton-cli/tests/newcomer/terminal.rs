//! A terminal: one bash in which a user's lines are run, jobs, variables and all.

use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use baton_testbed::wait::until;
use rustix::process::Pid;

/// What a line came to.
pub struct Said {
    pub code: i32,
    pub out: String,
    err: String,
}

impl fmt::Debug for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "code {}\n{}{}", self.code, self.out, self.err)
    }
}

/// A bash with a folder of its own. Its jobs are killed when it is dropped, or this process ends.
pub struct Terminal {
    bash: Child,
    lines: Option<ChildStdin>,
    folder: PathBuf,
    count: usize,
}

impl Terminal {
    /// Starts it in a folder, which is its home too.
    pub fn open(folder: &Path, path: &str, store: &str) -> Self {
        let log = std::fs::File::create(folder.join(".bash")).expect("the folder is writable");
        let mut bash = Command::new("bash")
            .args(["--noprofile", "--norc", "-s"])
            .env_clear()
            .env("PATH", path)
            .env("HOME", folder)
            .env("BATON_STORE", store)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("bash is there");
        let lines = bash.stdin.take();
        let mut terminal = Self { bash, lines, folder: folder.to_owned(), count: 0 };
        // Jobs have numbers and groups, and end with the shell, which ends with this process.
        terminal.type_in("set -m; trap 'for j in $(jobs -p); do kill -9 -- -$j; done' EXIT\n");
        terminal
    }

    fn type_in(&mut self, text: &str) {
        let lines = self.lines.as_mut().expect("it is open until it is dropped");
        lines.write_all(text.as_bytes()).expect("bash reads on");
    }

    /// Runs a line to its end. What a job prints that it starts comes into the same two files.
    pub async fn run(&mut self, line: &str) -> Said {
        self.count += 1;
        let [out, err, code, made] =
            ["out", "err", "code", "made"].map(|kind| format!(".{}.{kind}", self.count));
        self.type_in(&format!(
            "{{ {line}\n}} >~/{out} 2>~/{err} </dev/null; echo $? >~/{made}; mv ~/{made} ~/{code}\n"
        ));
        let read = |name: &str| std::fs::read_to_string(self.folder.join(name)).ok();
        let code = until(line, async || read(&code)).await;
        let text = |name| read(name).expect("bash made it before");
        Said { code: code.trim().parse().expect("a number"), out: text(&out), err: text(&err) }
    }

    /// Runs a program as a job, which the line does not say. Its output is in files of this name.
    pub async fn start(&mut self, line: &str, name: &str) {
        let said = self.run(&format!("{{ exec {line}\n}} >~/{name}.out 2>~/{name}.err &")).await;
        assert_eq!(said.code, 0, "{said:?}");
    }

    /// What all lines and their jobs have printed to stdout so far.
    pub fn all_printed(&self) -> String {
        let files = (1..=self.count).map(|line| self.folder.join(format!(".{line}.out")));
        files.map(|path| std::fs::read_to_string(path).unwrap_or_default()).collect()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A guard that loses its baton starts nothing new, but stops what there is for a moment.
        while let Some(pid) = self.bash_and_its_jobs().first() {
            let _ = rustix::process::kill_process(*pid, rustix::process::Signal::KILL);
            let _ = self.bash.try_wait();
        }
        let _ = self.bash.wait();
    }
}

impl Terminal {
    /// Everything that still runs with this home.
    fn bash_and_its_jobs(&self) -> Vec<Pid> {
        let home = format!("HOME={}\0", self.folder.display());
        let entries = std::fs::read_dir("/proc").expect("/proc is there").filter_map(Result::ok);
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let is_of_this_home = |pid: &i32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.windows(home.len()).any(|part| part == home.as_bytes())
        };
        numbers.filter(is_of_this_home).filter_map(Pid::from_raw).collect()
    }
}
