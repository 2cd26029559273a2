//! The servers there are, and how each is called.

use std::net::SocketAddr;
use std::str::FromStr;

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

/// A server that the testbed can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// PostgreSQL, as Debian has it.
    Postgres,
    /// PostgreSQL 18, from npm.
    Postgres18,
    /// MariaDB, as Debian has it.
    Mariadb,
    /// Redis, as Debian has it.
    Redis,
    /// etcd, as Debian has it.
    Etcd,
    /// S3 by MiniStack, from PyPI.
    Ministack,
    /// MySQL by Oracle, as Debian's unstable suite has it.
    Mysql,
    /// S3 by SeaweedFS, from PyPI.
    Seaweedfs,
    /// ZooKeeper, as Debian has it: something to compare with.
    Zookeeper,
    /// PgBouncer, as Debian has it. Its arguments are lines of its settings, and must say which
    /// PostgreSQL is behind it.
    Pgbouncer,
}

impl Kind {
    /// Those that the test suite needs.
    pub const SUITE: [Self; 5] =
        [Self::Postgres, Self::Mariadb, Self::Redis, Self::Etcd, Self::Ministack];

    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Postgres,
        Self::Postgres18,
        Self::Mariadb,
        Self::Redis,
        Self::Etcd,
        Self::Ministack,
        Self::Mysql,
        Self::Seaweedfs,
        Self::Zookeeper,
        Self::Pgbouncer,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Postgres18 => "postgres18",
            Self::Mariadb => "mariadb",
            Self::Redis => "redis",
            Self::Etcd => "etcd",
            Self::Ministack => "ministack",
            Self::Mysql => "mysql",
            Self::Seaweedfs => "seaweedfs",
            Self::Zookeeper => "zookeeper",
            Self::Pgbouncer => "pgbouncer",
        }
    }

    /// The environment variable that names a server to use instead. That for MySQL serves the
    /// tests of the driver, which run on MariaDB if nothing is said.
    pub fn variable(self) -> &'static str {
        match self {
            Self::Postgres => "BATON_TEST_POSTGRES_URL",
            Self::Postgres18 => "BATON_TEST_POSTGRES18_URL",
            Self::Mariadb => "BATON_TEST_MYSQL_URL",
            Self::Redis => "BATON_TEST_REDIS_URL",
            Self::Etcd => "BATON_TEST_ETCD_URL",
            Self::Ministack => "BATON_TEST_S3_URL",
            Self::Mysql => "BATON_TEST_ORACLE_MYSQL_URL",
            Self::Seaweedfs => "BATON_TEST_SEAWEEDFS_URL",
            Self::Zookeeper => "BATON_TEST_ZOOKEEPER_URL",
            Self::Pgbouncer => "BATON_TEST_PGBOUNCER_URL",
        }
    }

    /// What baton opens when such a server is at this address.
    pub fn url(self, address: SocketAddr) -> String {
        match self {
            Self::Postgres | Self::Postgres18 | Self::Pgbouncer => {
                format!("postgres://postgres@{address}/postgres")
            }
            Self::Mariadb | Self::Mysql => format!("mysql://root@{address}/baton"),
            Self::Redis => format!("redis://{address}/0"),
            Self::Etcd => format!("etcd://{address}"),
            Self::Zookeeper => format!("zookeeper://{address}"),
            Self::Ministack => format!(
                "s3://baton/test?endpoint=http://{address}&region=us-east-1&access_key=test\
                 &secret_key=test"
            ),
            // It takes seconds over the conditional writes of eight who race for one object.
            Self::Seaweedfs => format!("{}&timeout_ms=10000", Self::Ministack.url(address)),
        }
    }

    /// Does it refuse to run as the superuser?
    pub(super) fn is_unprivileged(self) -> bool {
        match self {
            Self::Postgres | Self::Postgres18 | Self::Pgbouncer => true,
            Self::Mariadb | Self::Mysql => true,
            Self::Redis | Self::Etcd | Self::Ministack | Self::Seaweedfs | Self::Zookeeper => false,
        }
    }

    /// What asks it to end in good order, soon.
    pub(super) fn end(self) -> Signal {
        match self {
            Self::Postgres | Self::Postgres18 => Signal::INT,
            // It would take a quarter of a minute.
            Self::Seaweedfs => Signal::KILL,
            _ => Signal::TERM,
        }
    }

    /// How many ports it listens on.
    pub(super) fn ports(self) -> usize {
        match self {
            Self::Etcd => 2,
            Self::Seaweedfs => 8,
            _ => 1,
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        let names = Self::ALL.map(Self::name).join(", ");
        found.ok_or_else(|| format!("there is no server {text:?}; there are {names}"))
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn every_kind_is_found_by_its_name_and_nothing_else_is() {
        for kind in Kind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        let refused = "oracle".parse::<Kind>().expect_err("it is none");
        assert!(refused.starts_with("there is no server \"oracle\"; there are postgres, "));
    }
}
