//! Rule: nothing unfinished, silenced or put in for a moment stays in a Rust file.
//!
//! Comments count too, for what is commented out is a leftover as well; literals do not. Printing
//! is looked for in code alone, so that an example in a doc comment may print.

use super::finding::{Finding, numbered};
use super::source::{Kind, code, only};

/// What may not stay, and what to do about it.
const LEFTOVERS: [(&str, &str); 3] = [
    ("FIXME", "fix it, or say what holds today"),
    ("XXX", "fix it, or say what holds today"),
    ("#[ignore", "run the test or delete it"),
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

/// Fires on each line with a leftover.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    if !path.ends_with(".rs") {
        return Vec::new();
    }
    let unquoted = only(text, &[Kind::Code, Kind::Comment]);
    let mut found = Vec::new();
    for (line, content) in numbered(&unquoted) {
        let on_line = LEFTOVERS.iter().filter(|(what, _)| content.contains(what));
        found.extend(on_line.map(|(what, remedy)| {
            Finding::new(path, line, format!("leftover `{what}`: {remedy}"))
        }));
    }
    if !MAY_PRINT.iter().any(|folder| path.starts_with(folder)) {
        let printing = numbered(&code(text))
            .filter(|(_, content)| content.contains("println!"))
            .map(|(line, _)| Finding::new(path, line, "`println!` in a library: emit an event"))
            .collect::<Vec<_>>();
        found.extend(printing);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{LEFTOVERS, check};

    #[test]
    fn fires_on_each_leftover_in_code_and_comments() {
        for (what, _) in LEFTOVERS {
            for text in [format!("fn a() {{}}\n{what}"), format!("\n    // a{what} b")] {
                let found = check("a.rs", &text);
                assert_eq!(found.len(), 1, "{text:?}");
                assert_eq!(found[0].line, 2);
            }
        }
    }

    #[test]
    fn fires_on_printing_outside_of_the_programs() {
        let text = "fn a() {\n    eprintln!();\n    println!();\n}\n";
        let lines: Vec<usize> =
            check("crates/baton-core/src/a.rs", text).iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [2, 3]);
        assert_eq!(check("crates/baton-sim/src/main.rs", text), []);
        assert_eq!(check("crates/baton-cli/src/main.rs", text), []);
        assert_eq!(check("crates/baton-bench/src/main.rs", text), []);
        assert_eq!(check("xtask/src/main.rs", text), []);
    }

    #[test]
    fn is_silent_on_literals_examples_and_other_files() {
        assert_eq!(check("a.rs", "let a = \"FIXME XXX\";\n"), []);
        assert_eq!(check("a.rs", "/// println!(\"{lease}\");\n"), []);
        assert_eq!(check("a.md", "FIXME\n"), []);
    }
}
