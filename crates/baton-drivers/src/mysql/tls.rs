//! TLS as the client library wants it.

use mysql_async::{ClientIdentity, SslOpts};

use super::config::MysqlConfig;
use crate::tls::TlsMode;

/// The options for the library; `None` for no TLS. Says which file is wrong, if one is.
pub(super) fn options(config: &MysqlConfig) -> Result<Option<SslOpts>, String> {
    if config.tls == TlsMode::Off {
        return Ok(None);
    }
    // The library takes the process's provider, and there is none where several are built in.
    // If one was chosen already, that one is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let files = &config.tls_files;
    // The library would read the files at every connection, and say less about what is wrong.
    files.client_config()?;
    let read = |path: &std::path::PathBuf| {
        std::fs::read(path).map_err(|problem| format!("{}: {problem}", path.display()))
    };
    let mut options = SslOpts::default();
    if let (Some(cert), Some(key)) = (&files.cert, &files.key) {
        let identity = ClientIdentity::new(read(cert)?.into(), read(key)?.into());
        options = options.with_client_identity(Some(identity));
    }
    if config.tls == TlsMode::Require {
        let options = options.with_danger_accept_invalid_certs(true);
        return Ok(Some(options.with_danger_skip_domain_validation(true)));
    }
    let roots = match &files.ca {
        Some(ca) => vec![read(ca)?.into()],
        None => {
            let trusted = rustls_native_certs::load_native_certs().certs;
            trusted.into_iter().map(|certificate| certificate.to_vec().into()).collect()
        }
    };
    Ok(Some(options.with_root_certs(roots).with_disable_built_in_roots(true)))
}
