//! Rule: a function fits on a screen.

use super::finding::Finding;
use super::tokens::{Token, functions, rust_code, tokens};

/// The longest function, in lines from its `fn` to its closing brace.
const LIMIT: usize = 70;

/// Fires on each function that is too long. A nested function counts for the outer one as well.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let Some(code) = rust_code(path, text) else {
        return Vec::new();
    };
    let tokens = tokens(&code);
    functions(&tokens)
        .iter()
        .filter_map(|function| {
            let first = tokens[function.first].line;
            let lines = tokens[function.last].line - first + 1;
            (lines > LIMIT).then(|| {
                let name = name(&tokens, function.first);
                let message = format!("`{name}` has {lines} lines: a function has at most {LIMIT}");
                Finding::new(path, first, message)
            })
        })
        .collect()
}

/// The name after `fn`, with the `$` of a macro's placeholder.
fn name(tokens: &[Token<'_>], first: usize) -> String {
    let after = tokens[first + 1..].iter().map(|token| token.text);
    let mut name = String::new();
    for text in after {
        name.push_str(text);
        if text != "$" {
            break;
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::{Finding, check};

    fn function(name: &str, lines: usize) -> String {
        format!("fn {name}() {{\n{}}}\n", "    a('{');\n".repeat(lines - 2))
    }

    #[test]
    fn fires_on_a_long_function() {
        let text = format!("{}{}", function("short", 70), function("long", 71));
        let message = "`long` has 71 lines: a function has at most 70";
        assert_eq!(check("a.rs", &text), [Finding::new("a.rs", 71, message)]);
    }

    #[test]
    fn fires_on_the_function_around_a_long_one() {
        let text = format!("fn outer() {{\n{}}}\n", function("$inner", 80));
        let found = check("a.rs", &text);
        assert_eq!(found.len(), 2);
        assert!(found[0].message.starts_with("`outer` has 82"));
        assert!(found[1].message.starts_with("`$inner` has 80"));
    }

    #[test]
    fn is_silent_on_short_functions_in_a_long_block() {
        let short = function("short", 60);
        let text = format!("impl A {{\n{short}{short}}}\n");
        assert_eq!(check("a.rs", &text), []);
    }
}
