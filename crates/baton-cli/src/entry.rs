//! Where the program begins.

use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextValue, ErrorKind};

use crate::cli::Cli;
use crate::commands;
use crate::commands::{own, tick};
use crate::error::Exit;
use crate::output::log::{self, Format};
use crate::output::stdout;

/// Does what the command line asks for.
pub fn main() -> ExitCode {
    let arguments = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let variable = std::env::var("BATON_LOG_FORMAT").ok();
    log::begin(Format::guessed(arguments, variable.as_deref()));
    let first = std::env::args_os().nth(1);
    // The guard starts with every term, and has no use for a parser.
    #[cfg(target_os = "linux")]
    if first.as_ref().is_some_and(|argument| argument == "guard") {
        return crate::guard::run();
    }
    // What the demo and the benches start, and measure, does not read through all other commands.
    let rest = std::env::args_os().skip(1);
    let done = match first.as_ref().and_then(|word| word.to_str()) {
        Some("tick") => tick::Arguments::try_parse_from(rest).map(|ticks| tick::run(&ticks)),
        Some("own") => own::Arguments::try_parse_from(rest).map(|owner| own::run(&owner)),
        _ => Cli::try_parse().map(commands::run),
    };
    let exit = match done {
        Ok(done) => done.unwrap_or_else(|problem| {
            log::error(&problem.to_string());
            problem.exit()
        }),
        Err(answer)
            if matches!(answer.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) =>
        {
            stdout::text(&answer.render().ansi().to_string());
            Exit::DONE
        }
        Err(lost) if lost.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            eprint!("{}", lost.render());
            Exit::USAGE
        }
        Err(mistake) => {
            log::error(&one_line(&mistake));
            Exit::USAGE
        }
    };
    ExitCode::from(exit.0)
}

/// What clap has to complain about and to advise, on one line, without the usage that follows it. A
/// word that may be a store's URL, given in the wrong place, is not repeated.
fn one_line(error: &clap::Error) -> String {
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
    use super::*;

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
