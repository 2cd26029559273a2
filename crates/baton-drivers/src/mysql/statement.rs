//! The text of a call: every argument is a literal, so that a step is one request and one reply. A
//! prepared statement would be two at first.
//!
//! Text and bytes stand in hexadecimal digits: nothing in them can end a literal, whatever the
//! session's `sql_mode` and character set.

use std::fmt::Write;

use baton_core::ids::{BootId, Namespace, NodeId};

/// Something that can be an argument.
pub(super) trait Argument {
    /// Writes it as a literal.
    fn literal(&self, text: &mut String);
}

/// What stands in hexadecimal digits.
pub(super) enum Hex<'a> {
    /// Bytes as they are.
    Bytes(&'a [u8]),
    /// Text in any language.
    Text(&'a str),
    /// Letters and digits: names and boot ids.
    Ascii(&'a str),
}

pub(super) use Hex::{Ascii, Bytes, Text};

impl Argument for Hex<'_> {
    fn literal(&self, text: &mut String) {
        let (introducer, bytes) = match self {
            Bytes(bytes) => ("x'", *bytes),
            Text(text) => ("_utf8mb4 x'", text.as_bytes()),
            Ascii(text) => ("_ascii x'", text.as_bytes()),
        };
        text.push_str(introducer);
        for byte in bytes {
            write!(text, "{byte:02x}").expect("a string takes all that is written to it");
        }
        text.push('\'');
    }
}

impl Argument for Namespace {
    fn literal(&self, text: &mut String) {
        Ascii(self.as_str()).literal(text);
    }
}

impl Argument for NodeId {
    fn literal(&self, text: &mut String) {
        Ascii(self.as_str()).literal(text);
    }
}

impl Argument for BootId {
    fn literal(&self, text: &mut String) {
        Ascii(&self.to_string()).literal(text);
    }
}

impl Argument for u64 {
    fn literal(&self, text: &mut String) {
        write!(text, "{self}").expect("a string takes all that is written to it");
    }
}

impl Argument for bool {
    fn literal(&self, text: &mut String) {
        u64::from(*self).literal(text);
    }
}

impl<T: Argument> Argument for Option<T> {
    fn literal(&self, text: &mut String) {
        match self {
            Some(it) => it.literal(text),
            None => text.push_str("NULL"),
        }
    }
}

impl<T: Argument> Argument for &T {
    fn literal(&self, text: &mut String) {
        (*self).literal(text);
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
        argument.literal(&mut self.text);
        self
    }

    /// The whole text.
    pub(super) fn text(self) -> String {
        self.text + ")"
    }
}

/// A value in a statement that is no call.
pub(super) fn literal(argument: impl Argument) -> String {
    let mut text = String::new();
    argument.literal(&mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_an_argument_can_end_its_literal() {
        let statement = Statement::call("baton_", "beat")
            .with(Text("'\"\\ ä"))
            .with(Bytes(&[0, 255]))
            .with(u64::MAX)
            .with(None::<u64>)
            .with(true)
            .with(BootId(1));
        let zeros = "30".repeat(31);
        let wanted = format!(
            "CALL `baton_beat`(_utf8mb4 x'27225c20c3a4',x'00ff',18446744073709551615,NULL,1,\
             _ascii x'{zeros}31')"
        );
        assert_eq!(statement.text(), wanted);
    }
}
