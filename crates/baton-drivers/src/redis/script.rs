//! What the server runs: one script a step, each with what all have in common before it.

use ::redis::{Cmd, Script, cmd};
use baton_core::ids::Epoch;

// The prelude multiplies by appending zeros.
const _: () = assert!(Epoch::LEAP == 1_000);

/// A script, and the name under which a server that has run it knows it.
pub(super) struct Step {
    /// For messages.
    pub(super) name: &'static str,
    text: &'static str,
    hash: String,
}

impl Step {
    pub(super) fn new(name: &'static str, text: &'static str) -> Self {
        Self { name, text, hash: Script::new(text).get_hash().to_owned() }
    }

    /// Runs it by its name.
    pub(super) fn by_name(&self, keys: &[String], arguments: &Arguments) -> Cmd {
        arguments.follow(cmd("EVALSHA").arg(&self.hash), keys)
    }

    /// Runs it by its text, after which the server knows its name.
    pub(super) fn by_text(&self, keys: &[String], arguments: &Arguments) -> Cmd {
        arguments.follow(cmd("EVAL").arg(self.text), keys)
    }
}

/// A step after what all have in common, and after what it is about.
macro_rules! step {
    ($name:literal) => {
        step!($name, about "terms")
    };
    ($name:literal, about $about:literal) => {
        Step::new(
            $name,
            concat!(
                include_str!("lua/prelude.lua"),
                include_str!("lua/lease.lua"),
                include_str!("lua/lineage.lua"),
                include_str!(concat!("lua/", $about, ".lua")),
                include_str!(concat!("lua/", $name, ".lua")),
            ),
        )
    };
}

/// Every step.
pub(super) struct Steps {
    pub(super) beat: Step,
    pub(super) members: Step,
    pub(super) publish_view: Step,
    pub(super) release: Step,
    pub(super) leave: Step,
    pub(super) ask: Step,
    pub(super) inspect: Step,
    pub(super) read_document: Step,
    pub(super) write_document: Step,
    pub(super) history: Step,
    pub(super) append: Step,
    pub(super) consolidate: Step,
    pub(super) forget_writers: Step,
    pub(super) read_counters: Step,
    pub(super) list_counters: Step,
    pub(super) prune: Step,
    pub(super) rights: Step,
}

impl Steps {
    pub(super) fn new() -> Self {
        Self {
            beat: step!("beat"),
            members: step!("members"),
            publish_view: step!("publish_view"),
            release: step!("release"),
            leave: step!("leave"),
            ask: step!("ask"),
            inspect: step!("inspect"),
            read_document: step!("read_document"),
            write_document: step!("write_document"),
            history: step!("history"),
            append: step!("append", about "counters"),
            consolidate: step!("consolidate", about "counters"),
            forget_writers: step!("forget_writers", about "counters"),
            read_counters: step!("read_counters", about "counters"),
            list_counters: step!("list_counters", about "counters"),
            prune: step!("prune"),
            rights: Step::new("rights", include_str!("lua/rights.lua")),
        }
    }
}

/// What a step is given besides its keys.
#[derive(Default)]
pub(super) struct Arguments(Vec<Vec<u8>>);

impl Arguments {
    /// One more.
    pub(super) fn push(&mut self, argument: impl Into<Vec<u8>>) {
        self.0.push(argument.into());
    }

    /// One more, a number.
    pub(super) fn number(&mut self, number: u64) {
        self.push(number.to_string());
    }

    /// One more; nothing at all is the empty text.
    pub(super) fn maybe(&mut self, argument: Option<impl Into<Vec<u8>>>) {
        self.0.push(argument.map(Into::into).unwrap_or_default());
    }

    /// All of these too.
    pub(super) fn append(&mut self, mut more: Self) {
        self.0.append(&mut more.0);
    }

    fn follow(&self, command: &mut Cmd, keys: &[String]) -> Cmd {
        command.arg(keys.len()).arg(keys);
        for argument in &self.0 {
            command.arg(argument.as_slice());
        }
        command.take()
    }
}
