//! `docs/messages.md`: every help line, event sentence and error in one file, for review, and what
//! other texts the sources have.
//! `UPDATE_MESSAGES=1 cargo test -p baton-cli --test messages` writes it anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use baton::Event;
use baton_cli::cli::Cli;
use clap::{Arg, Command, CommandFactory as _};

/// One event per line, as JSON. Events with several sentences have a line for each.
const EVENTS: &str = include_str!("../../../baton-core/src/event/samples.jsonl");

const CRATES: [&str; 6] =
    ["baton", "baton-core", "baton-store", "baton-drivers", "baton-cli", "baton-sim"];

/// Sources whose other texts people see.
const OTHERS: [&str; 4] = ["baton", "baton-core/src/settings", "baton-drivers", "baton-cli"];

/// What stands before a literal that is no text of its own, or is listed already.
const NO_TEXT_AFTER: [&str; 5] = ["expect(", "unreachable!(", "#[error(", "reason =", "doc ="];

const INTRODUCTION: &str = "\
# Messages

What people read, for review: every help line, event sentence and error must be understood without
its neighbours. Generated from the sources by
`UPDATE_MESSAGES=1 cargo test -p baton-cli --test messages`; a test compares.

## Help

A line that several commands share is listed with the first of them.
";

const OTHER_TEXTS: &str = "
## Other texts

Parts of messages, findings of `doctor` with their remedies, lines of the log and output: every
literal of three words or more. Some follow the name of what they are about.
";

#[test]
fn the_list_of_messages_is_up_to_date() {
    let mut text = INTRODUCTION.to_owned();
    let mut command = Cli::command();
    command.build();
    help(&command, &mut BTreeSet::new(), &mut text);
    text.push_str("\n## Events\n\n```text\n");
    for line in EVENTS.lines() {
        let event: Event = serde_json::from_str(line).expect(line);
        writeln!(text, "{:<30} {event}", event.name()).expect("text has room");
    }
    text.push_str("```\n\n## Errors\n\n`{…}` stands for a value.\n");
    for name in CRATES {
        let messages = sources(&format!("{name}/src")).iter().flat_map(|it| errors(it)).collect();
        list(name, &messages, &mut text);
    }
    text.push_str(OTHER_TEXTS);
    for name in OTHERS {
        let folder = if name.contains('/') { name.to_owned() } else { format!("{name}/src") };
        let messages = sources(&folder).iter().flat_map(|it| others(it)).collect();
        list(name, &messages, &mut text);
    }
    let file = root().join("docs/messages.md");
    if std::env::var_os("UPDATE_MESSAGES").is_some() {
        std::fs::write(&file, &text).expect("the checkout can be written to");
    }
    let stored = std::fs::read_to_string(&file).unwrap_or_default();
    let differs = stored.lines().zip(text.lines()).find(|(old, new)| old != new);
    let advice = "run UPDATE_MESSAGES=1 cargo test -p baton-cli --test messages";
    assert!(stored == text, "docs/messages.md is out of date: {advice}\n{differs:#?}");
}

