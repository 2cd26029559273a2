//! The stores a bench can run on, and how they are chosen.

use std::fmt;

use clap::ValueEnum;

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StoreKind {
    Sqlite,
    Postgres,
    Mysql,
    /// As it comes: synced once a second.
    Redis,
    /// One that syncs every write, and is known to.
    RedisAlways,
    Etcd,
    S3,
}

impl StoreKind {
    /// One of each driver.
    pub const ALL: [Self; 6] =
        [Self::Sqlite, Self::Postgres, Self::Mysql, Self::Redis, Self::Etcd, Self::S3];

    /// In tables and in the names of folders.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
            Self::Redis => "redis",
            Self::RedisAlways => "redis-always",
            Self::Etcd => "etcd",
            Self::S3 => "s3",
        }
    }

    /// The one of this name.
    pub fn by_name(name: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter().chain([Self::RedisAlways]);
        let found = all.find(|kind| kind.name() == name);
        found.ok_or_else(|| format!("{name:?} is no store"))
    }

    /// The server it needs; a file needs none.
    pub fn server(self) -> Option<baton_testbed::Kind> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some(baton_testbed::Kind::Postgres),
            Self::Mysql => Some(baton_testbed::Kind::Mariadb),
            Self::Redis | Self::RedisAlways => Some(baton_testbed::Kind::Redis),
            Self::Etcd => Some(baton_testbed::Kind::Etcd),
            Self::S3 => Some(baton_testbed::Kind::Ministack),
        }
    }

    /// What its server is started with, besides what every one is.
    pub fn arguments(self) -> &'static [&'static str] {
        match self {
            // A replica is copied to at once.
            Self::Redis => &["--repl-diskless-sync-delay", "0"],
            Self::RedisAlways => &["--repl-diskless-sync-delay", "0", "--appendfsync", "always"],
            _ => &[],
        }
    }

    /// The options of its URL.
    pub fn query(self) -> &'static str {
        if self == Self::RedisAlways { "?appendfsync=always" } else { "" }
    }
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What `--store` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// A file, without any server
    Sqlite,
    /// PostgreSQL
    Postgres,
    /// MariaDB
    Mysql,
    /// Redis
    Redis,
    /// Redis, every write of which is synced
    RedisAlways,
    /// etcd
    Etcd,
    /// S3, by MiniStack
    S3,
    /// All of them; of Redis the first
    All,
}

impl Choice {
    fn stores(self) -> Vec<StoreKind> {
        match self {
            Self::Sqlite => vec![StoreKind::Sqlite],
            Self::Postgres => vec![StoreKind::Postgres],
            Self::Mysql => vec![StoreKind::Mysql],
            Self::Redis => vec![StoreKind::Redis],
            Self::RedisAlways => vec![StoreKind::RedisAlways],
            Self::Etcd => vec![StoreKind::Etcd],
            Self::S3 => vec![StoreKind::S3],
            Self::All => StoreKind::ALL.to_vec(),
        }
    }
}

/// The stores that were chosen, each once and in the order of the tables.
pub fn chosen(choices: &[Choice]) -> Vec<StoreKind> {
    let mut stores: Vec<StoreKind> = choices.iter().flat_map(|choice| choice.stores()).collect();
    stores.sort();
    stores.dedup();
    stores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_every_store_and_none_comes_twice() {
        assert_eq!(chosen(&[Choice::All]), StoreKind::ALL);
        assert_eq!(chosen(&[Choice::Redis, Choice::All]), StoreKind::ALL);
        let two = [Choice::Redis, Choice::Sqlite, Choice::Redis];
        assert_eq!(chosen(&two), [StoreKind::Sqlite, StoreKind::Redis]);
        assert_eq!(chosen(&[Choice::All, Choice::RedisAlways]).len(), StoreKind::ALL.len() + 1);
    }

    #[test]
    fn every_store_but_the_file_has_a_server() {
        let without = StoreKind::ALL.into_iter().filter(|kind| kind.server().is_none());
        assert_eq!(without.collect::<Vec<_>>(), [StoreKind::Sqlite]);
    }
}
