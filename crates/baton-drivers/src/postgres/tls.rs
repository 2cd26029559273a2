//! Encryption without verifying the server: what `tls=prefer` and `tls=require` mean.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::config::PostgresConfig;
use crate::tls::TlsMode;

/// What the client library wants to know.
pub(super) fn connector(config: &PostgresConfig) -> Result<MakeRustlsConnect, String> {
    let files = &config.tls_files;
    Ok(MakeRustlsConnect::new(match config.tls {
        TlsMode::Verify => files.client_config()?,
        _ if files.any() => unchecked(files.client_config()?),
        _ => unchecked(files.with_roots(RootCertStore::empty())?),
    }))
}

fn unchecked(mut client: ClientConfig) -> ClientConfig {
    let algorithms = client.crypto_provider().signature_verification_algorithms;
    client.dangerous().set_certificate_verifier(Arc::new(AnyServer(algorithms)));
    client
}

/// Takes any certificate; the handshake must still be signed by its key.
#[derive(Debug)]
struct AnyServer(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
