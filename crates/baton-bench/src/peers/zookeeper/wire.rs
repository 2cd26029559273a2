//! ZooKeeper's protocol, as far as a lock needs it: frames of big-endian numbers and counted texts.

use std::io::{Error, ErrorKind};
use std::pin::pin;
use std::time::Duration;

use baton_store::clock::{Clock, SystemClock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use crate::error::BenchError;

/// The numbers of a ping, and of a message that a watch was set off.
const PING: i32 = -2;
const WATCH_EVENT: i32 = -1;

const PING_KIND: i32 = 11;

/// A frame that is larger is taken for an error.
const FRAME_MAX: usize = 1 << 20;

/// The fields of a request.
#[derive(Clone, Debug, Default)]
pub struct RequestBody(Vec<u8>);

impl RequestBody {
    pub fn number(mut self, number: i32) -> Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    pub fn long(mut self, number: i64) -> Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    pub fn text(mut self, text: &str) -> Self {
        self = self.number(i32::try_from(text.len()).unwrap_or(i32::MAX));
        self.0.extend(text.as_bytes());
        self
    }

    pub fn flag(mut self, flag: bool) -> Self {
        self.0.push(u8::from(flag));
        self
    }
}

/// A reply of the server.
#[derive(Clone, Debug)]
pub struct Reply {
    xid: i32,
    /// 0, or the number of an error.
    pub problem: i32,
    body: Vec<u8>,
    at: usize,
}

impl Reply {
    fn parse(frame: Vec<u8>) -> Result<Self, BenchError> {
        let mut reply = Self { xid: 0, problem: 0, body: frame, at: 0 };
        reply.xid = reply.number()?;
        reply.take(8)?;
        reply.problem = reply.number()?;
        Ok(reply)
    }

    fn take(&mut self, count: usize) -> Result<&[u8], BenchError> {
        let end = self.at.saturating_add(count);
        let found = self.body.get(self.at..end);
        self.at = end;
        found.ok_or_else(|| broken("a reply that is cut off"))
    }

    /// The next number.
    pub fn number(&mut self) -> Result<i32, BenchError> {
        let bytes = self.take(4)?.try_into().expect("it has four bytes");
        Ok(i32::from_be_bytes(bytes))
    }

    /// The next text.
    pub fn text(&mut self) -> Result<String, BenchError> {
        let count = usize::try_from(self.number()?).unwrap_or_default();
        Ok(String::from_utf8_lossy(self.take(count)?).into_owned())
    }
}

/// A session on one connection.
pub struct Session {
    read: OwnedReadHalf,
    write: OwnedWriteHalf,
    xid: i32,
}

impl Session {
    /// Connects, and agrees on how long the session may be silent.
    pub async fn begin(server: &str, silent_max: Duration) -> Result<Self, BenchError> {
        let stream = TcpStream::connect(server).await.map_err(trouble)?;
        stream.set_nodelay(true).map_err(trouble)?;
        let (read, write) = stream.into_split();
        let mut session = Self { read, write, xid: 0 };
        let silent_ms = i32::try_from(silent_max.as_millis()).unwrap_or(i32::MAX);
        let hello = RequestBody::default().number(0).long(0).number(silent_ms).long(0);
        session.send(hello.text(&"\0".repeat(16))).await?;
        let frame = frame(&mut session.read).await.map_err(trouble)?;
        let agreed = frame.get(4..8).map(|bytes| i32::from_be_bytes(bytes.try_into().expect("4")));
        if agreed != Some(silent_ms) {
            let answer = format!("a session of {agreed:?} ms");
            return Err(BenchError::Answer { what: "a session of 15 s", answer });
        }
        Ok(session)
    }

    /// Asks, and waits for the reply.
    pub async fn ask(&mut self, kind: i32, body: RequestBody) -> Result<Reply, BenchError> {
        self.xid += 1;
        let RequestBody(body) = body;
        let mut request = RequestBody::default().number(self.xid).number(kind);
        request.0.extend(body);
        self.send(request).await?;
        loop {
            let reply = Reply::parse(frame(&mut self.read).await.map_err(trouble)?)?;
            if reply.xid == self.xid {
                return Ok(reply);
            }
        }
    }

    /// Waits until a watch is set off, and pings the server meanwhile.
    pub async fn wait_for_watch(&mut self, ping_every: Duration) -> Result<(), BenchError> {
        loop {
            let mut reading = pin!(frame(&mut self.read));
            let frame = loop {
                tokio::select! {
                    frame = &mut reading => break frame,
                    () = SystemClock.sleep(ping_every) => ping(&mut self.write).await?,
                }
            };
            if Reply::parse(frame.map_err(trouble)?)?.xid == WATCH_EVENT {
                return Ok(());
            }
        }
    }

    /// Shows the server that this client is still there.
    pub async fn ping(&mut self) -> Result<(), BenchError> {
        ping(&mut self.write).await
    }

    async fn send(&mut self, body: RequestBody) -> Result<(), BenchError> {
        send(&mut self.write, body).await
    }
}

async fn ping(write: &mut OwnedWriteHalf) -> Result<(), BenchError> {
    send(write, RequestBody::default().number(PING).number(PING_KIND)).await
}

async fn send(
    write: &mut OwnedWriteHalf,
    RequestBody(body): RequestBody,
) -> Result<(), BenchError> {
    let mut frame = RequestBody::default().number(i32::try_from(body.len()).unwrap_or(i32::MAX)).0;
    frame.extend(body);
    write.write_all(&frame).await.map_err(trouble)
}

async fn frame(read: &mut OwnedReadHalf) -> std::io::Result<Vec<u8>> {
    let length = usize::try_from(read.read_i32().await?).unwrap_or(usize::MAX);
    if length > FRAME_MAX {
        return Err(Error::new(ErrorKind::InvalidData, "a frame that is too long"));
    }
    let mut frame = vec![0; length];
    read.read_exact(&mut frame).await?;
    Ok(frame)
}

fn trouble(problem: Error) -> BenchError {
    BenchError::File { path: "ZooKeeper".into(), problem }
}

fn broken(what: &str) -> BenchError {
    trouble(Error::new(ErrorKind::InvalidData, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_reads_what_words_write() {
        let header = RequestBody::default().number(7).long(9).number(-101);
        let frame = header.number(1).text("n-0000000003").0;
        let mut reply = Reply::parse(frame).expect("it is whole");
        assert_eq!((reply.xid, reply.problem), (7, -101));
        assert_eq!(reply.number().expect("it is there"), 1);
        assert_eq!(reply.text().expect("it is there"), "n-0000000003");
        assert!(reply.number().is_err());
    }
}
