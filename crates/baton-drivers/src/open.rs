//! From a URL to a store.

use std::sync::Arc;

use baton_store::clock::SystemClock;
use baton_store::memory::MemoryStore;
use baton_store::{Capability, Class, Declaration, ExpiryClock, Store};

use crate::open_error::OpenError;
use crate::reader::{Access, Reader};

/// Every scheme, and the feature that its driver is built with.
const SCHEMES: [(&str, &str, bool); 10] = [
    ("sqlite", "sqlite", cfg!(feature = "sqlite")),
    ("postgres", "postgres", cfg!(feature = "postgres")),
    ("postgresql", "postgres", cfg!(feature = "postgres")),
    ("mysql", "mysql", cfg!(feature = "mysql")),
    ("mariadb", "mysql", cfg!(feature = "mysql")),
    ("redis", "redis", cfg!(feature = "redis")),
    ("rediss", "redis", cfg!(feature = "redis")),
    ("s3", "s3", cfg!(feature = "s3")),
    ("etcd", "etcd", cfg!(feature = "etcd")),
    ("memory", "memory", true),
];

/// What a URL may begin with in this build, each store by its first name.
pub(crate) fn known_stores() -> String {
    let mut stores: Vec<&str> = SCHEMES.iter().filter(|it| it.2).map(|it| it.1).collect();
    stores.dedup();
    stores.pop();
    format!("{} and memory, as in sqlite://baton.db", stores.join(", "))
}

/// Opens the store that the URL names: a file, or a server that must answer now.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(async {
/// let store = baton_drivers::open("memory://").await?;
/// assert_eq!(store.declaration().name, "memory");
/// # Ok::<(), baton_drivers::OpenError>(())
/// # }).expect("nothing is in its way");
/// ```
pub async fn open(url: &str) -> Result<Arc<dyn Store>, OpenError> {
    opened(url, Access::Write).await
}

/// Opens the store that the URL names, to look at it. Nothing is made or written, by the opening
/// or later, and the right to read is enough. A database, bucket or file must be there; if there is
/// nothing of baton's in it yet, every namespace is empty.
///
/// Calls that write are refused, and so are hints and
/// [`Backend::examine`](baton_store::Backend::examine). The embedded store reads on the caller's
/// thread.
pub async fn open_to_read(url: &str) -> Result<Arc<dyn Store>, OpenError> {
    Ok(Arc::new(Reader(opened(url, Access::Read).await?)))
}

async fn opened(url: &str, access: Access) -> Result<Arc<dyn Store>, OpenError> {
    let (scheme, rest) = split_scheme(url)?;
    match scheme {
        #[cfg(feature = "sqlite")]
        "sqlite" => {
            let config = crate::sqlite::SqliteConfig::parse(rest)?;
            Ok(match access {
                Access::Read => Arc::new(crate::sqlite::SqliteReader::open(config)?),
                Access::Write => Arc::new(crate::sqlite::SqliteStore::open(config)?),
            })
        }
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => crate::postgres::open(scheme, rest, access).await,
        #[cfg(feature = "mysql")]
        "mysql" | "mariadb" => crate::mysql::open(scheme, rest, access).await,
        #[cfg(feature = "redis")]
        "redis" | "rediss" => crate::redis::open(scheme, rest, access).await,
        #[cfg(feature = "s3")]
        "s3" => crate::s3::open(scheme, rest, access).await,
        #[cfg(feature = "etcd")]
        "etcd" => crate::etcd::open(scheme, rest, access).await,
        // It is empty, and gone with its handle, whatever may be done to it.
        "memory" if rest.is_empty() => Ok(Arc::new(memory())),
        _ => Err(OpenError::NotMemory),
    }
}

/// The scheme of a URL, for which this build has a store, and what follows it.
pub(crate) fn split_scheme(url: &str) -> Result<(&str, &str), OpenError> {
    let (scheme, rest) = url.split_once("://").ok_or(OpenError::NoScheme)?;
    match SCHEMES.iter().find(|(known, _, _)| *known == scheme) {
        Some((_, _, true)) => Ok((scheme, rest)),
        Some((_, feature, false)) => {
            Err(OpenError::NotBuilt { scheme: scheme.to_owned(), feature })
        }
        None => Err(OpenError::UnknownScheme),
    }
}

/// Is it the scheme of a store, built or not?
pub(crate) fn is_scheme(scheme: &str) -> bool {
    SCHEMES.iter().any(|(known, _, _)| *known == scheme)
}

/// A store that only its handle can see, empty at first: what `memory://` opens.
pub fn memory() -> MemoryStore {
    let capabilities = [Capability::Push, Capability::MemberAge, Capability::Counters].into();
    let (name, class) = ("memory".to_owned(), Class::SingleServer);
    let declaration = Declaration { name, class, expiry: ExpiryClock::Store, capabilities };
    MemoryStore::new(declaration, Arc::new(SystemClock))
}

#[cfg(test)]
mod tests {
    use super::open;

    #[tokio::test]
    async fn what_cannot_be_opened_is_told_with_what_can() {
        let cases = [
            ("baton.db", "the store's URL has no scheme before ://; known are "),
            ("oracle://x", "the store's URL has an unknown scheme before ://; known are "),
            ("memory://x", "memory:// takes no path and no options"),
        ];
        for (url, wanted) in cases {
            let message = open(url).await.expect_err("must be refused").to_string();
            assert!(message.starts_with(wanted), "{url} gave {message:?}");
        }
    }

    #[tokio::test]
    async fn memory_is_a_store_of_its_own() {
        let store = open("memory://").await.expect("nothing can be in its way");
        assert_eq!(store.declaration().name, "memory");
    }
}
