//! What the server runs: one script a call, each after what all have in common.

use std::fmt::Display;

use ::redis::{Cmd, FromRedisValue, ParsingError, RedisError, Value, cmd};
use baton_core::ids::Epoch;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::de::value::{Error, StrDeserializer};

use super::connect::Connection;
use super::schema;
use crate::driver::DriverError;

// The prelude multiplies by appending zeros.
const _: () = assert!(Epoch::LEAP == 1_000);

/// A script, and the name under which a server that has run it knows it.
pub(super) struct Script {
    name: &'static str,
    text: &'static str,
    hash: String,
}

impl Script {
    pub(super) fn new(name: &'static str, text: &'static str) -> Self {
        let hash = ::redis::Script::new(text).get_hash().to_owned();
        Self { name, text, hash }
    }

    /// One round trip; two if the server has not seen this script since it started, in which case
    /// the first certainly did nothing.
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        connection: &Connection,
        keys: &[String],
        arguments: &Arguments,
    ) -> Result<T, RedisError> {
        let by_name = arguments.after(cmd("EVALSHA").arg(&self.hash), keys);
        match connection.query(&by_name).await {
            Err(problem) if problem.code() == Some("NOSCRIPT") => {
                connection.query(&arguments.after(cmd("EVAL").arg(self.text), keys)).await
            }
            answer => answer,
        }
    }

    /// What follows `ok` in an answer; anything else that a script can say is an error.
    pub(super) fn read<T: FromRedisValue>(&self, answer: Value) -> Result<T, DriverError> {
        let (first, rest) = split_answer(answer)?;
        if first == "ok" {
            return T::from_redis_value(rest).map_err(|problem| self.strange(problem));
        }
        let said = Vec::<String>::from_redis_value(rest)?;
        Err(match (first.as_str(), &said[..]) {
            ("corrupt", [record, detail]) => DriverError::corrupt(record, detail),
            ("partial", [detail]) => {
                let name = self.name;
                DriverError::unknown(format!("the script {name} ended half-way: {detail}"))
            }
            ("newer", [version, lowest]) => match schema::refusal(version, lowest) {
                Some(reason) => DriverError::refused(format!("the namespace {reason}")),
                None => self.strange(format!("{said:?}")),
            },
            ("elsewhere", [namespace]) => DriverError::refused(format!(
                "lease_key names the lease of namespace {namespace:?}; put {{namespace}} into \
                 lease_key"
            )),
            _ => self.strange(format!("{first} {said:?}")),
        })
    }

    pub(super) fn strange(&self, detail: impl Display) -> DriverError {
        let record = format!("the answer of the script {}", self.name);
        DriverError::corrupt(record, detail.to_string())
    }

    /// One of the words that an answer can have in this place.
    pub(super) fn word<T: DeserializeOwned>(&self, word: &str) -> Result<T, DriverError> {
        let read = T::deserialize(StrDeserializer::<Error>::new(word));
        read.map_err(|problem| self.strange(problem))
    }
}

/// The word that an answer begins with, and the rest of it.
pub(super) fn split_answer(answer: Value) -> Result<(String, Value), ParsingError> {
    let mut words = Vec::<Value>::from_redis_value(answer)?.into_iter();
    let first = String::from_redis_value(words.next().unwrap_or_default())?;
    Ok((first, Value::Array(words.collect())))
}

/// Declares the scripts, each a file of its name in `lua/`, after what all have in common and after
/// what it is about.
macro_rules! scripts {
    ($($about:literal: $($name:ident)+;)+) => {
        pub(super) struct Scripts {
            $($(pub(super) $name: Script,)+)+
            pub(super) rights: Script,
        }

        impl Scripts {
            pub(super) fn new() -> Self {
                Self {
                    $($($name: Script::new(
                        stringify!($name),
                        concat!(
                            include_str!("lua/prelude.lua"),
                            include_str!("lua/lease.lua"),
                            include_str!("lua/lineage.lua"),
                            include_str!(concat!("lua/", $about, ".lua")),
                            include_str!(concat!("lua/", stringify!($name), ".lua")),
                        ),
                    ),)+)+
                    rights: Script::new("rights", include_str!("lua/rights.lua")),
                }
            }
        }
    };
}

scripts! {
    "terms":
        beat members publish_view release leave ask inspect read_documents write_documents
        history prune;
    "counters":
        append consolidate forget_writers read_counters list_counters;
}

/// What a script is given besides its keys.
#[derive(Default)]
pub(super) struct Arguments(Vec<Vec<u8>>);

impl Arguments {
    pub(super) fn bytes(mut self, argument: Vec<u8>) -> Self {
        self.0.push(argument);
        self
    }

    /// One more, text or a number.
    pub(super) fn text(self, argument: impl Display) -> Self {
        self.bytes(argument.to_string().into_bytes())
    }

    /// One more; the empty text if there is none.
    pub(super) fn maybe(self, argument: Option<impl Display>) -> Self {
        match argument {
            Some(argument) => self.text(argument),
            None => self.bytes(Vec::new()),
        }
    }

    /// One more, as JSON.
    pub(super) fn json(self, argument: &impl Serialize) -> Self {
        self.bytes(serde_json::to_vec(argument).expect("it is plain data"))
    }

    pub(super) fn and(mut self, mut more: Self) -> Self {
        self.0.append(&mut more.0);
        self
    }

    fn after(&self, command: &mut Cmd, keys: &[String]) -> Cmd {
        command.arg(keys.len()).arg(keys);
        for argument in &self.0 {
            command.arg(argument.as_slice());
        }
        command.take()
    }
}
