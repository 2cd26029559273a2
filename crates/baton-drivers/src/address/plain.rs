//! A URL put together again, for clients that know nothing of baton's options.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::Secret;
use crate::driver::all_shown;

/// What every client reads of a URL.
pub(crate) struct PlainUrl<'a> {
    pub(crate) scheme: &'a str,
    pub(crate) user: Option<&'a str>,
    pub(crate) password: Option<&'a Secret>,
    pub(crate) hosts: &'a [(String, u16)],
    pub(crate) path: Option<&'a str>,
    /// Those that the client knows, each with its value.
    pub(crate) options: Vec<&'static str>,
}

impl PlainUrl<'_> {
    /// The whole of it, secrets included.
    pub(crate) fn text(&self) -> String {
        let user = self.user.map_or_else(String::new, escaped);
        let login = match self.password {
            Some(password) => format!("{user}:{}@", escaped(password.reveal())),
            None if user.is_empty() => user,
            None => format!("{user}@"),
        };
        let hosts = all_shown(self.hosts);
        let path = self.path.map_or_else(String::new, |path| format!("/{}", escaped(path)));
        let mark = if self.options.is_empty() { "" } else { "?" };
        format!("{}://{login}{hosts}{path}{mark}{}", self.scheme, self.options.join("&"))
    }
}

fn escaped(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
