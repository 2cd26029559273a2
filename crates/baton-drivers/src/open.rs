//! From a URL to a store.

use std::sync::Arc;

use baton_store::clock::SystemClock;
use baton_store::memory::{MemoryConfig, MemoryStore};
use baton_store::{Capability, Class, Declaration, ExpiryClock, Store};

/// What a URL may begin with in this version.
const KNOWN: &str = "sqlite:// and memory://";

/// Stores that have a name and no driver yet.
const NOT_BUILT: [&str; 7] = ["postgres", "postgresql", "mysql", "mariadb", "redis", "s3", "etcd"];

/// Why a store was not opened. One line, and it says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no `://` in it.
    #[error("store {url:?} has no scheme; known are {KNOWN}, as in sqlite://baton.db")]
    NoScheme {
        /// What was given.
        url: String,
    },
    /// No store goes by this scheme.
    #[error("store scheme {scheme:?} is unknown; known are {KNOWN}")]
    UnknownScheme {
        /// What was given.
        scheme: String,
    },
    /// The scheme is known, but its driver is not here.
    #[error("{scheme}:// is not built into this version; known are {KNOWN}")]
    NotBuilt {
        /// What was given.
        scheme: String,
    },
    /// There is more than the memory store knows what to do with.
    #[error("memory:// takes nothing after it, and {rest:?} was given; write memory://")]
    NotMemory {
        /// What was given after the scheme.
        rest: String,
    },
    /// The file cannot be used.
    #[cfg(feature = "sqlite")]
    #[error(transparent)]
    Sqlite(#[from] crate::sqlite::Refusal),
}

/// Opens the store that the URL names. Blocks for as long as opening a file takes.
///
/// ```
/// let refused = baton_drivers::open("redis://localhost").err().map(|error| error.to_string());
/// assert_eq!(
///     refused.as_deref(),
///     Some("redis:// is not built into this version; known are sqlite:// and memory://"),
/// );
/// ```
pub fn open(url: &str) -> Result<Arc<dyn Store>, OpenError> {
    let no_scheme = || OpenError::NoScheme { url: url.to_owned() };
    let (scheme, rest) = url.split_once("://").ok_or_else(no_scheme)?;
    match scheme {
        #[cfg(feature = "sqlite")]
        "sqlite" => {
            let config = crate::sqlite::SqliteConfig::from_location(rest)?;
            Ok(Arc::new(crate::sqlite::SqliteStore::open(config)?))
        }
        "memory" if rest.is_empty() => Ok(Arc::new(memory())),
        "memory" => Err(OpenError::NotMemory { rest: rest.to_owned() }),
        #[cfg(not(feature = "sqlite"))]
        "sqlite" => Err(OpenError::NotBuilt { scheme: scheme.to_owned() }),
        scheme if NOT_BUILT.contains(&scheme) => {
            Err(OpenError::NotBuilt { scheme: scheme.to_owned() })
        }
        scheme => Err(OpenError::UnknownScheme { scheme: scheme.to_owned() }),
    }
}

/// A store that nobody else can see, empty at first.
fn memory() -> MemoryStore {
    let declaration = Declaration {
        name: "memory".to_owned(),
        class: Class::SingleServer,
        expiry: ExpiryClock::Store,
        capabilities: [Capability::Push, Capability::MemberAge].into(),
    };
    MemoryStore::new(MemoryConfig { declaration }, Arc::new(SystemClock))
}

#[cfg(test)]
mod tests {
    use super::open;

    #[test]
    fn what_cannot_be_opened_is_told_with_what_can() {
        let cases = [
            ("baton.db", "store \"baton.db\" has no scheme; known are sqlite:// and memory://"),
            ("oracle://x", "store scheme \"oracle\" is unknown; known are sqlite://"),
            ("etcd://x", "etcd:// is not built into this version; known are sqlite://"),
            ("memory://x", "memory:// takes nothing after it, and \"x\" was given"),
        ];
        for (url, wanted) in cases {
            let message = open(url).err().expect("must be refused").to_string();
            assert!(message.starts_with(wanted), "{url} gave {message:?}");
        }
    }

    #[test]
    fn memory_is_a_store_of_its_own() {
        let store = open("memory://").expect("nothing can be in its way");
        assert_eq!(store.declaration().name, "memory");
    }
}
