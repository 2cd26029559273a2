//! The servers there are, and how each is called.

use std::net::SocketAddr;

/// A server that the testbed can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// PostgreSQL, as Debian has it.
    Postgres,
    /// MariaDB, as Debian has it.
    Mariadb,
    /// Redis, as Debian has it.
    Redis,
    /// etcd, as Debian has it.
    Etcd,
    /// S3 by MiniStack, from PyPI.
    Ministack,
}

impl Kind {
    /// Those that the test suite needs.
    pub const SUITE: [Self; 5] =
        [Self::Postgres, Self::Mariadb, Self::Redis, Self::Etcd, Self::Ministack];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Mariadb => "mariadb",
            Self::Redis => "redis",
            Self::Etcd => "etcd",
            Self::Ministack => "ministack",
        }
    }

    /// The environment variable that names a server to use instead.
    pub fn variable(self) -> Option<&'static str> {
        match self {
            Self::Postgres => Some("BATON_TEST_POSTGRES_URL"),
            Self::Mariadb => Some("BATON_TEST_MYSQL_URL"),
            Self::Redis => Some("BATON_TEST_REDIS_URL"),
            Self::Etcd => Some("BATON_TEST_ETCD_URL"),
            Self::Ministack => Some("BATON_TEST_S3_URL"),
        }
    }

    /// What baton opens when such a server is at this address.
    pub fn url(self, address: SocketAddr) -> String {
        match self {
            Self::Postgres => format!("postgres://postgres@{address}/postgres"),
            Self::Mariadb => format!("mysql://root@{address}/baton"),
            Self::Redis => format!("redis://{address}/0"),
            Self::Etcd => format!("etcd://{address}"),
            Self::Ministack => format!(
                "s3://baton/test?endpoint=http://{address}&region=us-east-1&access_key=test\
                 &secret_key=test"
            ),
        }
    }

    /// Does it refuse to run as the superuser?
    pub(super) fn is_unprivileged(self) -> bool {
        matches!(self, Self::Postgres | Self::Mariadb)
    }

    /// How many ports it listens on.
    pub(super) fn ports(self) -> usize {
        match self {
            Self::Etcd => 2,
            _ => 1,
        }
    }
}
