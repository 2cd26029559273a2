//! What was found when a store, its server or its surroundings were looked at.

use serde::{Deserialize, Serialize};

/// How bad it is, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingLevel {
    /// As it should be.
    Ok,
    /// It works, and deserves a look.
    Warn,
    /// It does not work.
    Fail,
}

impl FindingLevel {
    /// For people, all of a length.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok  ",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One thing looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at.
    pub check: &'static str,
    /// How bad it is.
    pub verdict: FindingLevel,
    /// What was found.
    pub detail: String,
    /// What to do about it.
    pub remedy: Option<String>,
}

impl Finding {
    /// All is well.
    pub fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, verdict: FindingLevel::Ok, detail: detail.into(), remedy: None }
    }

    /// Works, with a warning.
    pub fn warn(check: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        let remedy = Some(remedy.into());
        Self { check, verdict: FindingLevel::Warn, detail: detail.into(), remedy }
    }

    /// It does not work.
    pub fn fail(check: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        let remedy = Some(remedy.into());
        Self { check, verdict: FindingLevel::Fail, detail: detail.into(), remedy }
    }

    /// A warning if something is wrong; otherwise all is well, and nothing is to be done.
    pub fn warn_if(
        is_wrong: bool,
        check: &'static str,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        match is_wrong {
            true => Self::warn(check, detail, remedy),
            false => Self::ok(check, detail),
        }
    }
}
