//! Data for stdout. A reader that leaves early, such as `head`, ends the program quietly.

use std::io::Write as _;

/// The exit code of a program that a closed pipe ended, as shells know it.
const PIPE_CLOSED: i32 = 141;

/// Writes text as it is.
pub fn print_text(text: &str) {
    let mut stdout = std::io::stdout().lock();
    if stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_err() {
        std::process::exit(PIPE_CLOSED);
    }
}

/// Writes a report as JSON.
pub fn print_json(report: &impl serde::Serialize) {
    let text = serde_json::to_string_pretty(report).expect("plain data has a JSON form");
    print_line!("{text}");
}

/// The name of a plain value, as JSON has it.
pub fn name_of(value: &impl serde::Serialize) -> String {
    let name = serde_json::to_value(value).expect("a plain name");
    name.as_str().unwrap_or_default().to_owned()
}

/// Writes a line.
macro_rules! print_line {
    () => { $crate::commands::print::print_text("\n") };
    ($($arguments:tt)*) => {
        $crate::commands::print::print_text(&format!("{}\n", format_args!($($arguments)*)))
    };
}

pub(crate) use print_line;
