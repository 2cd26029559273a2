//! Rule: a Rust file stays short enough to be read in one go.

use super::finding::Finding;

/// The longest file, in lines.
const LIMIT: usize = 400;

/// The longest file of tests, which are read one at a time.
const LIMIT_IN_TESTS: usize = 800;

/// Fires once for a Rust file that is too long.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    if !path.ends_with(".rs") {
        return Vec::new();
    }
    let in_tests = path.split('/').rev().skip(1).any(|folder| folder == "tests");
    let limit = if in_tests { LIMIT_IN_TESTS } else { LIMIT };
    let lines = text.lines().count();
    if lines <= limit {
        return Vec::new();
    }
    let message = format!("{lines} lines: a file has at most {limit}");
    vec![Finding::new(path, limit + 1, message)]
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn fires_on_the_first_line_too_many() {
        let found = check("a/src/b.rs", &"\n".repeat(401));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].to_string(), "a/src/b.rs:401: 401 lines: a file has at most 400");
        assert_eq!(check("a/tests/b.rs", &"\n".repeat(801)).len(), 1);
    }

    #[test]
    fn is_silent_within_the_limit() {
        assert_eq!(check("a/src/tests.rs", &"\n".repeat(400)), []);
        assert_eq!(check("a/tests/b.rs", &"\n".repeat(800)), []);
        assert_eq!(check("a/README.md", &"\n".repeat(5000)), []);
    }
}
