//! etcd's count of answered calls. The gateway for JSON calls the same interface, so that what
//! comes through it is among them.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::error::BenchError;

/// The address of etcd's metrics.
pub struct CallCounter(SocketAddr);

impl CallCounter {
    /// A counter of this server.
    pub fn at(server: SocketAddr) -> Self {
        Self(server)
    }

    /// The calls so far.
    pub async fn count(&mut self) -> Result<u64, BenchError> {
        let read = self.metrics().await;
        let trouble = |problem| BenchError::File { path: "etcd's /metrics".into(), problem };
        Ok(calls(&read.map_err(trouble)?))
    }

    /// The old version of HTTP, whose answers come in one piece.
    async fn metrics(&self) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(self.0).await?;
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}

/// The sum over all methods that answer once.
fn calls(metrics: &str) -> u64 {
    let lines = metrics.lines().filter(|line| {
        line.starts_with("grpc_server_handled_total{") && line.contains("grpc_type=\"unary\"")
    });
    let counts = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
    counts.sum::<f64>() as u64
}

#[cfg(test)]
mod tests {
    #[test]
    fn streams_are_not_calls() {
        let of = |method: &str, kind: &str, count: &str| {
            let labels = format!("grpc_code=\"OK\",grpc_method=\"{method}\",grpc_type=\"{kind}\"");
            format!("grpc_server_handled_total{{{labels}}} {count}\n")
        };
        let text = [
            of("Txn", "unary", "12"),
            of("Range", "unary", "3"),
            of("Watch", "bidi_stream", "5"),
            "grpc_server_started_total{grpc_type=\"unary\"} 99\n".to_owned(),
        ];
        assert_eq!(super::calls(&text.concat()), 15);
    }
}
