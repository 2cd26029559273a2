//! The servers, the user, and the names of tables: the URL's options.

use std::time::Duration;

use crate::OpenError;
use crate::address::{Address, AddressError};
use crate::driver::all_shown;
use crate::tls::{TlsFiles, TlsMode};

/// What a URL looks like.
const EXAMPLE: &str = "postgres://user@host:5432/database";

/// The port, if none is given.
const PORT: u16 = 5_432;

/// The values of the option `tls`, the default first.
const TLS_MODES: [(&str, TlsMode); 4] = [
    ("prefer", TlsMode::Prefer),
    ("off", TlsMode::Off),
    ("require", TlsMode::Require),
    ("verify", TlsMode::Verify),
];

/// The longest prefix: with the longest name after it, it still fits a name of PostgreSQL's.
const PREFIX_MAX: usize = 40;

/// The longest name of PostgreSQL's.
const NAME_MAX: usize = 63;

/// What is between this process and the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pooler {
    /// Nothing that shares connections. A pooler is refused.
    None,
    /// A pooler that gives every client a session of its own until it disconnects.
    Session,
}

/// What a handle needs to know. Its `Debug` shows no secret.
#[derive(Clone, Debug)]
pub(super) struct PostgresConfig {
    /// Without a user, it is the one that the process runs as. Each host is tried in turn, and the
    /// first that can be written to is kept. The path is the database; without it, it is the one
    /// that is called like the user.
    pub(super) address: Address,
    /// The schema that the tables and functions are in.
    pub(super) schema: String,
    /// What their names begin with.
    pub(super) table_prefix: String,
    pub(super) tls: TlsMode,
    pub(super) tls_files: TlsFiles,
    pub(super) pooler: Pooler,
    /// How long a call may take, connecting included.
    pub(super) timeout: Duration,
    /// What the server's lists of sessions show.
    pub(super) application_name: String,
}

impl PostgresConfig {
    /// What a URL says, from what stands before and after `://`.
    pub(super) fn parse(scheme: &str, rest: &str) -> Result<Self, AddressError> {
        let (address, mut options) = Address::parse(scheme, rest, EXAMPLE, PORT)?;
        let schema = options.take("schema").unwrap_or_else(|| "public".to_owned());
        let table_prefix = options.take("table_prefix").unwrap_or_else(|| "baton_".to_owned());
        let wanted = |max| format!("give 1 to {max} of a-z, 0-9 and '_', no digit first");
        if !is_plain(&schema, NAME_MAX) {
            return Err(options.wrong("schema", &schema, &wanted(NAME_MAX)));
        }
        if !is_plain(&table_prefix, PREFIX_MAX) {
            return Err(options.wrong("table_prefix", &table_prefix, &wanted(PREFIX_MAX)));
        }
        let tls_files = TlsFiles::take(&mut options)?;
        let wanted = "give off, prefer, require or verify";
        let tls = TlsMode::take(&mut options, &tls_files, &TLS_MODES, wanted)?;
        let pooler = match options.take("pooler").as_deref() {
            None | Some("none") => Pooler::None,
            Some("session") => Pooler::Session,
            Some(other) => return Err(options.wrong("pooler", other, "give none or session")),
        };
        let timeout = options.timeout()?;
        let application_name = options.take("application_name");
        options.finish()?;
        Ok(Self {
            address,
            schema,
            table_prefix,
            tls,
            tls_files,
            pooler,
            timeout,
            application_name: application_name.unwrap_or_else(|| "baton".to_owned()),
        })
    }

    /// What the names of tables and functions begin with, schema included.
    pub(super) fn names(&self) -> String {
        format!("{}.{}", self.schema, self.table_prefix)
    }

    /// Where, for messages.
    pub(super) fn place(&self) -> String {
        all_shown(&self.address.hosts)
    }
}

/// The URL as `tokio_postgres` and others take it.
pub(crate) fn client_url(scheme: &str, rest: &str) -> Result<String, OpenError> {
    let config = PostgresConfig::parse(scheme, rest)?;
    let sslmode = match config.tls {
        TlsMode::Prefer => None,
        TlsMode::Off => Some("sslmode=disable"),
        TlsMode::Require | TlsMode::Verify => Some("sslmode=require"),
    };
    let writable = (config.address.hosts.len() > 1).then_some("target_session_attrs=read-write");
    let options: Vec<&str> = sslmode.into_iter().chain(writable).collect();
    Ok(config.address.plain_url("postgres", &options))
}

/// May it stand in a statement as it is?
pub(super) fn is_plain(name: &str, max: usize) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let digit_first = name.bytes().next().is_none_or(|byte| byte.is_ascii_digit());
    !digit_first && name.len() <= max && name.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rest: &str) -> Result<PostgresConfig, AddressError> {
        PostgresConfig::parse("postgres", rest)
    }

    #[test]
    fn every_option_is_read_and_the_rest_has_defaults() {
        let plain = read("db").expect("a host is enough");
        assert_eq!(plain.address.hosts, [("db".to_owned(), 5_432)]);
        assert_eq!((plain.names().as_str(), plain.timeout.as_millis()), ("public.baton_", 1_500));
        assert_eq!((plain.tls, plain.address.path.as_str()), (TlsMode::Prefer, ""));
        let full = "me:hush@a:1,b/app?table_prefix=helix_&schema=ops&tls_ca=/ca&timeout_ms=9";
        let full = read(full).expect("it is sound");
        assert_eq!(full.place(), "a:1,b:5432");
        assert_eq!((full.names().as_str(), full.tls), ("ops.helix_", TlsMode::Verify));
        assert!(!format!("{full:?}").contains("hush"));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let cases = [
            ("db?tls=yes", "postgres option tls is \"yes\"; give off, prefer, require or verify"),
            ("db?pooler=transaction", "postgres option pooler is \"transaction\"; give none or"),
            ("db?table_prefix=a-b", "postgres option table_prefix is \"a-b\"; give 1 to 40 of a-z"),
            ("db?schema=1x", "postgres option schema is \"1x\"; give 1 to 63 of a-z, 0-9 and '_'"),
            ("db?colour=red", "postgres option \"colour\" is unknown; known are "),
        ];
        for (rest, wanted) in cases {
            let message = read(rest).expect_err("must be refused").to_string();
            assert!(message.starts_with(wanted), "{rest} gave {message:?}");
        }
    }
}
