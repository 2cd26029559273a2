//! A page of the documentation as blocks of code.

use std::path::{Path, PathBuf};

/// A block of code.
pub struct Block {
    /// The heading that it stands under.
    pub heading: String,
    pub language: String,
    pub text: String,
}

/// One command of a block, and the lines that it is said to print.
pub struct Step {
    pub command: String,
    pub shows: Vec<String>,
}

/// The folder of the whole project.
pub fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the crate is part of a checkout")
}

/// A file of the checkout.
pub fn text(path: &str) -> String {
    let read = std::fs::read_to_string(root().join(path));
    read.unwrap_or_else(|error| unreachable!("{path}: {error}"))
}

/// The blocks of a page, in order.
pub fn blocks(path: &str) -> Vec<Block> {
    let (text, mut heading, mut found) = (text(path), String::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with('#') {
            line.trim_start_matches('#').trim().clone_into(&mut heading);
        } else if let Some(language) = line.strip_prefix("```") {
            let inside = lines.by_ref().take_while(|line| *line != "```");
            let text = inside.map(|line| format!("{line}\n")).collect();
            found.push(Block { heading: heading.clone(), language: language.to_owned(), text });
        }
    }
    found
}

/// The blocks of one language under a heading.
pub fn under(path: &str, heading: &str, language: &str) -> Vec<Block> {
    let mut found = blocks(path);
    found.retain(|block| block.heading == heading && block.language == language);
    assert!(!found.is_empty(), "{path} has no {language} under {heading:?}");
    found
}

impl Block {
    /// The commands of a console.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for line in self.text.lines() {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => {
                    steps.push(Step { command: command.to_owned(), shows: Vec::new() });
                }
                (None, Some(step)) => step.shows.push(line.to_owned()),
                (None, None) => unreachable!("a console begins with a command: {}", self.text),
            }
        }
        steps
    }

    /// The file that the block is to be saved as: its first remark begins with the name.
    pub fn file(&self) -> Option<&str> {
        let remark = self.text.lines().find_map(|line| line.strip_prefix("# "))?;
        remark.split_once(':').map(|(name, _)| name)
    }
}

/// A line with every number and span of time replaced: what must be the same in every run.
pub fn shape(line: &str) -> String {
    let mut shape = String::new();
    for character in line.chars() {
        let is_number = character.is_ascii_digit();
        if !is_number || !shape.ends_with('#') {
            shape.push(if is_number { '#' } else { character });
        }
    }
    for unit in ["#ms", "#s", "#us"] {
        shape = shape.replace(unit, "#time");
    }
    shape
}

#[test]
fn a_page_is_taken_apart_by_headings_languages_and_commands() {
    let guide = blocks("docs/getting-started.md");
    let first = guide.first().expect("it has blocks");
    assert_eq!((first.heading.as_str(), first.language.as_str()), ("Install", "console"));
    assert_eq!(first.steps()[0].command, "cargo install --path crates/baton-cli --locked");
    let script = guide.iter().find(|block| block.language == "sh").expect("it has a script");
    assert_eq!(script.file(), Some("consumer"));
    let shown = guide.iter().flat_map(Block::steps_of_console).find(|step| !step.shows.is_empty());
    assert_eq!(shown.map(|step| step.command).as_deref(), Some("baton resign"));
    assert_eq!(shape("web-12 took 9ms, 2 left"), "web-# took #time, # left");
}

impl Block {
    fn steps_of_console(&self) -> Vec<Step> {
        if self.language == "console" { self.steps() } else { Vec::new() }
    }
}
