//! Words and punctuation of Rust code, and where its functions begin and end.

use super::source::{self, is_word};

/// A word (identifier, keyword, number) or a single punctuation character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its line, counted from one.
    pub line: usize,
}

/// A function with a body. The positions are those of its tokens.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    /// Where its `fn` stands.
    pub first: usize,
    /// Where its closing brace stands.
    pub last: usize,
}

/// The tokens of code that went through [`source::code`].
pub fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    for (line, text) in (1..).zip(code.lines()) {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if is_word(first) {
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            } else {
                first.len_utf8()
            };
            let (text, after) = rest.split_at(length);
            found.push(Token { text, line });
            rest = after.trim_start();
        }
    }
    found
}

/// Every function with a body, nested ones included, in the order of their `fn`.
pub fn functions(tokens: &[Token<'_>]) -> Vec<Function> {
    (0..tokens.len())
        .filter(|at| is_keyword(tokens, *at, "fn") && is_named(tokens, *at))
        .filter_map(|first| {
            let open = body(tokens, first)?;
            let last = closing(tokens, open)?;
            Some(Function { first, last })
        })
        .collect()
}

/// Is this token the keyword, and not a raw identifier such as `r#fn`?
pub fn is_keyword(tokens: &[Token<'_>], at: usize, keyword: &str) -> bool {
    let before = at.checked_sub(1).map(|before| tokens[before].text);
    tokens[at].text == keyword && before != Some("#")
}

/// The position of the bracket that closes the one at `open`.
pub fn closing(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// A function has a name (in a macro, a placeholder for one); a pointer type has not.
fn is_named(tokens: &[Token<'_>], at: usize) -> bool {
    let next = tokens.get(at + 1).and_then(|token| token.text.chars().next());
    next.is_some_and(|c| c == '$' || is_word(c))
}

/// The opening brace of a function's body; `None` for a declaration without one.
fn body(tokens: &[Token<'_>], first: usize) -> Option<usize> {
    let mut at = first;
    loop {
        match tokens.get(at)?.text {
            "{" => return Some(at),
            ";" | ")" | "]" | "}" => return None,
            "(" | "[" => at = closing(tokens, at)? + 1,
            _ => at += 1,
        }
    }
}

/// The code of a Rust file, ready for [`tokens`]; `None` for any other file.
pub fn rust_code(path: &str, text: &str) -> Option<String> {
    path.ends_with(".rs").then(|| source::code(text))
}

#[cfg(test)]
mod tests {
    use super::{functions, tokens};

    /// Names and lines of the functions in `code`.
    fn found(code: &str) -> Vec<(String, usize, usize)> {
        let tokens = tokens(code);
        let place = |f: super::Function| {
            let name = tokens[f.first + 1].text.to_owned();
            (name, tokens[f.first].line, tokens[f.last].line)
        };
        functions(&tokens).into_iter().map(place).collect()
    }

    fn at(name: &str, first: usize, last: usize) -> (String, usize, usize) {
        (name.to_owned(), first, last)
    }

    #[test]
    fn words_and_punctuation_are_tokens() {
        let code = "a_1::b\n  {}";
        let tokens = tokens(code);
        let texts: Vec<&str> = tokens.iter().map(|token| token.text).collect();
        assert_eq!(texts, ["a_1", ":", ":", "b", "{", "}"]);
        assert_eq!(tokens[4].line, 2);
    }

    #[test]
    fn a_nested_function_counts_for_both() {
        let code = "fn outer() {\n    fn inner() {\n    }\n}\nfn next() {}\n";
        let expected = [at("outer", 1, 4), at("inner", 2, 3), at("next", 5, 5)];
        assert_eq!(found(code), expected);
    }

    #[test]
    fn signatures_may_hold_brackets_and_stretch_over_lines() {
        let code = "fn a<F>(x: [u8; { 3 }], f: F) -> (u8, u8)\nwhere\n    F: Fn(u8),\n{\n}\n";
        assert_eq!(found(code), [at("a", 1, 5)]);
    }

    #[test]
    fn what_has_no_body_is_no_function() {
        assert_eq!(found("trait T { fn a(x: [u8; 2]); }"), []);
        assert_eq!(found("struct S { f: fn(u8) -> u8 } fn"), []);
        assert_eq!(found("(fn $name:ident() $body:block) => {}"), []);
        assert_eq!(found("r#fn name {}"), []);
    }
}
