//! The new user: a folder, a terminal, and the guide, followed block by block.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use baton_testbed::wait::until;
use baton_testbed::{CURL, PROMTOOL, Port};
use serde_json::Value;
use tempfile::TempDir;

use super::fixture::{Fixture, On};
use super::page::{self, Block, shape};
use super::terminal::{Said, Terminal};

/// The page that is followed.
pub const GUIDE: &str = "docs/getting-started.md";

/// The ports that the documentation names, each of which becomes one that is free.
const PORTS: [&str; 7] = ["9090", "9091", "9092", "9093", "8081", "8082", "8083"];

pub struct Newcomer {
    /// Dropped first: its jobs use the rest.
    pub terminal: Terminal,
    pub fixture: Fixture,
    guide: Vec<Block>,
    /// How many blocks under each heading were done.
    done: BTreeMap<String, usize>,
    ports: Vec<Port>,
    folder: TempDir,
}

impl Newcomer {
    /// With the program installed.
    pub async fn arrive(on: On) -> Self {
        let newcomer = Self::arrive_without_program(on).await;
        symlink(env!("CARGO_BIN_EXE_baton"), newcomer.path("bin/baton")).expect("a new link");
        newcomer
    }

    pub async fn arrive_without_program(on: On) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a writable folder");
        for part in ["crates", "docs", "examples"] {
            symlink(page::root().join(part), folder.path().join(part)).expect("a new link");
        }
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).expect("a new folder");
        let built = Path::new(env!("CARGO_BIN_EXE_baton")).with_file_name("");
        let example = built.join("examples/axum_service");
        assert!(example.is_file(), "`cargo xtask newcomer` builds the examples first");
        let cargo = include_str!("cargo.sh").replace("$BUILT", &built.display().to_string());
        script(&bin.join("cargo"), &cargo);
        let tools = [CURL, PROMTOOL].map(|tool| tool.find().expect("it can be installed"));
        let folders = tools.map(|tool| tool.with_file_name("").display().to_string()).join(":");
        let path = format!("{}:{folders}:/usr/bin:/bin", bin.display());
        let fixture = Fixture::new(on, folder.path()).await;
        Self {
            terminal: Terminal::open(folder.path(), &path, &fixture.url()),
            fixture,
            guide: page::blocks(GUIDE),
            done: BTreeMap::new(),
            ports: PORTS.map(|_| Port::take().expect("there are thousands")).into(),
            folder,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// A program of the user's.
    pub fn script(&self, name: &str, text: &str) {
        script(&self.path(name), text);
    }

    /// Does the next block under this heading, whatever it is.
    pub async fn next(&mut self, heading: &str) {
        let done = self.done.entry(heading.to_owned()).or_default();
        let mut under = self.guide.iter().filter(|block| block.heading == heading);
        let block = under.nth(*done).unwrap_or_else(|| unreachable!("no more under {heading:?}"));
        *done += 1;
        let text = block.text.clone();
        match (block.language.as_str(), block.file()) {
            ("console", _) => self.follow(&Block { text, ..Block::named("console") }).await,
            ("sh" | "toml" | "yaml", Some(file)) => self.save(file, &text),
            ("sql", _) => self.fixture.execute(&text).await,
            // Part of an example, as `guide` asserts.
            ("rust", _) => {}
            (other, _) => unreachable!("no task runs {other:?} under {heading:?}:\n{text}"),
        }
    }

    /// Does all further blocks under this heading.
    pub async fn rest(&mut self, heading: &str) {
        let blocks = self.guide.iter().filter(|block| block.heading == heading).count();
        while self.done.get(heading).copied().unwrap_or(0) < blocks {
            self.next(heading).await;
        }
    }

    /// Saves a block, which is not executable yet.
    pub fn save(&self, file: &str, text: &str) {
        std::fs::write(self.path(file), self.here(text)).expect("the folder is writable");
    }

    /// Every block under these headings was done.
    #[track_caller]
    pub fn assert_did(&self, headings: &[&str]) {
        for heading in headings {
            let blocks = self.guide.iter().filter(|block| block.heading == *heading).count();
            assert_eq!(self.done.get(*heading), Some(&blocks), "blocks done under {heading:?}");
        }
    }

    /// Runs the commands of a console; each must do what the page says.
    pub async fn follow(&mut self, console: &Block) {
        for step in console.steps() {
            let said = self.run(&step.command).await;
            let examines =
                ["baton doctor", "baton health"].map(|name| step.command.starts_with(name));
            let may_warn = examines.contains(&true) && said.code == 6;
            let waits = step.command.starts_with("wait ");
            assert!(said.code == 0 || may_warn || waits, "{}: {said:?}", step.command);
            let shown: Vec<String> = step.shows.iter().map(|line| shape(line)).collect();
            let printed: Vec<String> = said.out.lines().map(shape).collect();
            assert!(shown.is_empty() || shown == printed, "{}: {said:?}", step.command);
        }
    }

    /// Runs a line of the documentation.
    pub async fn run(&mut self, line: &str) -> Said {
        let line = self.here(line);
        self.terminal.run(&line).await
    }

    /// Runs a line as a job whose output is in files of this name.
    pub async fn start(&mut self, line: &str, name: &str) {
        let line = self.here(line);
        self.terminal.start(&line, name).await;
    }

    /// The documentation's server and ports are replaced by those of this test.
    fn here(&self, text: &str) -> String {
        let shop = text.replace("postgres://app@db/shop", &self.fixture.shop());
        let mut text = shop.replace("postgres://app@db/app", &self.fixture.url());
        for (name, port) in PORTS.iter().zip(&self.ports) {
            text = text.replace(&format!("127.0.0.1:{name}"), &port.address().to_string());
        }
        text
    }

    /// What a reading command says as JSON.
    pub async fn json(&mut self, command: &str) -> Value {
        let said = self.run(&format!("{command} --json")).await;
        serde_json::from_str(&said.out).unwrap_or_else(|_| unreachable!("{command}: {said:?}"))
    }

    /// Waits until a node is registered: one that left and was started again, say.
    pub async fn here_again(&mut self, node: &str) {
        until(&format!("{node} to be back"), async || {
            let status = self.json("baton status").await;
            let mut members = status["members"].as_array()?.iter();
            members.find(|member| member["node"] == node && member["state"] != "silent").map(drop)
        })
        .await;
    }

    /// Waits until this many nodes are there and one of them leads; says which, in which epoch.
    pub async fn led(&mut self, nodes: usize, beyond: u64) -> (String, u64) {
        until(&format!("{nodes} nodes with a leader"), async || {
            let status = self.run("baton status --json").await;
            let status: Value = serde_json::from_str(&status.out).ok()?;
            let leader = status["coordinator"]["node"].as_str()?.to_owned();
            let epoch = status["epoch"].as_u64().filter(|epoch| *epoch > beyond)?;
            let live = status["members"].as_array()?.iter();
            let live = live.filter(|member| member["state"] != "silent").count();
            (live >= nodes).then_some((leader, epoch))
        })
        .await
    }
}

impl Block {
    fn named(language: &str) -> Self {
        Self { heading: String::new(), language: language.to_owned(), text: String::new() }
    }
}

fn script(path: &Path, text: &str) {
    std::fs::write(path, text).expect("the folder is writable");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, executable).expect("the file is ours");
}
