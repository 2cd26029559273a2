//! Data for stdout, as text for people or as JSON for programs. A reader that leaves early, such as
//! `head`, ends the program quietly.

use std::io::{IsTerminal as _, Write as _};

use serde::Serialize;

use crate::error::Exit;

/// Narrower than this, tables are cut rather than squeezed further.
const WIDTH_MIN: usize = 40;

/// Writes text. Colours are taken out unless stdout is a terminal and NO_COLOR is not set.
pub fn text(text: &str) {
    let mut stdout = anstream::stdout().lock();
    if stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_err() {
        std::process::exit(Exit::PIPE_CLOSED.0.into());
    }
}

/// Moves the terminal's cursor, whether or not colours are wanted.
pub fn control(sequence: &str) {
    let mut stdout = std::io::stdout().lock();
    if stdout.write_all(sequence.as_bytes()).is_err() {
        std::process::exit(Exit::PIPE_CLOSED.0.into());
    }
}

/// Writes a line.
pub fn line(line: &str) {
    text(&format!("{line}\n"));
}

/// Prints data as an indented JSON document, or as the text that people read instead.
pub fn json_or_text(as_json: bool, data: &impl Serialize, as_text: impl FnOnce() -> String) {
    match as_json {
        true => json(data),
        false => text(&as_text()),
    }
}

/// Prints an indented JSON document.
pub fn json(data: &impl Serialize) {
    line(&serde_json::to_string_pretty(data).expect("plain data has a JSON form"));
}

/// Prints JSON on one line.
pub fn json_line(data: &impl Serialize) {
    line(&serde_json::to_string(data).expect("plain data has a JSON form"));
}

/// Is stdout a screen that can be drawn on?
pub fn is_terminal() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// How wide the terminal is; `None` if stdout is none, so that nothing is cut off in a pipe.
pub fn width() -> Option<usize> {
    if !is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    let columns = size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    Some(columns.unwrap_or(80).max(WIDTH_MIN))
}

/// How many lines the terminal has.
pub fn height() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    size.map(|size| usize::from(size.ws_row)).filter(|rows| *rows > 0).unwrap_or(24)
}
