//! Data for stdout. A reader that leaves early, such as `head`, ends the program quietly.

use std::io::{IsTerminal as _, Write as _};

use super::log;
use crate::exit::Exit;

/// Narrower than this, tables are cut rather than squeezed further.
const WIDTH_MIN: usize = 40;

/// Writes text. Colours are taken out unless stdout is a terminal and NO_COLOR is not set.
pub fn text(text: &str) {
    let mut stdout = anstream::stdout().lock();
    if stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_err() {
        std::process::exit(Exit::PipeClosed.code().into());
    }
}

/// Moves the terminal's cursor, whether or not colours are wanted.
pub fn control(sequence: &str) {
    let mut stdout = std::io::stdout().lock();
    if stdout.write_all(sequence.as_bytes()).is_err() {
        std::process::exit(Exit::PipeClosed.code().into());
    }
}

/// Writes a line.
pub fn line(line: &str) {
    text(&format!("{line}\n"));
}

/// Says something that is not data, on stderr.
pub fn aside(line: &str) {
    log::info(line);
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
