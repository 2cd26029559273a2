//! A URL put together again, for clients that know nothing of baton's options.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::Secret;
use crate::driver::all_shown;

/// What every client reads of a URL, secrets included; of the options those that the client knows,
/// each with its value.
pub(crate) fn plain_url(
    scheme: &str,
    (user, password): (&Option<String>, &Option<Secret>),
    hosts: &[(String, u16)],
    path: Option<&str>,
    options: &[&str],
) -> String {
    let user = user.as_deref().map_or_else(String::new, escaped);
    let login = match password {
        Some(password) => format!("{user}:{}@", escaped(password.reveal())),
        None if user.is_empty() => user,
        None => format!("{user}@"),
    };
    let path = path.map_or_else(String::new, |path| format!("/{}", escaped(path)));
    let mark = if options.is_empty() { "" } else { "?" };
    format!("{scheme}://{login}{}{path}{mark}{}", all_shown(hosts), options.join("&"))
}

fn escaped(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
