//! The text of a call: every argument is a literal, so that a step is one request and one reply. A
//! prepared statement would be two at first.
//!
//! Text and bytes stand in hexadecimal digits: nothing in them can end a literal, whatever the
//! session's `sql_mode` and character set.

use std::fmt::Display;

use crate::sweep::hexadecimal;

/// Something that can be an argument.
pub(super) trait Argument {
    /// It as a literal.
    fn literal(self) -> String;
}

/// Bytes as they are.
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

/// Text in any language.
pub(super) struct Text<'a>(pub(super) &'a str);

/// What is written in letters and digits: a namespace, a node id, a boot id.
pub(super) struct Ascii<T>(pub(super) T);

impl Argument for Bytes<'_> {
    fn literal(self) -> String {
        format!("x'{}'", hexadecimal(self.0))
    }
}

impl Argument for Text<'_> {
    fn literal(self) -> String {
        format!("_utf8mb4 x'{}'", hexadecimal(self.0.as_bytes()))
    }
}

impl<T: Display> Argument for Ascii<T> {
    fn literal(self) -> String {
        format!("_ascii x'{}'", hexadecimal(self.0.to_string().as_bytes()))
    }
}

impl Argument for u64 {
    fn literal(self) -> String {
        self.to_string()
    }
}

impl Argument for bool {
    fn literal(self) -> String {
        u64::from(self).literal()
    }
}

impl<T: Argument> Argument for Option<T> {
    fn literal(self) -> String {
        self.map_or_else(|| "NULL".to_owned(), T::literal)
    }
}

/// One call of a procedure, argument by argument.
pub(super) struct Statement {
    text: String,
    separator: &'static str,
}

impl Statement {
    /// A call of this procedure.
    pub(super) fn call(prefix: &str, procedure: &str) -> Self {
        Self { text: format!("CALL `{prefix}{procedure}`("), separator: "" }
    }

    /// The next argument.
    #[must_use]
    pub(super) fn with(mut self, argument: impl Argument) -> Self {
        self.text.push_str(self.separator);
        self.separator = ",";
        self.text.push_str(&argument.literal());
        self
    }

    /// The whole text.
    pub(super) fn text(self) -> String {
        self.text + ")"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_core::ids::BootId;

    #[test]
    fn nothing_in_an_argument_can_end_its_literal() {
        let statement = Statement::call("baton_", "beat")
            .with(Text("'\"\\ ä"))
            .with(Bytes(&[0, 255]))
            .with(u64::MAX)
            .with(None::<u64>)
            .with(true)
            .with(Ascii(BootId(1)));
        let zeros = "30".repeat(31);
        let wanted = format!(
            "CALL `baton_beat`(_utf8mb4 x'27225c20c3a4',x'00ff',18446744073709551615,NULL,1,\
             _ascii x'{zeros}31')"
        );
        assert_eq!(statement.text(), wanted);
    }
}
