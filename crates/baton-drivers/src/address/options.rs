//! What stands after `?`: each option is taken by name, and what was not taken is refused.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::{AddressError, Secret, decoded};
use crate::url_parts::{is_path, is_plain_name, is_variable, options};

/// How long a call may take, if nothing else is said.
const TIMEOUT: Duration = Duration::from_millis(1_500);

/// Options by name. Each driver takes the ones it knows, then calls [`Options::finish`].
pub struct Options {
    scheme: String,
    given: BTreeMap<String, String>,
    known: Vec<String>,
}

impl Options {
    pub(super) fn parse(scheme: &str, query: &str) -> Result<Self, AddressError> {
        let mut given = BTreeMap::new();
        for (name, value) in options(query) {
            let name = decoded(scheme, name, "option")?;
            let value = decoded(scheme, value.unwrap_or_default(), "option")?;
            if given.insert(name.clone(), value).is_some() {
                let first = shown_name(&name);
                let second = first.clone();
                return Err(AddressError::Both { scheme: scheme.to_owned(), first, second });
            }
        }
        Ok(Self { scheme: scheme.to_owned(), given, known: Vec::new() })
    }

    /// The value of this option, if it was given.
    pub fn take(&mut self, name: &str) -> Option<String> {
        self.known.push(name.to_owned());
        self.given.remove(name)
    }

    /// The value of this option, read as a `T`; `wanted` says what it may be.
    pub fn parsed<T: FromStr>(
        &mut self,
        name: &'static str,
        wanted: &str,
    ) -> Result<Option<T>, AddressError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let read = value.parse().map(Some);
        read.map_err(|_| self.wrong(name, &value, wanted))
    }

    /// A span in whole milliseconds, at least 1.
    pub fn milliseconds(&mut self, name: &'static str) -> Result<Option<Duration>, AddressError> {
        const WANTED: &str = "give whole milliseconds, at least 1";
        let number: Option<u64> = self.parsed(name, WANTED)?;
        match number {
            Some(0) => Err(self.wrong(name, "0", WANTED)),
            number => Ok(number.map(Duration::from_millis)),
        }
    }

    /// How long a call may take, connecting included: the option `timeout_ms`.
    pub fn timeout(&mut self) -> Result<Duration, AddressError> {
        Ok(self.milliseconds("timeout_ms")?.unwrap_or(TIMEOUT))
    }

    /// A secret: given already, or under this name, or in the variable that `<name>_env` names, or
    /// in the file that `<name>_file` names, whose last line break is no part of it.
    pub fn secret(
        &mut self,
        name: &str,
        given: Option<Secret>,
    ) -> Result<Option<Secret>, AddressError> {
        let (in_variable, in_file) = (format!("{name}_env"), format!("{name}_file"));
        let mut found: Vec<(String, Secret)> = Vec::new();
        found.extend(given.map(|secret| ("the address's own".to_owned(), secret)));
        found.extend(self.take(name).map(|value| (name.to_owned(), Secret::new(value))));
        if let Some(variable) = self.take(&in_variable) {
            self.is_a_name(&in_variable, "a variable's name", is_variable(&variable))?;
            let value = std::env::var(&variable).map_err(|_| AddressError::NoVariable {
                scheme: self.scheme.clone(),
                name: in_variable.clone(),
                variable,
            })?;
            found.push((in_variable, Secret::new(value)));
        }
        if let Some(path) = self.take(&in_file) {
            self.is_a_name(&in_file, "a path with a '/'", is_path(&path))?;
            let text = std::fs::read_to_string(&path).map_err(|problem| AddressError::NoFile {
                scheme: self.scheme.clone(),
                name: in_file.clone(),
                path,
                problem: problem.to_string(),
            })?;
            let text = text.strip_suffix('\n').unwrap_or(&text);
            found.push((in_file, Secret::new(text.strip_suffix('\r').unwrap_or(text))));
        }
        if let [(first, _), (second, _), ..] = &found[..] {
            let (first, second) = (first.clone(), second.clone());
            return Err(AddressError::Both { scheme: self.scheme.clone(), first, second });
        }
        Ok(found.pop().map(|(_, secret)| secret))
    }

    /// What names a secret's place is repeated in messages; a secret put there must not be.
    fn is_a_name(&self, name: &str, wanted: &'static str, is: bool) -> Result<(), AddressError> {
        let (scheme, name) = (self.scheme.clone(), name.to_owned());
        if is { Ok(()) } else { Err(AddressError::NoName { scheme, name, wanted }) }
    }

    /// An error about the value of an option.
    pub fn wrong(&self, name: &'static str, value: &str, wanted: &str) -> AddressError {
        AddressError::Value {
            scheme: self.scheme.clone(),
            name,
            value: value.to_owned(),
            wanted: wanted.to_owned(),
        }
    }

    /// Refuses what was not taken.
    pub fn finish(self) -> Result<(), AddressError> {
        let Some((name, value)) = self.given.into_iter().next() else { return Ok(()) };
        let known = self.known.join(", ");
        let name = if value.is_empty() { shown_name("") } else { shown_name(&name) };
        Err(AddressError::UnknownOption { scheme: self.scheme, name, known })
    }
}

