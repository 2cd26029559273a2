//! Systems without a guard: `baton run` refuses before it joins, and all other commands work.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::os::fd::BorrowedFd;
use std::process::ExitCode;

use baton_core::lease::Window;
use baton_core::time::Moment;

use super::is_supported;
use super::message::{Report, Start};
use crate::output::log;

/// There is none.
pub struct Guard(Infallible);

impl Guard {
    /// Refuses.
    pub fn spawn(_held: &[BorrowedFd<'_>]) -> io::Result<Self> {
        is_supported().map(|()| unreachable!("this file is for systems without a guard"))
    }

    /// Never called: there is no guard.
    pub fn is_lost(&self) -> bool {
        match self.0 {}
    }

    /// Never called: there is no guard.
    pub fn start(&mut self, _start: Start) -> io::Result<()> {
        match self.0 {}
    }

    /// Never called: there is no guard.
    pub fn extend(&mut self, _window: Window) -> io::Result<()> {
        match self.0 {}
    }

    /// Never called: there is no guard.
    pub fn stop(&mut self, _by: Moment) -> io::Result<()> {
        match self.0 {}
    }

    /// Never called: there is no guard.
    pub fn signal(&mut self, _number: i32) -> io::Result<()> {
        match self.0 {}
    }

    /// Never called: there is no guard.
    pub async fn next(&mut self) -> Report {
        match self.0 {}
    }

    /// Never called: there is no guard.
    pub async fn close(self) -> io::Result<()> {
        match self.0 {}
    }
}

/// `baton guard`, which nothing starts here.
pub fn run() -> ExitCode {
    if let Err(refused) = is_supported() {
        log::error(&format!("baton guard {refused}"));
    }
    ExitCode::FAILURE
}

/// Waits for ever: process 1 of a container is Linux's.
pub async fn reap_orphans() -> Infallible {
    pending().await
}
