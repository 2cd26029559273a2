//! The store's URL: where it is by default, what of it may be shown, which file it names.

use std::fmt;
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::error::ConfigError;

const SQLITE: &str = "sqlite://";

/// Where a store is. Shown without its password.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreUrl(String);

impl StoreUrl {
    /// What somebody gave.
    pub fn new(url: &str) -> Self {
        Self(url.to_owned())
    }

    /// A file in the user's state folder.
    pub fn default_for(environment: &Environment) -> Result<Self, ConfigError> {
        let state = environment.get("XDG_STATE_HOME").map(PathBuf::from);
        let state = state.filter(|folder| folder.is_absolute());
        let home = environment.get("HOME").map(|home| Path::new(home).join(".local/state"));
        let folder = state.or(home).ok_or(ConfigError::NoHome)?.join("baton");
        Ok(Self(format!("{SQLITE}{}", folder.join("baton.db").display())))
    }

    /// With the password, for the driver alone.
    pub fn with_secrets(&self) -> &str {
        &self.0
    }

    /// The file it names, if it names one.
    pub fn file(&self) -> Option<&Path> {
        let rest = self.0.strip_prefix(SQLITE)?;
        Some(Path::new(rest.split_once('?').map_or(rest, |(path, _)| path)))
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (url, options) = match self.0.split_once('?') {
            Some((url, options)) => (url, Some(options)),
            None => (self.0.as_str(), None),
        };
        let address = url.split_once("://").filter(|(_, rest)| rest.contains('@'));
        match address.and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?))) {
            None => f.write_str(url)?,
            Some((scheme, (user, rest))) => {
                let name = user.split_once(':').map(|(name, _)| name);
                match name {
                    Some(name) => write!(f, "{scheme}://{name}:***@{rest}")?,
                    None => write!(f, "{scheme}://{user}@{rest}")?,
                }
            }
        }
        let Some(options) = options else {
            return Ok(());
        };
        let shown: Vec<String> = options.split('&').map(without_secret).collect();
        write!(f, "?{}", shown.join("&"))
    }
}

fn without_secret(option: &str) -> String {
    let secret = |name: &str| {
        let name = name.to_lowercase();
        ["pass", "secret", "token", "key"].iter().any(|word| name.contains(word))
    };
    match option.split_once('=') {
        Some((name, _)) if secret(name) => format!("{name}=***"),
        _ => option.to_owned(),
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        let cases = [
            ("sqlite:///a/b.db", "sqlite:///a/b.db"),
            ("postgres://me:se@cret@db:5432/x", "postgres://me:***@db:5432/x"),
            ("postgres://me@db/x?password=y&a=b", "postgres://me@db/x?password=***&a=b"),
            ("redis://:pw@cache", "redis://:***@cache"),
            ("s3://bucket?secret_key=abc", "s3://bucket?secret_key=***"),
        ];
        for (url, expected) in cases {
            assert_eq!(StoreUrl::new(url).to_string(), expected);
            assert_eq!(format!("{:?}", StoreUrl::new(url)), expected);
        }
    }

    #[test]
    fn the_default_is_in_the_state_folder() {
        let with = |pairs: &[(&str, &str)]| {
            let own = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
            StoreUrl::default_for(&pairs.iter().map(own).collect()).map(|url| url.0)
        };
        let home = with(&[("HOME", "/home/me"), ("XDG_STATE_HOME", "relative")]);
        assert_eq!(home.expect("a home"), "sqlite:///home/me/.local/state/baton/baton.db");
        let state = with(&[("HOME", "/home/me"), ("XDG_STATE_HOME", "/state")]);
        assert_eq!(state.expect("a state folder"), "sqlite:///state/baton/baton.db");
        assert!(matches!(with(&[]), Err(ConfigError::NoHome)));
    }

    #[test]
    fn the_file_is_found_in_the_url() {
        let file = |url| StoreUrl::new(url).file().map(Path::to_owned);
        assert_eq!(file("sqlite:///a/b.db?x=1"), Some(PathBuf::from("/a/b.db")));
        assert_eq!(file("sqlite://b.db"), Some(PathBuf::from("b.db")));
        assert_eq!(file("redis://cache"), None);
    }
}
