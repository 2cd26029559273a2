//! A wall clock that can be stepped: libfaketime, and the file that it reads the offset from.

use std::fs;
use std::path::Path;

use crate::error::{ErrorContext, TestbedError};
use crate::install::FAKETIME;

/// The environment of a program whose wall clock is ahead by what the file says. Its monotonic
/// clock is left alone. Installs the library if it is missing, which takes its time.
pub fn environment(file: &Path) -> Result<Vec<(&'static str, String)>, TestbedError> {
    Ok(vec![
        ("LD_PRELOAD", FAKETIME.find()?.display().to_string()),
        ("FAKETIME_TIMESTAMP_FILE", file.display().to_string()),
        ("FAKETIME_NO_CACHE", "1".to_owned()),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
    ])
}

/// Sets how far ahead the clock is. In one step: a reader never finds half a number.
pub fn write(file: &Path, seconds: i64) -> Result<(), TestbedError> {
    let new = file.with_extension("new");
    let written = fs::write(&new, format!("{seconds:+}\n")).and_then(|()| fs::rename(&new, file));
    written.context(|| format!("writing {}", file.display()))
}
