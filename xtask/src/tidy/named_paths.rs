//! Rule: the source files that the guiding documents name in backticks exist.

use super::finding::Finding;
use super::markdown::code_spans;
use super::repo::Repo;

/// The documents that map claims to code.
const DOCUMENTS: [&str; 2] = ["ARCHITECTURE.md", "docs/guarantees.md"];

/// Fires on each path from the root that does not exist. `path.rs::name` is looked up by its file.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let documents = DOCUMENTS.iter().filter_map(|path| Some((path, repo.text(path)?)));
    documents
        .flat_map(|(document, text)| {
            let spans = code_spans(text).into_iter();
            spans.filter_map(|(line, span)| {
                let path = named_path(span).filter(|path| !repo.holds(path))?;
                let message = format!("`{path}` does not exist: name it from the root");
                Some(Finding::new(document, line, message))
            })
        })
        .collect()
}

/// The path in a code span, if it looks like one of ours.
fn named_path(span: &str) -> Option<&str> {
    let path = span.split_once("::").map_or(span, |(path, _)| path).trim();
    let is_source = [".rs", ".md", ".toml"].iter().any(|end| path.ends_with(end));
    let is_pattern = path.contains(|c: char| c.is_whitespace() || "*<>{}…:".contains(c));
    (is_source && path.contains('/') && !is_pattern).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::{Repo, check};

    fn found(document: &str, text: &str) -> Vec<String> {
        let repo = Repo::of(&[(document, text), ("src/lib.rs", "")]);
        check(&repo).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn fires_on_paths_that_do_not_exist() {
        let expected = "ARCHITECTURE.md:2: `src/gone.rs` does not exist: name it from the root";
        assert_eq!(found("ARCHITECTURE.md", "\nSee `src/gone.rs`."), [expected]);
        assert_eq!(found("docs/guarantees.md", "`src/gone.rs::a` `x/y.toml`").len(), 2);
    }

    #[test]
    fn is_silent_on_live_paths_and_on_what_is_none() {
        let text = "`src/lib.rs` `src/lib.rs::a` `lib.rs` `src/*.rs` `a/b` `https://a/b.md`\n";
        assert_eq!(found("ARCHITECTURE.md", text), [""; 0]);
        assert_eq!(found("README.md", "`src/gone.rs`"), [""; 0]);
    }
}
