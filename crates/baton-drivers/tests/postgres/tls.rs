//! Encrypted connections: one that works, and one whose server is not who it should be.

use std::path::Path;

use crate::fixture::{Postgres, run, shown};

/// An authority, and a certificate of its for 127.0.0.1.
fn certificates(folder: &Path, name: &str) {
    let path = |what: &str| shown(&folder.join(format!("{name}-{what}")));
    let (ca, ca_key, cert, key, wish, names) = (
        path("ca.pem"),
        path("ca.key"),
        path("cert.pem"),
        path("key.pem"),
        path("csr"),
        path("ext"),
    );
    let fresh = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let subject = ["-subj", "/CN=baton test"];
    let own = ["-x509", "-days", "9", "-keyout", &ca_key, "-out", &ca];
    run("openssl", &[&fresh[..], &subject[..], &own[..]].concat()).expect("an authority");
    let asked = ["-keyout", &key, "-out", &wish];
    run("openssl", &[&fresh[..], &subject[..], &asked[..]].concat()).expect("a wish");
    std::fs::write(&names, "subjectAltName=IP:127.0.0.1\n").expect("there is room");
    let sign = ["x509", "-req", "-in", &wish, "-CA", &ca, "-CAkey", &ca_key, "-CAcreateserial"];
    let into = ["-days", "9", "-extfile", &names, "-out", &cert];
    run("openssl", &[&sign[..], &into[..]].concat()).expect("a certificate");
}

#[tokio::test]
async fn a_server_is_taken_at_its_certificate_or_not_at_all() {
    let fixture = Postgres::start().await;
    let data = fixture.data();
    let folder = data.with_file_name("tls");
    std::fs::create_dir(&folder).expect("there is room");
    certificates(&folder, "right");
    certificates(&folder, "wrong");
    for (from, to) in [("right-cert.pem", "server.crt"), ("right-key.pem", "server.key")] {
        run("cp", &[&shown(&folder.join(from)), &shown(&data.join(to))]).expect("there is room");
    }
    crate::fixture::own_alike(&data.join("PG_VERSION"), &data).expect("it can be given away");
    fixture.sql("ALTER SYSTEM SET ssl TO on").await;
    fixture.sql("SELECT pg_reload_conf()").await;
    let encrypted = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                     WHERE ssl AND application_name = 'seen'";
    let with = |options: &str| {
        let ca = folder.join("right-ca.pem");
        format!(
            "{}?application_name=seen&{}",
            fixture.server.url(),
            options.replace("CA", &shown(&ca))
        )
    };
    for options in ["tls=verify&tls_ca=CA", "tls_ca=CA", "tls=require", "tls=prefer"] {
        let store = baton_drivers::open(&with(options)).await;
        let _store = store.unwrap_or_else(|refusal| unreachable!("{options}: {refusal}"));
        let seen: u64 = fixture.sql(encrypted).await[0].parse().expect("a number");
        assert!(seen >= 1, "{options} is encrypted");
    }
    let wrong = with("tls=verify&tls_ca=CA").replace("right-ca", "wrong-ca");
    let refused = baton_drivers::open(&wrong).await.expect_err("another signed it").to_string();
    assert!(refused.contains("TLS cannot be set up (invalid peer certificate"), "{refused}");
    let refused =
        baton_drivers::open(&with("tls=verify")).await.expect_err("its certificate is unknown");
    assert!(refused.to_string().contains("TLS cannot be set up"), "{refused}");
}
