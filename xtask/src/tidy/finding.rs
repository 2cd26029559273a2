//! What a rule reports, and the place it points at.

use std::fmt;

/// One thing to mend; displayed as `path:line: message`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, from the root of the repository.
    pub path: String,
    /// The line, counted from one.
    pub line: usize,
    /// What is wrong, and what to do where that is not plain.
    pub message: String,
}

impl Finding {
    /// A finding at a line of a file.
    pub fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// The lines of a text with their numbers, counted from one.
pub fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines())
}

#[cfg(test)]
mod tests {
    use super::Finding;

    #[test]
    fn is_displayed_as_editors_expect() {
        let finding = Finding::new("a/b.rs", 7, "too long");
        assert_eq!(finding.to_string(), "a/b.rs:7: too long");
    }
}
