//! What clap has to complain about, on one line.

use clap::error::{ContextValue, ErrorKind};

/// Is this no complaint but what was asked for: a help text or the version?
pub fn is_help_or_version(error: &clap::Error) -> bool {
    matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion)
}

/// The complaint with clap's advice, without the usage that follows it. A word that may be a
/// store's URL, given in the wrong place, is not repeated.
pub fn one_line(error: &clap::Error) -> String {
    let mut rendered = error.render().to_string();
    for (_, value) in error.context() {
        let words: &[String] = match value {
            ContextValue::String(word) => std::slice::from_ref(word),
            ContextValue::Strings(words) => words,
            _ => &[],
        };
        for word in words.iter().filter(|word| word.contains([':', '@', '/', '%', '?'])) {
            rendered = rendered.replace(word.as_str(), "***");
        }
    }
    let mut line = String::new();
    for part in rendered.lines().map(str::trim).filter(|part| !part.is_empty()) {
        if part.starts_with("Usage:") || part.starts_with("For more information") {
            break;
        }
        let part = part.trim_start_matches("error: ").trim_start_matches("tip: ");
        if !line.is_empty() {
            line.push_str(if line.ends_with(':') { " " } else { "; " });
        }
        line.push_str(part);
    }
    line.push_str("; see --help");
    line
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn complaints_fit_on_one_line_and_keep_the_advice() {
        let cases: [(&[&str], &str); 4] = [
            (&["baton", "serve", "--leese-timeout", "5s"], "--lease-timeout"),
            (&["baton", "statsu"], "'status'"),
            (&["baton", "transfer"], "--to <NODE>"),
            (&["baton", "completions", "tcl"], "bash"),
        ];
        for (arguments, expected) in cases {
            let line = one_line(&Cli::try_parse_from(arguments).err().expect("a mistake"));
            assert_eq!(line.lines().count(), 1, "{line}");
            assert!(line.contains(expected), "{line}");
        }
    }

    #[test]
    fn a_url_in_the_wrong_place_is_not_repeated() {
        let url = "postgres://me:hush@db/x";
        let cases: [&[&str]; 6] = [
            &["baton", "status", url],
            &["baton", url],
            &["baton", "status", "--sotre", url],
            &["baton", "status", &format!("--sotre={url}")],
            &["baton", "watch", "--interval", url],
            &["baton", "history", &format!("--limit={url}")],
        ];
        for arguments in cases {
            let line = one_line(&Cli::try_parse_from(arguments).err().expect("a mistake"));
            assert!(!line.contains("hush"), "{line}");
        }
    }
}
