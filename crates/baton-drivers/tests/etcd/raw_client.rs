//! etcd by client: what an operator could do to it, behind the driver's back.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

/// A gateway, spoken to directly.
pub struct RawClient {
    base: String,
    client: reqwest::Client,
}

/// A key and its value.
pub type Pair = (String, Vec<u8>);

pub fn encoded(bytes: impl AsRef<[u8]>) -> String {
    BASE64_STANDARD.encode(bytes)
}

pub fn decoded(value: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(value.as_str().unwrap_or_default()).expect("etcd writes Base64")
}

impl RawClient {
    pub fn on(address: std::net::SocketAddr) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        Self { base: format!("http://{address}/v3"), client: reqwest::Client::new() }
    }

    /// Sends it, and reads the answer.
    pub async fn post(&self, path: &str, body: String) -> Value {
        let sent = self.client.post(format!("{}/{path}", self.base)).body(body).send().await;
        let text = sent.expect("etcd answers").text().await.expect("etcd answers");
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    }

    pub async fn put(&self, key: &str, value: impl AsRef<[u8]>) {
        let (key, value) = (encoded(key), encoded(value));
        let answer = self.post("kv/put", format!(r#"{{"key":"{key}","value":"{value}"}}"#)).await;
        assert!(answer.get("header").is_some(), "{answer}");
    }

    pub async fn delete(&self, key: &str) {
        let answer = self.post("kv/deleterange", format!(r#"{{"key":"{}"}}"#, encoded(key))).await;
        assert_eq!(answer["deleted"], "1", "{answer}");
    }

    /// Everything whose key begins so.
    pub async fn under(&self, prefix: &str) -> Vec<Pair> {
        let answer = self.post("kv/range", format!("{{{}}}", range(prefix))).await;
        let found = answer["kvs"].as_array().cloned().unwrap_or_default();
        let pair = |it: &Value| {
            (String::from_utf8_lossy(&decoded(&it["key"])).into(), decoded(&it["value"]))
        };
        found.iter().map(pair).collect()
    }

    /// Deletes everything whose key begins so.
    pub async fn clear(&self, prefix: &str) {
        self.post("kv/deleterange", format!("{{{}}}", range(prefix))).await;
    }

    /// Forgets every revision but the present one.
    pub async fn compact(&self) {
        let answer = self.post("kv/range", format!(r#"{{"key":"{}"}}"#, encoded("x"))).await;
        let revision = answer["header"]["revision"].as_str().expect("it has one").to_owned();
        let body = format!(r#"{{"revision":"{revision}","physical":true}}"#);
        self.post("kv/compaction", body).await;
    }
}

fn range(prefix: &str) -> String {
    let mut end = prefix.as_bytes().to_vec();
    *end.last_mut().expect("a prefix is not empty") += 1;
    format!(r#""key":"{}","range_end":"{}""#, encoded(prefix), encoded(end))
}