/// The name of an option for a message, unless it may be a piece of a password.
fn shown_name(name: &str) -> String {
    if is_plain_name(name) { format!("{name:?}") } else { "(not shown)".to_owned() }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.given.keys().map(|name| shown_name(name))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(query: &str) -> Options {
        Options::parse("redis", query).expect("it can be read")
    }

    #[test]
    fn a_secret_in_the_place_of_a_name_is_not_repeated() {
        for query in ["password_env=hush", "password_file=hush", "hush", "HUSH=1", "hush&hush"] {
            let mut some = match Options::parse("redis", query) {
                Ok(options) => options,
                Err(twice) => {
                    assert!(!twice.to_string().contains(": hush"), "{twice}");
                    continue;
                }
            };
            let message = some.secret("password", None).and_then(|_| some.finish());
            let message = message.expect_err(query).to_string().to_lowercase();
            assert!(!message.contains("hush"), "{message}");
        }
    }

    #[test]
    fn what_was_not_taken_is_refused_with_what_is_known() {
        let mut some = options("timeout_ms=5&tls_ca=x&colour=red");
        assert_eq!(some.milliseconds("timeout_ms"), Ok(Some(Duration::from_millis(5))));
        assert_eq!(some.take("tls_ca").as_deref(), Some("x"));
        let refused = some.finish().expect_err("the colour was not taken").to_string();
        assert_eq!(refused, "redis option \"colour\" is unknown; known are timeout_ms, tls_ca");
        assert_eq!(options("").finish(), Ok(()));
    }

    #[test]
    fn values_that_make_no_sense_and_doubles_are_named() {
        let wrong =
            |query| options(query).milliseconds("timeout_ms").expect_err("wrong").to_string();
        let wanted = "redis option timeout_ms is \"0\"; give whole milliseconds, at least 1";
        assert_eq!(wrong("timeout_ms=0"), wanted);
        assert!(wrong("timeout_ms=soon").contains("\"soon\""));
        assert!(matches!(Options::parse("redis", "a=1&a=2"), Err(AddressError::Both { .. })));
    }

    #[test]
    fn a_secret_comes_from_one_place() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("password");
        std::fs::write(&file, "hush\n").expect("it can be written");
        let query = format!("password_file={}", file.display());
        let read = options(&query).secret("password", None).expect("it can be read");
        assert_eq!(read.as_ref().map(Secret::reveal), Some("hush"));
        let home = options("password_env=PATH").secret("password", None).expect("it is set");
        assert_eq!(home.map(|it| it.reveal().to_owned()), std::env::var("PATH").ok());

        let twice = options(&query).secret("password", Some(Secret::new("x")));
        assert!(matches!(twice, Err(AddressError::Both { .. })), "{twice:?}");
        let unset = options("password_env=BATON_NO_SUCH").secret("password", None);
        assert!(unset.expect_err("not set").to_string().contains("BATON_NO_SUCH"));
        let missing = options("password_file=/no/such").secret("password", None);
        assert!(missing.expect_err("not there").to_string().contains("/no/such cannot be read"));
    }
}