#[test]
fn every_event_and_every_reason_has_a_sample() {
    let sources = ["crates/baton-core/src/event/mod.rs", "crates/baton-core/src/health/reason.rs"];
    let [events, reasons] = sources
        .map(|path| std::fs::read_to_string(root().join(path)).expect("the sources are there"));
    // An event is declared in a line such as `"lease:lost": Election, Warn => LeaseLost {`.
    let declared = events.lines().filter(|line| line.contains(" => "));
    let declared = declared.filter_map(|line| line.trim_start().strip_prefix('"'));
    let reasons = reasons.lines().filter(|line| line.trim_start().starts_with("Self::"));
    let names = declared.chain(reasons.filter_map(|line| line.split("=> \"").nth(1)));
    let names: Vec<&str> = names.filter_map(|rest| rest.split('"').next()).collect();
    assert!(names.len() > 40, "{names:?}");
    for name in names {
        assert!(EVENTS.contains(&format!("\"{name}\"")), "{name} has no line in samples.jsonl");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A command, its own lines, and its subcommands.
fn help(command: &Command, known: &mut BTreeSet<String>, text: &mut String) {
    let about = command.get_long_about().or(command.get_about()).unwrap_or_default();
    let name = command.get_bin_name().unwrap_or(command.get_name());
    write!(text, "\n### {name}\n\n```text\n{about}\n").expect("room");
    let lines: Vec<String> = command.get_arguments().filter_map(argument).collect();
    let new: Vec<String> = lines.into_iter().filter(|line| known.insert(line.clone())).collect();
    if !new.is_empty() {
        writeln!(text, "\n{}", new.join("\n")).expect("room");
    }
    if let Some(after) = command.get_after_long_help().or(command.get_after_help()) {
        writeln!(text, "\n{after}").expect("room");
    }
    text.push_str("```\n");
    let is_own = |it: &&Command| it.get_name() != "help";
    command.get_subcommands().filter(is_own).for_each(|it| help(it, known, text));
}

fn argument(argument: &Arg) -> Option<String> {
    let help = argument.get_long_help().or(argument.get_help())?.to_string();
    let default: Vec<_> = argument.get_default_values().iter().map(|it| it.display()).collect();
    let is_shown = argument.get_action().takes_values() && !argument.is_hide_default_value_set();
    let default = match default.first() {
        Some(default) if is_shown => format!(" [default: {default}]"),
        _ => String::new(),
    };
    let is_ours = !matches!(argument.get_id().as_str(), "help" | "version");
    is_ours.then(|| format!("{argument}: {help}{default}"))
}

/// Appends a heading and the messages below it.
fn list(name: &str, messages: &BTreeSet<String>, text: &mut String) {
    let lines: Vec<&str> = messages.iter().map(String::as_str).collect();
    write!(text, "\n### {name}\n\n```text\n{}\n```\n", lines.join("\n")).expect("room");
}

/// The source files in a folder of a crate, without their tests.
fn sources(folder: &str) -> Vec<String> {
    let mut open = vec![root().join("crates").join(folder)];
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        } else if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a folder of sources");
            open.extend(entries.map(|entry| entry.expect("a folder of sources").path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = std::fs::read_to_string(&path).expect("a source file");
            let end = source.find("#[cfg(test)]").unwrap_or(source.len());
            found.push(source[..end].to_owned());
        }
    }
    found
}

/// The texts of all `#[error("…")]` attributes.
fn errors(source: &str) -> impl Iterator<Item = String> {
    let attributes = source.split("#[error(").skip(1);
    let texts = attributes.filter_map(|rest| rest.trim_start().strip_prefix('"'));
    texts.map(|rest| literal(rest).0).filter(|text| text.contains(' '))
}

/// The other literals that are texts. Raw literals are not understood, and none is a text.
fn others(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut before = "";
    let mut rest = source;
    while let Some(at) = rest.find(['"', '\'', '/']) {
        let code = &rest[..at];
        if !code.trim().is_empty() {
            before = code.trim_end();
        }
        let after = &rest[at + 1..];
        rest = match &rest[at..=at] {
            "/" if after.starts_with('/') => after.find('\n').map_or("", |end| &after[end..]),
            "'" if after.starts_with('\\') => after[2..].split_once('\'').map_or("", |it| it.1),
            "'" if after.chars().nth(1) == Some('\'') => {
                after.split_once('\'').map_or("", |it| it.1)
            }
            "\"" => {
                let (text, rest) = literal(after);
                let text = text.trim().to_owned();
                if is_text(&text) && !NO_TEXT_AFTER.iter().any(|end| before.ends_with(end)) {
                    found.push(text);
                }
                rest
            }
            _ => after,
        };
    }
    found
}

/// Is this meant for people, and is it more than a fragment? SQL is told by its capitals and signs.
fn is_text(text: &str) -> bool {
    let is_word = |word: &&str| !word.contains(['{', '}']) && word.contains(char::is_alphabetic);
    let is_sql = text.starts_with('(')
        || text.chars().nth(1).is_some_and(|letter| letter.is_ascii_uppercase())
        || [" = ", "::", " IN (", " AND "].iter().any(|sign| text.contains(sign));
    text.split_whitespace().filter(is_word).count() >= 3 && !is_sql && !text.contains('\n')
}

/// A string literal up to its closing quotation mark, on one line, and what follows it.
fn literal(source: &str) -> (String, &str) {
    let mut text = String::new();
    let mut letters = source.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => match letters.next() {
                Some('\n') => letters = letters.as_str().trim_start().chars(),
                Some('n') => text.push('\n'),
                escaped => text.extend(escaped),
            },
            _ => text.push(letter),
        }
    }
    (text, letters.as_str())
}
