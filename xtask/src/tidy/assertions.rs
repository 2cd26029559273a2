//! Rule: a test checks something. One that only runs code passes whatever the code does.

use super::finding::Finding;
use super::tokens::{Function, Token, closing, functions, rust_code, tokens};

/// Fires on each `#[test]` function, of std or of a runtime, with nothing like an assertion.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let Some(code) = rust_code(path, text) else {
        return Vec::new();
    };
    let tokens = tokens(&code);
    let functions = functions(&tokens);
    (0..tokens.len())
        .filter(|at| is_test_attribute(&tokens, *at))
        .filter_map(|at| Some((at, functions.iter().find(|f| f.first > at)?)))
        .filter(|(at, function)| !asserts(&tokens[*at..=function.last]))
        .map(|(_, function)| toothless(path, &tokens, function))
        .collect()
}

fn toothless(path: &str, tokens: &[Token<'_>], function: &Function) -> Finding {
    let name = tokens[function.first + 1].text;
    let message = format!("test `{name}` asserts nothing");
    Finding::new(path, tokens[function.first].line, message)
}

/// Does an attribute stand here whose path ends in `test`, as in `#[test]` or `#[tokio::test]`?
fn is_test_attribute(tokens: &[Token<'_>], at: usize) -> bool {
    let opens = |ahead: usize, text| tokens.get(at + ahead).is_some_and(|t| t.text == text);
    if !(opens(0, "#") && opens(1, "[")) {
        return false;
    }
    let end = closing(tokens, at + 1).unwrap_or(at + 1);
    let path = tokens[at + 2..end.max(at + 2)]
        .iter()
        .map(|token| token.text)
        .take_while(|text| *text != "(" && *text != "=");
    path.last() == Some("test")
}

/// Is there anything by which the test can fail? The attributes are looked at too, for the one
/// that expects a panic.
fn asserts(tokens: &[Token<'_>]) -> bool {
    tokens.iter().enumerate().any(|(at, token)| {
        let next = tokens.get(at + 1).map(|token| token.text);
        let text = token.text;
        text.contains("assert")
            || text.contains("panic")
            || text == "expect_err"
            || text == "?"
            || (text == "matches" && next == Some("!"))
            || (text.ends_with("check") && next == Some("("))
    })
}

#[cfg(test)]
mod tests {
    use super::{Finding, check};

    #[test]
    fn fires_on_a_test_that_asserts_nothing() {
        let text = "#[test]\nfn idle() {\n    run(\"assert\"); // assert\n}\nfn assert() {}\n";
        let expected = Finding::new("a.rs", 2, "test `idle` asserts nothing");
        assert_eq!(check("a.rs", text), [expected]);
    }

    #[test]
    fn fires_on_the_tests_of_a_runtime() {
        let text = "#[tokio::test(start_paused = true)]\nasync fn idle() { run().await; }\n";
        assert_eq!(check("a.rs", text).len(), 1);
    }

    #[test]
    fn is_silent_on_whatever_can_fail() {
        for body in [
            "assert_eq!(a, b);",
            "a.expect_err(\"why\");",
            "a?;",
            "matches!(a, b);",
            "invariant.check(a);",
        ] {
            let text = format!("#[test]\nfn a() {{ {body} }}\n");
            assert_eq!(check("a.rs", &text), [], "{body}");
        }
        let panics = "#[test]\n#[should_panic(expected = \"why\")]\nfn a() { run(); }\n";
        assert_eq!(check("a.rs", panics), []);
    }

    #[test]
    fn is_silent_on_functions_that_are_no_tests() {
        let text = "#[cfg(test)]\nmod tests {\n    fn helper() { run(); }\n}\n#[";
        assert_eq!(check("a.rs", text), []);
    }
}
