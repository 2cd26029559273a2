//! The stores a bench can run on, and how they are chosen.

use std::fmt;

use clap::ValueEnum;

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StoreKind {
    Sqlite,
    Postgres,
    Mysql,
    Redis,
    Etcd,
    S3,
}

impl StoreKind {
    pub const ALL: [Self; 6] =
        [Self::Sqlite, Self::Postgres, Self::Mysql, Self::Redis, Self::Etcd, Self::S3];

    /// In tables and in the names of folders.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
            Self::Redis => "redis",
            Self::Etcd => "etcd",
            Self::S3 => "s3",
        }
    }

    /// The one of this name.
    pub fn by_name(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| format!("{name:?} is no store"))
    }

    /// The server it needs; a file needs none.
    pub fn server(self) -> Option<baton_testbed::Kind> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some(baton_testbed::Kind::Postgres),
            Self::Mysql => Some(baton_testbed::Kind::Mariadb),
            Self::Redis => Some(baton_testbed::Kind::Redis),
            Self::Etcd => Some(baton_testbed::Kind::Etcd),
            Self::S3 => Some(baton_testbed::Kind::Ministack),
        }
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
    /// etcd
    Etcd,
    /// S3, by MiniStack
    S3,
    /// Every one of them
    All,
}

impl Choice {
    fn stores(self) -> Vec<StoreKind> {
        match self {
            Self::Sqlite => vec![StoreKind::Sqlite],
            Self::Postgres => vec![StoreKind::Postgres],
            Self::Mysql => vec![StoreKind::Mysql],
            Self::Redis => vec![StoreKind::Redis],
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
    }

    #[test]
    fn every_store_but_the_file_has_a_server() {
        let without = StoreKind::ALL.into_iter().filter(|kind| kind.server().is_none());
        assert_eq!(without.collect::<Vec<_>>(), [StoreKind::Sqlite]);
    }
}
