//! Rules over Rust files. The formatter puts each attribute, declaration and closing brace on a
//! line of its own, so that the rules need not parse Rust.

use super::repo::{Repo, folder, join};
use super::{Finding, numbered};

/// The longest file, in lines; tests are read one at a time.
const LINES_MAX: usize = 400;
const LINES_MAX_IN_TESTS: usize = 800;

/// The widest line, in characters.
const COLUMNS_MAX: usize = 100;

/// What may not stay, and what to do about it. Put together here, so that it does not find itself.
const LEFTOVERS: [(&str, &str); 3] = [
    (concat!("FIX", "ME"), "fix it, or say what holds today"),
    (concat!("XX", "X"), "fix it, or say what holds today"),
    (concat!("#[", "ignore"), "run the test or delete it"),
];

/// Folders of the programs that talk to a terminal.
const MAY_PRINT: [&str; 6] = [
    "crates/baton-bench/",
    "crates/baton-cli/",
    "crates/baton-sim/",
    "crates/baton-testbed/src/bin/",
    "examples/",
    "xtask/",
];

type Rule = fn(&str, &str) -> Vec<(usize, String)>;

const RULES: [Rule; 5] = [header, length, width, leftovers, silent_tests];

/// Fires on what is wrong with a Rust file by itself.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let rules = RULES.iter().filter(|_| path.ends_with(".rs"));
    let found = rules.flat_map(|rule| rule(path, text));
    found.map(|(line, message)| Finding::new(path, line, message)).collect()
}

/// A file opens by saying what it is for.
fn header(_: &str, text: &str) -> Vec<(usize, String)> {
    let opening = text.lines().next().and_then(|line| line.strip_prefix("//!"));
    match opening.is_some_and(|words| !words.trim().is_empty()) {
        true => Vec::new(),
        false => vec![(1, "the file must open with `//!` and what it is for".to_owned())],
    }
}

/// A file is short enough to be read in one go.
fn length(path: &str, text: &str) -> Vec<(usize, String)> {
    let in_tests = path.split('/').rev().skip(1).any(|folder| folder == "tests");
    let limit = if in_tests { LINES_MAX_IN_TESTS } else { LINES_MAX };
    let lines = text.lines().count();
    let message = || (limit + 1, format!("{lines} lines: a file has at most {limit}"));
    (lines > limit).then(message).into_iter().collect()
}

/// A line fits beside another file; a URL cannot be broken. The formatter leaves comments and
/// literals alone.
fn width(_: &str, text: &str) -> Vec<(usize, String)> {
    let wide = |(line, content): (usize, &str)| {
        let width = content.chars().count();
        let message = || (line, format!("{width} columns: a line has at most {COLUMNS_MAX}"));
        (width > COLUMNS_MAX && !content.contains("://")).then(message)
    };
    numbered(text).filter_map(wide).collect()
}

/// Nothing unfinished, silenced or put in for a moment stays, nor in a comment. An example in a
/// doc comment may print.
fn leftovers(path: &str, text: &str) -> Vec<(usize, String)> {
    let may_print = MAY_PRINT.iter().any(|folder| path.starts_with(folder));
    let mut found = Vec::new();
    for (line, content) in numbered(text) {
        let on_line = LEFTOVERS.iter().filter(|(what, _)| content.contains(what));
        found.extend(on_line.map(|(what, remedy)| (line, format!("leftover `{what}`: {remedy}"))));
        if !may_print && content.contains("println!") && !is_comment(content) {
            found.push((line, "`println!` in a library: emit an event".to_owned()));
        }
    }
    found
}

/// A test checks something: one that only runs code passes whatever the code does. The attributes
/// are looked at too, for the one that expects a panic.
fn silent_tests(_: &str, text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| is_test_attribute(line)) {
        let indent = line.len() - line.trim_start().len();
        let end = format!("{}}}", &line[..indent]);
        let mut test = lines[at..].iter().take_while(|line| **line != end);
        if !test.clone().any(|line| can_fail(line)) {
            let signature = test.find_map(|line| line.split_once("fn ")).unwrap_or_default();
            let name = signature.1.split('(').next().unwrap_or_default();
            found.push((at + 1, format!("test `{name}` asserts nothing")));
        }
    }
    found
}

/// Does an attribute stand here whose path ends in `test`, as in `#[test]` or `#[tokio::test]`?
fn is_test_attribute(line: &str) -> bool {
    let inside = line.trim_start().strip_prefix("#[");
    let path = inside.and_then(|inside| inside.split([']', '(', ' ']).next());
    path.is_some_and(|path| path.rsplit("::").next() == Some("test"))
}

