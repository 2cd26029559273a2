//! Tells code, comments and literals of a Rust file apart, without parsing it.

/// What a character belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Anything that is not one of the others.
    Code,
    /// A line or block comment, doc comments included.
    Comment,
    /// A string or character literal with its quotes.
    Literal,
}

/// The text with everything but `keep` turned into spaces. Lines and columns stay where they are.
pub fn only(text: &str, keep: &[Kind]) -> String {
    let mut lexer = Lexer {
        chars: text.chars().collect(),
        at: 0,
        kept: String::with_capacity(text.len()),
        keep,
    };
    while lexer.at < lexer.chars.len() {
        lexer.step();
    }
    lexer.kept
}

/// The code alone.
pub fn code(text: &str) -> String {
    only(text, &[Kind::Code])
}

struct Lexer<'a> {
    chars: Vec<char>,
    at: usize,
    kept: String,
    keep: &'a [Kind],
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Takes `count` characters, or what is left of them.
    fn take(&mut self, count: usize, kind: Kind) {
        let end = (self.at + count).min(self.chars.len());
        let kept = self.keep.contains(&kind);
        for c in &self.chars[self.at..end] {
            self.kept.push(if kept || *c == '\n' { *c } else { ' ' });
        }
        self.at = end;
    }

    fn step(&mut self) {
        match (self.peek(0), self.peek(1)) {
            (Some('/'), Some('/')) => {
                let rest = &self.chars[self.at..];
                let length = rest.iter().take_while(|c| **c != '\n').count();
                self.take(length, Kind::Comment);
            }
            (Some('/'), Some('*')) => self.block_comment(),
            (Some('"'), _) => self.quoted('"'),
            (Some('\''), Some('\\')) => self.quoted('\''),
            (Some('\''), Some(_)) if self.peek(2) == Some('\'') => self.take(3, Kind::Literal),
            (Some(c), _) if is_word(c) => self.word(),
            _ => self.take(1, Kind::Code),
        }
    }

    /// Block comments nest.
    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => {
                    depth += 1;
                    self.take(2, Kind::Comment);
                }
                (Some('*'), Some('/')) => {
                    depth -= 1;
                    self.take(2, Kind::Comment);
                    if depth == 0 {
                        return;
                    }
                }
                (Some(_), _) => self.take(1, Kind::Comment),
                (None, _) => return,
            }
        }
    }

    fn quoted(&mut self, quote: char) {
        self.take(1, Kind::Literal);
        while let Some(c) = self.peek(0) {
            self.take(if c == '\\' { 2 } else { 1 }, Kind::Literal);
            if c == quote {
                return;
            }
        }
    }

    /// A whole word, because only the words `r`, `br` and `cr` can open a raw string.
    fn word(&mut self) {
        let rest = &self.chars[self.at..];
        let length = rest.iter().take_while(|c| is_word(**c)).count();
        let word: String = rest[..length].iter().collect();
        let hashes = rest[length..].iter().take_while(|c| **c == '#').count();
        let opens = rest.get(length + hashes) == Some(&'"');
        if opens && matches!(word.as_str(), "r" | "br" | "cr") {
            self.take(length + hashes + 1, Kind::Literal);
            self.raw_string(hashes);
        } else {
            self.take(length, Kind::Code);
        }
    }

    fn raw_string(&mut self, hashes: usize) {
        while let Some(c) = self.peek(0) {
            let rest = &self.chars[self.at + 1..];
            if c == '"' && rest.iter().take_while(|c| **c == '#').count() >= hashes {
                self.take(1 + hashes, Kind::Literal);
                return;
            }
            self.take(1, Kind::Literal);
        }
    }
}

/// Can this stand in an identifier or a number?
pub fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::{Kind, code, only};

    /// The code without its spaces, to keep the cases short.
    fn squeezed(text: &str) -> String {
        code(text).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_are_not_code() {
        assert_eq!(squeezed("a // { b\nc"), "a c");
        assert_eq!(squeezed("a /* { /* } */ { */ b"), "a b");
        assert_eq!(squeezed("a /* never closed {"), "a");
    }

    #[test]
    fn strings_are_not_code() {
        assert_eq!(squeezed(r#"a("{ \" {", b)"#), "a( , b)");
        assert_eq!(squeezed(r##"a(r#"{ " // "#, br"\", b"{")"##), "a( , , b )");
        assert_eq!(squeezed(r#"a(r"never closed"#), "a(");
    }

    #[test]
    fn characters_are_not_code_but_lifetimes_are() {
        assert_eq!(squeezed(r"a('{', '\'', '\u{7b}', b'{')"), "a( , , , b )");
        assert_eq!(squeezed("fn a<'a>(x: &'a str) {}"), "fn a<'a>(x: &'a str) {}");
    }

    #[test]
    fn a_raw_identifier_opens_no_string() {
        assert_eq!(squeezed(r#"r#fn(bar"x")"#), "r#fn(bar )");
    }

    #[test]
    fn lines_and_columns_stay() {
        let text = "a /* é\n */ \"\n\" b\n";
        assert_eq!(code(text), "a     \n     \n  b\n");
    }

    #[test]
    fn comments_can_be_kept_without_the_literals() {
        let kept = only(r#"a("b") // c"#, &[Kind::Code, Kind::Comment]);
        assert_eq!(kept, "a(   ) // c");
    }
}
