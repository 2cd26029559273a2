//! A store's URL for a client of the user's own: the same server or file, without what only baton
//! reads.

use crate::OpenError;
use crate::open::split_scheme;

/// The URL of the same server or file as another client takes it: without baton's own options, and
/// with the password that `password_env` or `password_file` names. **It holds the password**: show
/// [`shown`](crate::shown()) of it.
///
/// | store | for | what of the options stays |
/// |---|---|---|
/// | PostgreSQL | `tokio_postgres` and others | `tls` as `sslmode`; all hosts |
/// | MySQL | `mysql_async` | `tls` as `require_ssl`; the first host |
/// | Redis | `redis` | the first host |
/// | SQLite | the path is what follows `sqlite://` | |
///
/// Certificates (`tls_ca`, `tls_cert`, `tls_key`) are given to the client itself. For S3 there is
/// `s3::client`; memory and etcd have nothing that another client could take.
///
/// ```
/// # #[cfg(feature = "postgres")] {
/// let url = baton_drivers::client_url("postgres://app@db/app?timeout_ms=500&table_prefix=x_")?;
/// assert_eq!(url, "postgres://app@db:5432/app");
/// # }
/// # Ok::<(), baton_drivers::OpenError>(())
/// ```
pub fn client_url(url: &str) -> Result<String, OpenError> {
    let (scheme, rest) = split_scheme(url)?;
    match scheme {
        #[cfg(feature = "sqlite")]
        "sqlite" => {
            let config = crate::sqlite::SqliteConfig::parse(rest)?;
            Ok(format!("sqlite://{}", config.path.display()))
        }
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => crate::postgres::client_url(scheme, rest),
        #[cfg(feature = "mysql")]
        "mysql" | "mariadb" => crate::mysql::client_url(scheme, rest),
        #[cfg(feature = "redis")]
        "redis" | "rediss" => crate::redis::client_url(scheme, rest),
        scheme => {
            let remedy = match scheme {
                "s3" => "take the client of baton_drivers::s3::client",
                _ => "configure the client by itself",
            };
            Err(OpenError::NoClientUrl { scheme: scheme.to_owned(), remedy })
        }
    }
}

#[cfg(all(test, feature = "postgres", feature = "mysql", feature = "redis", feature = "sqlite"))]
mod tests {
    use super::*;

    #[test]
    fn what_only_baton_reads_is_left_out() {
        let folder = tempfile::tempdir().expect("there is room");
        let file = folder.path().join("password");
        std::fs::write(&file, "p@ss/word\n").expect("it can be written");
        let kept = format!("postgres://me@db/app?password_file={}&schema=ops", file.display());
        let cases = [
            ("sqlite:///a/b.db?busy_timeout_ms=5", "sqlite:///a/b.db"),
            ("postgres://db", "postgres://db:5432"),
            (
                "postgresql://me:a%40b@a:1,[::1]/app?tls=require&timeout_ms=9",
                "postgres://me:a%40b@a:1,[::1]:5432/app?sslmode=require\
                 &target_session_attrs=read-write",
            ),
            (kept.as_str(), "postgres://me:p%40ss%2Fword@db:5432/app"),
            ("mariadb://me@a,b/app?timeout_ms=9", "mysql://me@a:3306/app"),
            ("mysql://a/app?tls=verify", "mysql://a:3306/app?require_ssl=true"),
            ("rediss://:hush@c/3?prefix=x:&timeout_ms=9", "rediss://:hush@c:6379/3"),
        ];
        for (url, wanted) in cases {
            assert_eq!(client_url(url).expect("it is sound"), wanted, "{url}");
        }
    }

    #[test]
    fn clients_take_what_is_left() {
        let url = "postgres://me:p%40ss@a:1,b/app?tls=off&timeout_ms=9&application_name=x";
        let postgres = client_url(url).expect("it is sound");
        let postgres: tokio_postgres::Config = postgres.parse().expect("it is a URL of theirs");
        assert_eq!(postgres.get_password(), Some(&b"p@ss"[..]));
        assert_eq!((postgres.get_hosts().len(), postgres.get_ports()), (2, &[1, 5432][..]));
        let mysql = client_url("mysql://me@db/a-b?tls=require&timeout_ms=9").expect("it is sound");
        let mysql = mysql_async::Opts::from_url(&mysql).expect("it is a URL of theirs");
        assert_eq!((mysql.db_name(), mysql.ssl_opts().is_some()), (Some("a-b"), true));
        let cache = client_url("redis://me:p%40@[::1]/2?timeout_ms=9").expect("it is sound");
        assert!(::redis::Client::open(cache).is_ok());
    }

    #[test]
    fn what_no_other_client_takes_is_refused() {
        let cases = [
            (
                "s3://bucket",
                "s3:// has no URL for another client; take the client of baton_drivers",
            ),
            (
                "memory://",
                "memory:// has no URL for another client; configure the client by itself",
            ),
            ("postgres://db?colour=red", "postgres option \"colour\" is unknown; known are "),
            ("app.db", "the store's URL has no scheme before ://; known are "),
        ];
        for (url, wanted) in cases {
            let message = client_url(url).expect_err("must be refused").to_string();
            assert!(message.starts_with(wanted), "{url} gave {message:?}");
        }
    }
}
