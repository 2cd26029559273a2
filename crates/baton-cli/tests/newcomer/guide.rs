//! What can be said of the guide without running it: no block is left out, and what it shows of
//! programs and manifests is so.

use std::collections::BTreeSet;
use std::process::Command;

use super::newcomer::GUIDE;
use super::page::{self, Block, blocks};
use super::{alerts, install, nightly, rolling, service, sessions};

#[test]
fn a_task_does_every_block() {
    let tasks = [
        alerts::SECTIONS,
        install::SECTIONS,
        nightly::SECTIONS,
        rolling::SECTIONS,
        service::SECTIONS,
        sessions::SECTIONS,
    ];
    let done: BTreeSet<String> = tasks.concat().into_iter().map(str::to_owned).collect();
    let headings: BTreeSet<String> = blocks(GUIDE).into_iter().map(|block| block.heading).collect();
    assert_eq!(done, headings);
}

/// The lines without what all of them are indented by.
fn flush_left(text: &str) -> String {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let least = lines().map(depth).min().unwrap_or(0);
    text.lines().map(|line| format!("{}\n", line.get(least..).unwrap_or(""))).collect()
}

/// Does a file hold these lines one after the other, however deep?
fn holds(file: &str, wanted: &str) -> bool {
    let lines: Vec<&str> = file.lines().collect();
    let count = wanted.lines().count();
    lines.windows(count).any(|part| flush_left(&part.join("\n")) == flush_left(wanted))
}

#[test]
fn rust_of_the_guide_is_part_of_an_example() {
    let folder = std::fs::read_dir(page::root().join("examples")).expect("the examples are there");
    let files = folder.map(|file| file.expect("it can be read").path());
    let examples: Vec<String> =
        files.map(|path| std::fs::read_to_string(path).expect("an example is text")).collect();
    let mut guide = blocks(GUIDE);
    guide.retain(|block| block.language == "rust");
    assert!(guide.len() > 3, "{} blocks of Rust", guide.len());
    for Block { text, .. } in guide {
        assert!(examples.iter().any(|example| holds(example, &text)), "in no example:\n{text}");
    }
}

fn manifest() -> toml::Table {
    page::text("crates/baton/Cargo.toml").parse().expect("a manifest is TOML")
}

fn features() -> BTreeSet<String> {
    let manifest = manifest();
    let features = manifest["features"].as_table().expect("a table");
    features.keys().filter(|name| *name != "default").cloned().collect()
}

#[test]
fn the_table_of_features_has_all_of_them_and_no_other() {
    let guide = page::text(GUIDE);
    let rows = guide.lines().skip_while(|line| !line.starts_with("| Feature ")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let named = rows.flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`'));
    let named = named.map(|part| part.trim_matches([',', ' '])).filter(|part| !part.is_empty());
    assert_eq!(named.map(str::to_owned).collect::<BTreeSet<_>>(), features());
}

/// The features that the guide builds an example with are those that the example asks for.
#[test]
fn examples_are_run_with_the_features_that_they_need() {
    let (guide, manifest) = (page::text(GUIDE), manifest());
    let calls: Vec<_> = guide.split("--example ").skip(1).collect();
    assert!(calls.len() > 1, "{calls:?}");
    for call in calls {
        let words: Vec<&str> = call.split([' ', '"', '\n']).take(3).collect();
        let [example, "--features", given] = words.as_slice() else {
            unreachable!("{words:?}");
        };
        let given: BTreeSet<&str> = given.split(',').chain(["sqlite"]).collect();
        let all = manifest["example"].as_array().expect("a list");
        let it = all.iter().find(|entry| entry["name"].as_str() == Some(example));
        let needed = it.expect("it is an example")["required-features"].as_array();
        let needed = needed.expect("a list").iter().filter_map(toml::Value::as_str).collect();
        assert_eq!(given, needed, "{example}");
    }
}

/// cargo takes the dependencies of the guide, for a package beside the checkout.
#[test]
fn the_manifest_of_the_guide_is_one() {
    let block = &page::under(GUIDE, "The library", "toml")[0];
    assert_eq!(block.file(), Some("Cargo.toml"));
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a writable folder");
    let service = folder.path().join("service");
    std::fs::create_dir_all(service.join("src")).expect("a new folder");
    std::os::unix::fs::symlink(page::root(), folder.path().join("baton")).expect("a new link");
    let head = "[package]\nname = 'service'\nversion = '0.0.0'\nedition = '2024'\n[workspace]\n";
    let write = |name: &str, text: &str| {
        std::fs::write(service.join(name), text).expect("the folder is writable");
    };
    write("Cargo.toml", &format!("{head}{}", block.text));
    write("src/main.rs", "");
    write("Cargo.lock", &page::text("Cargo.lock"));
    // What the tests were built from is all that this system needs, so no network is needed.
    let asked = Command::new(env!("CARGO"))
        .args(["tree", "--offline"])
        .current_dir(&service)
        .output()
        .expect("cargo built this test");
    let said = String::from_utf8_lossy(&asked.stderr);
    assert!(asked.status.success(), "{said}");
    assert!(String::from_utf8_lossy(&asked.stdout).contains("crates/baton)"), "{said}");
}
