//! One end of a control socket: messages as lines, descriptors beside them, never blocking.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The longest message. A command line of Linux's usual 2 MiB fits, four characters a byte.
const LONGEST: usize = 16 << 20;

/// The most descriptors that one message may carry: the kernel's own limit.
pub(super) const MOST_DESCRIPTORS: usize = 253;

/// The result of one read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Received {
    Data,
    Nothing,
    Closed,
}

/// One end of a control socket.
pub(super) struct Channel {
    socket: OwnedFd,
    inbox: Vec<u8>,
    /// The number of bytes of the inbox that are known to hold no end of a line.
    searched: usize,
    outbox: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

impl Channel {
    pub(super) fn over(socket: OwnedFd) -> Self {
        let (inbox, outbox, descriptors) = (Vec::new(), Vec::new(), Vec::new());
        Self { socket, inbox, searched: 0, outbox, descriptors }
    }

    /// A channel, and the other end of it for a process that is about to be started.
    pub(super) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (here, there) = UnixStream::pair()?;
        Ok((Self::over(here.into()), there.into()))
    }

    /// Says something. What the socket does not take at once stays for [`flush`](Self::flush).
    pub(super) fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.send_with(message, &[])
    }

    /// Says something and hands over duplicates of descriptors with it.
    pub(super) fn send_with(
        &mut self,
        message: &impl Serialize,
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let unsent = self.outbox.len() + line.len();
        if unsent > LONGEST {
            let text = format!("{unsent} bytes wait for the guard, at most {LONGEST} may");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        if !descriptors.is_empty() {
            let sent = self.transmit(&line, descriptors)?;
            line.drain(..sent);
        }
        self.outbox.append(&mut line);
        self.flush()
    }

    /// Passes on what still waits to be sent, as far as the socket takes it.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while self.has_unsent() {
            match self.transmit(&self.outbox, &[]) {
                Ok(sent) => drop(self.outbox.drain(..sent)),
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    pub(super) fn has_unsent(&self) -> bool {
        !self.outbox.is_empty()
    }

    fn transmit(&self, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<usize, Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(Errno::TOOMANYREFS);
        }
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        rustix::io::retry_on_intr(|| {
            sendmsg(&self.socket, &[IoSlice::new(bytes)], &mut beside, flags)
        })
    }

    /// Takes in what has come, up to 64 KiB of it.
    pub(super) fn receive(&mut self) -> io::Result<Received> {
        let mut bytes = vec![0; 64 << 10];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        // Close-on-exec: what is held here must not be held by the command as well.
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let mut room = [IoSliceMut::new(&mut bytes)];
        let came =
            rustix::io::retry_on_intr(|| recvmsg(&self.socket, &mut room, &mut beside, flags));
        let came = match came {
            Ok(came) => came.bytes,
            Err(Errno::AGAIN) => return Ok(Received::Nothing),
            Err(error) => return Err(error.into()),
        };
        for message in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors);
            }
        }
        if came == 0 {
            return Ok(Received::Closed);
        }
        self.inbox.extend_from_slice(&bytes[..came]);
        Ok(Received::Data)
    }

    /// The next message, if all of it has come.
    pub(super) fn take<M: DeserializeOwned>(&mut self) -> io::Result<Option<M>> {
        let found = self.inbox[self.searched..].iter().position(|byte| *byte == b'\n');
        let Some(ahead) = found else {
            self.searched = self.inbox.len();
            if self.inbox.len() > LONGEST {
                let text = format!("a message of more than {LONGEST} bytes");
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
            return Ok(None);
        };
        let line: Vec<u8> = self.inbox.drain(..=self.searched + ahead).collect();
        self.searched = 0;
        Ok(Some(serde_json::from_slice(&line)?))
    }

    /// The descriptors that came so far, in order.
    pub(super) fn take_descriptors(&mut self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.descriptors)
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::super::message::{Ending, Report};
    use super::*;

    fn both() -> (Channel, Channel) {
        let (here, there) = Channel::pair().expect("a socket pair");
        (here, Channel::over(there))
    }

    #[test]
    fn messages_come_one_by_one_however_they_were_sent() {
        let (mut here, mut there) = both();
        here.send(&Report::Stopped).expect("there is room");
        here.send(&Report::Exited(Ending::Code(7))).expect("there is room");
        assert_eq!(there.receive().expect("the other end is there"), Received::Data);
        assert_eq!(there.take().expect("a whole line"), Some(Report::Stopped));
        let second = there.take().expect("a whole line");
        assert_eq!(second, Some(Report::Exited(Ending::Code(7))));
        assert_eq!(there.take::<Report>().expect("no line is no error"), None);
        assert_eq!(there.receive().expect("the other end is there"), Received::Nothing);
        drop(here);
        assert_eq!(there.receive().expect("an end is no error"), Received::Closed);
    }

    #[test]
    fn a_message_larger_than_the_socket_waits_and_then_comes_whole() {
        let (mut here, mut there) = both();
        let long = Report::FailedToStart { error: "x".repeat(3 << 20) };
        here.send(&long).expect("sending does not block");
        assert!(here.has_unsent());
        let came = loop {
            here.flush().expect("the other end is there");
            there.receive().expect("the other end is there");
            if let Some(came) = there.take::<Report>().expect("a valid line") {
                break came;
            }
        };
        assert_eq!(came, long);
    }

    #[test]
    fn descriptors_come_with_their_message_and_close_on_exec() {
        let (mut here, mut there) = both();
        let (mut ours, theirs) = UnixStream::pair().expect("a socket pair");
        here.send_with(&Report::Stopped, &[theirs.as_fd()]).expect("there is room");
        drop(theirs);
        there.receive().expect("the other end is there");
        let mut came = there.take_descriptors();
        let came = came.pop().expect("one descriptor was sent");
        let flags = rustix::io::fcntl_getfd(&came).expect("an open descriptor");
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
        UnixStream::from(came).write_all(b"hello").expect("its other end is open");
        let mut text = String::new();
        ours.read_to_string(&mut text).expect("what was written");
        assert_eq!(text, "hello");
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        let (mut here, mut there) = both();
        here.outbox.extend_from_slice(b"{\"Unheard\":1}\n");
        here.flush().expect("there is room");
        there.receive().expect("the other end is there");
        assert!(there.take::<Report>().is_err());
        assert!(here.send(&"x".repeat(LONGEST)).is_err());
    }
}
