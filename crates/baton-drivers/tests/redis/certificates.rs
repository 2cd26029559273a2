//! Certificates of a test's own, made by the openssl command line.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder with two authorities, `ca` and `stranger`, and what `ca` signed: `server`, `client`.
pub struct Certificates(tempfile::TempDir);

impl Certificates {
    pub fn make() -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let made = Self(folder);
        for authority in ["ca", "stranger"] {
            let subject = format!("/CN=baton test {authority}");
            let (key, cert) = (format!("{authority}.key"), format!("{authority}.pem"));
            let kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
            let words = ["req", "-x509", "-days", "2", "-subj", &subject, "-keyout", &key];
            made.openssl(&[&words[..], &["-out", &cert], &kind[..]].concat());
        }
        std::fs::write(made.path("names"), "subjectAltName=IP:127.0.0.1\n")
            .expect("it can be written");
        for name in ["server", "client"] {
            let (key, asked, cert) =
                (format!("{name}.key"), format!("{name}.csr"), format!("{name}.pem"));
            let subject = format!("/CN={name}");
            let kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
            let words = ["req", "-subj", &subject, "-keyout", &key, "-out", &asked];
            made.openssl(&[&words[..], &kind[..]].concat());
            let by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"];
            let words = ["x509", "-req", "-in", &asked, "-out", &cert, "-extfile", "names"];
            made.openssl(&[&words[..], &by[..]].concat());
        }
        made
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn openssl(&self, words: &[&str]) {
        let folder: &Path = self.0.path();
        let mut command = Command::new("openssl");
        command.args(words).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
        let done = command.status().expect("openssl is there");
        assert!(done.success(), "openssl {words:?}");
    }
}
