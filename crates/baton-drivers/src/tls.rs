//! TLS, the same options for every store: `tls_ca`, `tls_cert`, `tls_key`, all paths of PEM files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, Error, RootCertStore};

use crate::address::{AddressError, Options};

/// Whether a connection is encrypted, and whether the server must prove who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsMode {
    /// In the clear.
    Off,
    /// Encrypted if the server offers it. Against onlookers, not against an impostor.
    Prefer,
    /// Encrypted, or not at all. The server's certificate is not looked at.
    Require,
    /// Encrypted, and the certificate must be of the host, by an authority that is trusted.
    Verify,
}

impl TlsMode {
    /// Takes the option `tls`, whose values are those of `modes`. Without it a server is verified
    /// if a file is named, and treated as the first of them otherwise.
    pub(crate) fn take(
        options: &mut Options,
        files: &TlsFiles,
        modes: &[(&str, Self)],
        wanted: &str,
    ) -> Result<Self, AddressError> {
        let Some(value) = options.take("tls") else {
            return Ok(if files.any() { Self::Verify } else { modes[0].1 });
        };
        let known = modes.iter().find(|(name, _)| *name == value);
        known.map(|(_, mode)| *mode).ok_or_else(|| options.wrong("tls", &value, wanted))
    }
}

/// The authorities to trust, and the client's own certificate and key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate authority of the server; without it, those that the system trusts.
    pub ca: Option<PathBuf>,
    /// Our certificate, for servers that ask for one.
    pub cert: Option<PathBuf>,
    /// Its key.
    pub key: Option<PathBuf>,
}

impl TlsFiles {
    /// Takes the options that name files.
    pub fn take(options: &mut Options) -> Result<Self, AddressError> {
        let mut path = |name| options.take(name).map(PathBuf::from);
        let files = Self { ca: path("tls_ca"), cert: path("tls_cert"), key: path("tls_key") };
        match (&files.cert, &files.key) {
            (Some(cert), None) => {
                let shown = cert.display().to_string();
                Err(options.wrong("tls_cert", &shown, "name its key with tls_key too"))
            }
            (None, Some(key)) => {
                let shown = key.display().to_string();
                Err(options.wrong("tls_key", &shown, "name its certificate with tls_cert too"))
            }
            _ => Ok(files),
        }
    }

    /// Was anything named?
    pub fn any(&self) -> bool {
        *self != Self::default()
    }

    /// What a client library that takes rustls as it is wants to know.
    pub(crate) fn client_config(&self) -> Result<ClientConfig, String> {
        self.with_roots(self.roots()?)
    }

    /// The same, with these authorities.
    pub(crate) fn with_roots(&self, roots: RootCertStore) -> Result<ClientConfig, String> {
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|problem| problem.to_string())?
            .with_root_certificates(roots);
        let (Some(cert), Some(key)) = (&self.cert, &self.key) else {
            return Ok(builder.with_no_client_auth());
        };
        let key_der = PrivateKeyDer::from_pem_file(key).map_err(|problem| of(key, &problem))?;
        let config = builder.with_client_auth_cert(certificates(cert)?, key_der);
        config.map_err(|problem| of(cert, &problem))
    }

    fn roots(&self) -> Result<RootCertStore, String> {
        let mut roots = RootCertStore::empty();
        let Some(ca) = &self.ca else {
            let trusted = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(trusted.certs);
            return Ok(roots);
        };
        for certificate in certificates(ca)? {
            roots.add(certificate).map_err(|problem| of(ca, &problem))?;
        }
        Ok(roots)
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found = CertificateDer::pem_file_iter(path).map_err(|problem| of(path, &problem))?;
    let found: Vec<_> = found.collect::<Result<_, _>>().map_err(|problem| of(path, &problem))?;
    match found.is_empty() {
        true => Err(of(path, &"it holds no certificate")),
        false => Ok(found),
    }
}

fn of(path: &Path, problem: &dyn std::fmt::Display) -> String {
    format!("{}: {problem}", path.display())
}

/// What TLS has against it, if it was TLS that failed and not what it runs over.
pub(crate) fn tls_error<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a Error> {
    // What an I/O error is made from is not its source, but what that was made from.
    let made_from = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    error.downcast_ref::<Error>().or_else(|| match made_from {
        Some(inner) => tls_error(inner),
        None => error.source().and_then(tls_error),
    })
}
