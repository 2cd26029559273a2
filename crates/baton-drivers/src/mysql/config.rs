//! The servers, the user, and the names of tables: the URL's options.

use std::time::Duration;

use crate::OpenError;
use crate::address::{Address, AddressError};
use crate::driver::shown;
use crate::tls::{TlsFiles, TlsMode};

/// What a URL looks like.
const EXAMPLE: &str = "mysql://user@host:3306/database";

const PORT: u16 = 3306;

/// The values of the option `tls`, the default first.
const TLS_MODES: [(&str, TlsMode); 3] =
    [("off", TlsMode::Off), ("require", TlsMode::Require), ("verify", TlsMode::Verify)];

/// What the names of tables may begin with.
pub(super) const PREFIXES: &str = "1 to 40 letters, digits or '_'";

/// A table's name may have 64 characters, and the longest of ours takes 14 of them.
pub(super) fn is_prefix(prefix: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (1..=40).contains(&prefix.len()) && prefix.chars().all(allowed)
}

/// What a handle needs to know. Plain data.
#[derive(Clone, Debug)]
pub(super) struct MysqlConfig {
    /// The hosts are tried in turn; its path is the database that the tables are in.
    pub(super) address: Address,
    /// What the names of tables and procedures begin with.
    pub(super) prefix: String,
    pub(super) timeout: Duration,
    pub(super) tls: TlsMode,
    pub(super) tls_files: TlsFiles,
}

impl MysqlConfig {
    /// What follows `mysql://` or `mariadb://` in a URL.
    pub(super) fn parse(scheme: &str, rest: &str) -> Result<Self, AddressError> {
        let (address, mut options) = Address::parse(scheme, rest, EXAMPLE, PORT)?;
        let prefix = options.take("table_prefix").unwrap_or_else(|| "baton_".to_owned());
        if !is_prefix(&prefix) {
            return Err(options.wrong("table_prefix", &prefix, &format!("give {PREFIXES}")));
        }
        let timeout = options.timeout()?;
        let tls_files = TlsFiles::take(&mut options)?;
        let wanted = "give off, require or verify";
        let tls = TlsMode::take(&mut options, &tls_files, &TLS_MODES, wanted)?;
        if tls == TlsMode::Off && tls_files.any() {
            return Err(options.wrong("tls", "off", "leave tls_ca, tls_cert and tls_key out"));
        }
        if address.path.is_empty() || address.path.contains(['/', '`']) {
            let wanted = format!("name one after the host, as in {EXAMPLE}");
            return Err(options.wrong("database", &address.path, &wanted));
        }
        options.finish()?;
        Ok(Self { address, prefix, timeout, tls, tls_files })
    }

    /// Where a host's tables are, for messages.
    pub(super) fn place(&self, host: &(String, u16)) -> String {
        format!("{}/{}", shown(host), self.address.path)
    }
}

/// The URL as `mysql_async` takes it: of the first host.
pub(crate) fn client_url(scheme: &str, rest: &str) -> Result<String, OpenError> {
    let mut config = MysqlConfig::parse(scheme, rest)?;
    let options: &[&str] = match config.tls {
        TlsMode::Off | TlsMode::Prefer => &[],
        TlsMode::Require => &["require_ssl=true", "verify_ca=false", "verify_identity=false"],
        TlsMode::Verify => &["require_ssl=true"],
    };
    config.address.hosts.truncate(1);
    Ok(config.address.plain_url("mysql", options))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rest: &str) -> Result<MysqlConfig, AddressError> {
        MysqlConfig::parse("mysql", rest)
    }

    #[test]
    fn a_location_is_hosts_a_database_and_options() {
        let config = read("me:hush@db-1,db-2:3307/app?table_prefix=helix_&timeout_ms=250");
        let config = config.expect("it is sound");
        assert_eq!(config.address.hosts, [("db-1".to_owned(), 3306), ("db-2".to_owned(), 3307)]);
        assert_eq!((config.address.path.as_str(), config.prefix.as_str()), ("app", "helix_"));
        assert_eq!(config.timeout, Duration::from_millis(250));
        assert_eq!(config.tls, TlsMode::Off);
        assert!(!format!("{config:?}").contains("hush"));
        assert_eq!(read("db/app?tls_ca=ca.pem").expect("it is sound").tls, TlsMode::Verify);
    }

    #[test]
    fn what_is_wrong_with_a_location_is_said() {
        let cases = [
            ("db", "mysql option database is \"\"; name one after the host, as in mysql://"),
            ("db/a?table_prefix=a-b", "mysql option table_prefix is \"a-b\"; give 1 to 40 "),
            ("db/a?table_prefix=", "mysql option table_prefix is \"\"; give 1 to 40 "),
            ("db/a?tls=on", "mysql option tls is \"on\"; give off, require or verify"),
            ("db/a?tls=off&tls_ca=x", "mysql option tls is \"off\"; leave tls_ca, tls_cert and"),
            ("db/a?timeout_ms=0", "mysql option timeout_ms is \"0\"; give whole milliseconds"),
            ("db/a?colour=red", "mysql option \"colour\" is unknown; known are "),
        ];
        for (rest, wanted) in cases {
            let message = read(rest).expect_err("must be refused").to_string();
            assert!(message.starts_with(wanted), "{rest} gave {message:?}");
        }
    }
}
