//! From a URL to something that can be swept.

use std::sync::Arc;

use baton_store::sweep::Sweep;

use super::strategy::Strategy;
use super::target::{InvalidSweep, Target};
use crate::open::split_scheme;

/// A sweep of this target in the store that the URL names, which may be another one than the one
/// that baton coordinates through. Names are checked now; the server is connected to, and the table
/// looked at, by the first batch.
pub fn open(
    url: &str,
    target: impl Into<Target>,
    strategy: Strategy,
) -> Result<Arc<dyn Sweep>, InvalidSweep> {
    let (scheme, rest) = split_scheme(url)?;
    let target = target.into();
    if let Target::Table(table) = &target {
        table.check()?;
        strategy.check_for(table)?;
    }
    match (scheme, target) {
        #[cfg(feature = "sqlite")]
        ("sqlite", Target::Table(table)) => crate::sqlite::sweep(rest, table, strategy),
        #[cfg(feature = "postgres")]
        ("postgres" | "postgresql", Target::Table(table)) => {
            crate::postgres::sweep(scheme, rest, table, strategy)
        }
        #[cfg(feature = "mysql")]
        ("mysql" | "mariadb", Target::Table(table)) => {
            crate::mysql::sweep(scheme, rest, table, strategy)
        }
        #[cfg(feature = "redis")]
        ("redis" | "rediss", Target::Keys(keys)) => {
            crate::redis::sweep(scheme, rest, keys, strategy)
        }
        #[cfg(feature = "s3")]
        ("s3", Target::Objects(objects)) => crate::s3::sweep(scheme, rest, objects, strategy),
        (scheme, target) => Err(mismatch(scheme, &target)),
    }
}

/// Nothing of the kind can be swept there.
fn mismatch(scheme: &str, target: &Target) -> InvalidSweep {
    let given = match target {
        Target::Table(_) => "a table",
        Target::Keys(_) => "an index of keys",
        Target::Objects(_) => "a prefix of objects",
    };
    let holds = match scheme {
        "sqlite" | "postgres" | "postgresql" | "mysql" | "mariadb" => "tables",
        "redis" | "rediss" => "keys, which an index names",
        "s3" => "objects, which a prefix names",
        "memory" => "nothing of the user's",
        "etcd" => "keys with leases of their own, which need no sweeping",
        _ => "",
    };
    InvalidSweep::Kind { scheme: scheme.to_owned(), holds, given }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Keys, Objects, Table};
    use super::*;

    #[test]
    fn what_cannot_be_swept_is_told_before_anything_is_connected() {
        let table = || Target::from(Table::new("t"));
        let objects = || Target::from(Objects::under("tmp/", Duration::from_secs(1)));
        let cases = [
            ("app.db", table(), "the store's URL has no scheme before ://; known are "),
            ("oracle://x", table(), "the store's URL has an unknown scheme before ://; "),
            ("memory://", table(), "memory:// holds nothing of the user's, and a table was given"),
            ("etcd://x", Keys::by_index("i").into(), "etcd:// "),
        ];
        for (url, target, wanted) in cases {
            let refused = open(url, target, Strategy::Delete);
            let message = refused.err().expect("must be refused").to_string();
            assert!(message.starts_with(wanted), "{url} gave {message:?}");
        }
        #[cfg(feature = "sqlite")]
        {
            let refused = open("sqlite://x.db", objects(), Strategy::Delete);
            let message = refused.err().expect("must be refused").to_string();
            let wanted = "sqlite:// holds tables, and a prefix of objects was given to be swept";
            assert_eq!(message, wanted);
        }
        #[cfg(not(feature = "sqlite"))]
        assert!(open("sqlite://x.db", objects(), Strategy::Delete).is_err());
    }
}