/// Is there anything on this line by which a test can fail?
fn can_fail(line: &str) -> bool {
    let signs = ["assert", "panic", "expect_err", "?", "matches!", "check("];
    let code = code(line);
    signs.iter().any(|sign| code.contains(sign))
}

/// A line without its string literals and the comment at its end. A literal of several lines is not
/// understood.
fn code(line: &str) -> String {
    let no_quotes_inside = line.replace("\\\\", "").replace("\\\"", "").replace("'\"'", "");
    let outside: String = no_quotes_inside.split('"').step_by(2).collect();
    outside.split("//").next().unwrap_or_default().to_owned()
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// Fires on each Rust file that is neither the root of a target nor declared by the file above it.
pub fn unused(repo: &Repo) -> Vec<Finding> {
    let paths = repo.files().map(|(path, _)| path).filter(|path| path.ends_with(".rs"));
    let unused = paths.filter(|path| !is_root(repo, path) && !is_declared(repo, path));
    unused
        .map(|path| Finding::new(path, 1, "unused file: no `mod` declaration reaches it"))
        .collect()
}

/// Is this the root of a target, by cargo's conventions or by the manifest's word?
fn is_root(repo: &Repo, path: &str) -> bool {
    let manifest = |dir: &str| join(dir, "Cargo.toml").and_then(|path| repo.text(&path));
    let mut above = Some(folder(path));
    while let Some(dir) = above {
        if let Some(manifest) = manifest(dir) {
            let inside = path[dir.len()..].trim_start_matches('/');
            return is_conventional(inside) || manifest.contains(&format!("\"{inside}\""));
        }
        above = (!dir.is_empty()).then(|| folder(dir));
    }
    false
}

fn is_conventional(path: &str) -> bool {
    let many = ["src/bin/", "tests/", "benches/", "examples/"];
    match many.iter().find_map(|folder| path.strip_prefix(folder)) {
        None => ["src/lib.rs", "src/main.rs", "build.rs"].contains(&path),
        Some(rest) => rest.split_once('/').is_none_or(|(_, file)| file == "main.rs"),
    }
}

/// Does the file above this one declare it? That is `mod.rs` or the root of a target in the same
/// folder, or the file of the folder's name beside it. `#[path]` and modules within a module are
/// not understood, and not used here.
fn is_declared(repo: &Repo, path: &str) -> bool {
    let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
    let (home, name) = module.rsplit_once('/').unwrap_or(("", module));
    let declares = |line: &str| {
        let mut words = line.strip_suffix(';').unwrap_or_default().split_whitespace().rev();
        !is_comment(line) && words.next() == Some(name) && words.next() == Some("mod")
    };
    let is_above = |file: &str| {
        let beside = folder(file) == home && (file.ends_with("/mod.rs") || is_root(repo, file));
        file != path && (beside || file.strip_suffix(".rs") == Some(home))
    };
    repo.files().any(|(file, text)| is_above(file) && text.lines().any(declares))
}

#[cfg(test)]
mod tests {
    use super::{LEFTOVERS, Repo, check, unused};

    fn found(path: &str, text: &str) -> Vec<String> {
        check(path, text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn fires_without_a_doc_comment_on_the_first_line() {
        for text in ["", "use a;\n//! Late.\n", "/// Outer.\n", "//!\n"] {
            let expected = "a.rs:1: the file must open with `//!` and what it is for";
            assert_eq!(found("a.rs", text), [expected], "{text:?}");
        }
        assert_eq!(found("a.rs", "//! What it is for.\n"), [""; 0]);
        assert_eq!(found("a.toml", "[package]\n"), [""; 0]);
    }

    #[test]
    fn fires_on_the_first_line_too_many() {
        let lines = |count: usize| format!("//! A.\n{}", "\n".repeat(count - 1));
        let expected = "a/src/b.rs:401: 401 lines: a file has at most 400";
        assert_eq!(found("a/src/b.rs", &lines(401)), [expected]);
        assert_eq!(found("a/tests/b.rs", &lines(801)).len(), 1);
        assert_eq!(found("a/src/tests.rs", &lines(400)), [""; 0]);
        assert_eq!(found("a/tests/b.rs", &lines(800)), [""; 0]);
        assert_eq!(found("a/README.md", &lines(5000)), [""; 0]);
    }

    #[test]
    fn fires_on_a_wide_line_unless_it_holds_a_url() {
        let text = format!("//! Short.\n// {}\n", "x".repeat(98));
        assert_eq!(found("a.rs", &text), ["a.rs:2: 101 columns: a line has at most 100"]);
        assert_eq!(found("a.rs", &format!("//! Short.\n{}", "é".repeat(100))), [""; 0]);
        let url = format!("//! https://example.org/{}", "x".repeat(100));
        assert_eq!(found("a.rs", &url), [""; 0]);
    }

    #[test]
    fn fires_on_each_leftover_in_code_and_comments() {
        for (what, _) in LEFTOVERS {
            for text in [format!("//! A.\n{what}"), format!("//! A.\n    // a{what} b")] {
                let found = check("a.rs", &text);
                assert_eq!(found.len(), 1, "{text:?}");
                assert_eq!(found[0].line, 2);
            }
        }
        assert_eq!(found("a.md", LEFTOVERS[0].0), [""; 0]);
    }

    #[test]
    fn fires_on_printing_outside_of_the_programs() {
        let text = "//! A.\n    eprintln!();\n    println!();\n/// println!(\"{lease}\");\n";
        let found = check("crates/baton-core/src/a.rs", text);
        assert_eq!(found.iter().map(|finding| finding.line).collect::<Vec<_>>(), [2, 3]);
        for program in ["crates/baton-sim", "crates/baton-cli", "crates/baton-bench", "xtask"] {
            assert_eq!(check(&format!("{program}/src/main.rs"), text), []);
        }
    }

    #[test]
    fn fires_on_a_test_that_asserts_nothing() {
        let lines = r#"run("assert"); run("\"why?", '"', "?"); run(); // assert"#;
        let idle = format!("fn idle() {{\n        {lines}\n    }}\n    fn assert() {{}}\n");
        for attribute in ["#[test]", "#[tokio::test]", "#[tokio::test(start_paused = true)]"] {
            let text = format!("//! A.\n    {attribute}\n    async {idle}");
            assert_eq!(found("a.rs", &text), ["a.rs:2: test `idle` asserts nothing"]);
        }
        let helper = "//! A.\n#[cfg(test)]\nmod tests {\n    fn helper() {\n    }\n}\n#[";
        assert_eq!(found("a.rs", helper), [""; 0]);
    }

    #[test]
    fn is_silent_on_whatever_can_fail() {
        for line in [
            "assert_eq!(a, b);",
            "a.expect_err(b);",
            "a?;",
            "matches!(a, b);",
            "a.check(b);",
            "b(\"//\")?;",
        ] {
            let text = format!("//! A.\n#[test]\nfn a() {{\n    {line}\n}}\n");
            assert_eq!(found("a.rs", &text), [""; 0], "{line}");
        }
        let panics = "//! A.\n#[test]\n#[should_panic(expected = \"why\")]\nfn a() {\n}\n";
        assert_eq!(found("a.rs", panics), [""; 0]);
    }

    fn unused_of(files: &[(&str, &str)]) -> Vec<String> {
        let findings = unused(&Repo::of(files));
        findings.into_iter().map(|finding| finding.path).collect()
    }

    #[test]
    fn fires_on_files_that_nothing_declares() {
        let found = unused_of(&[
            ("a/Cargo.toml", ""),
            ("a/src/lib.rs", "mod b;\n// mod lost;\nmod tests {}"),
            ("a/src/b.rs", "mod c;"),
            ("a/src/c.rs", "belongs into the folder b"),
            ("a/src/lost.rs", "mod lost;"),
            ("a/tests/common/mod.rs", ""),
            ("stray.rs", ""),
        ]);
        let expected = ["a/src/c.rs", "a/src/lost.rs", "a/tests/common/mod.rs", "stray.rs"];
        assert_eq!(found, expected);
    }

    #[test]
    fn is_silent_on_modules_in_every_place_they_may_stand() {
        let found = unused_of(&[
            ("a/Cargo.toml", "[[bin]]\npath = \"tools/odd.rs\"\n"),
            ("a/build.rs", ""),
            ("a/tools/odd.rs", ""),
            ("a/src/lib.rs", "mod b;\npub(crate) mod d;"),
            ("a/src/b.rs", "mod c;"),
            ("a/src/b/c.rs", ""),
            ("a/src/d/mod.rs", "pub mod e;"),
            ("a/src/d/e.rs", ""),
            ("a/src/bin/x.rs", ""),
            ("a/src/bin/y/main.rs", "mod z;"),
            ("a/src/bin/y/z.rs", ""),
            ("a/tests/it.rs", "mod common;"),
            ("a/tests/common/mod.rs", ""),
            ("a/examples/e.rs", ""),
        ]);
        assert_eq!(found, [""; 0]);
    }
}
