//! Rule: a line of Rust fits beside another file. The formatter leaves comments and literals alone.

use super::finding::{Finding, numbered};

/// The widest line, in characters.
const LIMIT: usize = 100;

/// Fires on each line that is too wide, unless it holds a URL, which cannot be broken.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    if !path.ends_with(".rs") {
        return Vec::new();
    }
    numbered(text)
        .map(|(line, content)| (line, content.chars().count(), content))
        .filter(|(_, width, content)| *width > LIMIT && !content.contains("://"))
        .map(|(line, width, _)| {
            let message = format!("{width} columns: a line has at most {LIMIT}");
            Finding::new(path, line, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Finding, check};

    #[test]
    fn fires_on_a_wide_line() {
        let text = format!("//! Short.\n// {}\n", "x".repeat(98));
        let expected = Finding::new("a.rs", 2, "101 columns: a line has at most 100");
        assert_eq!(check("a.rs", &text), [expected]);
    }

    #[test]
    fn is_silent_on_100_characters_and_on_urls() {
        assert_eq!(check("a.rs", &"é".repeat(100)), []);
        let url = format!("// https://example.org/{}", "x".repeat(100));
        assert_eq!(check("a.rs", &url), []);
        assert_eq!(check("a.md", &"x".repeat(200)), []);
    }
}
