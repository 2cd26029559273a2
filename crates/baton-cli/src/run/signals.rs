//! Signals to `baton run`: two ask it to end, the others are the command's.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    Stop,
    /// Give this signal to the command.
    Forward(i32),
}

/// The signals as they come. From its making on, none of them ends the process by itself.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
    quit: Signal,
    user1: Signal,
    user2: Signal,
}

impl Signals {
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
            user1: signal(SignalKind::user_defined1())?,
            user2: signal(SignalKind::user_defined2())?,
        })
    }

    /// The next one. Cancel safe.
    pub async fn next(&mut self) -> Request {
        let pass = |kind: SignalKind| Request::Forward(kind.as_raw_value());
        tokio::select! {
            _ = self.terminate.recv() => Request::Stop,
            _ = self.interrupt.recv() => Request::Stop,
            _ = self.hangup.recv() => pass(SignalKind::hangup()),
            _ = self.quit.recv() => pass(SignalKind::quit()),
            _ = self.user1.recv() => pass(SignalKind::user_defined1()),
            _ = self.user2.recv() => pass(SignalKind::user_defined2()),
        }
    }
}
