//! The table of conformance: every case on every store, from the reports that the tests wrote.
//!
//! ```text
//!   cargo test ──► target/conformance/<store>.json, one a store
//!   report: reads them ──► table: a row a case, a column a store ──► missing or failed: an error
//! ```

mod report;
mod table;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use report::Report;

/// A store of the table.
#[derive(Clone, Copy)]
struct Store {
    /// Its name, as it declares it.
    name: &'static str,
    /// The heading of its column.
    heading: char,
    /// Where its source is. A store without any is still to be written, and may be missing.
    source: &'static str,
}

const fn store(name: &'static str, heading: char, source: &'static str) -> Store {
    Store { name, heading, source }
}

/// Every store, in the order of the columns.
const STORES: [Store; 7] = [
    store("memory", 'm', "crates/baton-store/src/memory"),
    store("sqlite", 'q', "crates/baton-drivers/src/sqlite"),
    store("postgres", 'p', "crates/baton-drivers/src/postgres"),
    store("mysql", 'y', "crates/baton-drivers/src/mysql"),
    store("redis", 'r', "crates/baton-drivers/src/redis"),
    store("s3", 's', "crates/baton-drivers/src/s3"),
    store("etcd", 'e', "crates/baton-drivers/src/etcd"),
];

/// The environment variable that tells the tests where to write their reports.
pub const VARIABLE: &str = "BATON_CONFORMANCE_DIR";

/// Where the reports lie.
pub fn folder(root: &Path) -> PathBuf {
    root.join("target/conformance")
}

/// Removes the reports of the last run, so that none of them is taken for one of the next.
pub fn forget(root: &Path) -> Result<(), Failure> {
    let path = folder(root);
    match fs::remove_dir_all(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(|source| Failure::Unremovable { path, source }),
    }
}

/// Prints the table; an error if a case failed or a store is missing.
pub fn run(root: &Path) -> Result<(), Failure> {
    let mut columns = Vec::new();
    for store in STORES {
        columns.push((store, Report::read(&folder(root), store.name)?));
    }
    print!("{}", table::table(&columns));
    let missing = columns
        .iter()
        .filter(|(store, report)| report.is_none() && root.join(store.source).is_dir());
    let missing: Vec<&str> = missing.map(|(store, _)| store.name).collect();
    let failed = columns.iter().filter_map(|(_, report)| report.as_ref()).map(Report::failed).sum();
    match (missing.is_empty(), failed) {
        (true, 0) => Ok(()),
        _ => Err(Failure::NotConforming { missing: missing.join(", "), failed }),
    }
}

#[cfg(test)]
mod tests {
    use super::{STORES, forget, run};
    use crate::failure::Failure;
    use std::path::{Path, PathBuf};

    /// A folder that looks like a checkout with this driver's source.
    fn checkout(name: &str, driver: &str) -> PathBuf {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/conformance-tests");
        let root = root.join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(root.join("crates/baton-drivers/src").join(driver))
            .expect("the target folder can be written");
        root
    }

    #[test]
    fn a_store_that_has_a_driver_and_no_report_is_missing() {
        let root = checkout("missing", "redis");
        let failure = run(&root).expect_err("there is no report");
        assert!(
            matches!(failure, Failure::NotConforming { missing, failed: 0 } if missing == "redis")
        );
        let reports = super::folder(&root);
        std::fs::create_dir_all(&reports).expect("the target folder can be written");
        let report = r#"[{"theme":"renew","name":"a","verdict":"passed"}]"#;
        std::fs::write(reports.join("redis.json"), report).expect("it can be written");
        assert!(run(&root).is_ok());
        forget(&root).expect("it can be removed");
        forget(&root).expect("there is nothing left to remove");
        assert!(run(&root).is_err(), "the report of another run was taken");
        std::fs::remove_dir_all(&root).expect("it is this test's folder");
    }

    #[test]
    fn every_store_has_a_heading_of_its_own() {
        let mut headings = STORES.map(|store| store.heading).to_vec();
        headings.sort_unstable();
        headings.dedup();
        assert_eq!(headings.len(), STORES.len());
    }
}
