//! Rule: a Rust file opens by saying what it is for.

use super::finding::Finding;

/// Fires on a Rust file whose first line is no inner doc comment with words in it.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let opening = text.lines().next().and_then(|line| line.strip_prefix("//!"));
    let says_something = opening.is_some_and(|words| !words.trim().is_empty());
    if !path.ends_with(".rs") || says_something {
        return Vec::new();
    }
    vec![Finding::new(path, 1, "the file must open with `//!` and what it is for")]
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn fires_without_a_doc_comment_on_the_first_line() {
        for text in ["", "use a;\n//! Late.\n", "/// Outer.\n", "//!\n"] {
            assert_eq!(check("a.rs", text).len(), 1, "{text:?}");
        }
    }

    #[test]
    fn is_silent_on_a_file_that_says_what_it_is_for() {
        assert_eq!(check("a.rs", "//! What it is for.\n"), []);
        assert_eq!(check("a.toml", "[package]\n"), []);
    }
}
