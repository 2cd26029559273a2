//! Operations as data, each declared once.
//!
//! ```text
//!   operations! { … }        one entry for each operation:
//!      ├── a variant of the call, and one of the answer
//!      └── impl Operation    its name, whether it writes, the capability it needs,
//!                            the epoch it carries, what an empty store answers
//!   methods! { … }           the same by name: store.read_document(&namespace, "config")
//! ```
//!
//! A family of operations is itself an [`Operation`], and so families nest: a call that holds
//! another one asks it for all of this.

use std::fmt::Debug;

use baton_core::ids::Epoch;

use crate::capability::Capability;
use crate::error::StoreError;

/// One call of a store as data: it can be delayed, dropped, sent twice, sent to another process or
/// written down.
pub trait Operation: Clone + Debug + Send + Sync + 'static {
    /// What it is answered with.
    type Answer: Debug + Send + 'static;

    /// A short name, for metrics, traces and messages.
    fn kind(&self) -> &'static str;

    /// Does it change anything?
    fn writes(&self) -> bool;

    /// What a store must declare for it.
    fn needs(&self) -> Option<Capability>;

    /// The highest epoch that it carries.
    fn epoch(&self) -> Epoch;

    /// The answer of a store that holds nothing yet; `None` for a call that writes.
    fn answer_when_empty(&self) -> Option<Self::Answer>;

    /// What is known of the call before any store is asked: an error if it is larger than every
    /// store takes, the answer if it asks for nothing, and `None` for every other call.
    fn check(&self) -> Result<Option<Self::Answer>, StoreError>;
}

/// Declares the operations of a contract, or a family of them.
///
/// ```text
/// operations! {
///     pub enum Call;
///     pub enum Answer { … }                    answers that several operations share, if any
///     families {
///         Core(Request) -> Core(Reply),        declared elsewhere
///     }
///     reads {
///         ReadDocuments "read-documents" { names: Vec<String> } checked by check_read(names)
///             -> Documents(Vec<Option<Document>>)
///             given names or Answer::Documents(vec![None; names.len()]),
///     }
///     writes {
///         Append "append" { deltas: Vec<Delta> } needs Counters -> Appended,
///         Prune "prune" { fence: Epoch, prune: Prune } fenced by fence -> Pruned(PruneOutcome),
///     }
/// }
/// ```
///
/// What stands after `or` is the answer of an empty store; `given` names a field that it is made
/// from. What stands after `checked by` is [`Operation::check`], as a function of one field.
#[macro_export]
macro_rules! operations {
    (
        $(#[$call_meta:meta])*
        pub enum $Call:ident;
        $(#[$answer_meta:meta])*
        pub enum $Answer:ident {
            $($(#[$shared_meta:meta])* $Shared:ident $(($($shared:tt)*))?),* $(,)?
        }
        families {$(
            $(#[$family_meta:meta])*
            $Family:ident($Inner:ty) -> $FamilyAnswer:ident($InnerAnswer:ty)
        ),* $(,)?}
        reads {$(
            $(#[$read_meta:meta])*
            $Read:ident $read_kind:literal $({$($read_fields:tt)*})?
            $(needs $read_needs:ident)?
            $(checked by $read_check:ident($read_checked:ident))?
            $(-> $(#[$read_answer_meta:meta])* $ReadAnswer:ident($($read_answer:tt)*))?
            $(given $given:ident)?
            or $empty:expr
        ),* $(,)?}
        writes {$(
            $(#[$write_meta:meta])*
            $Write:ident $write_kind:literal $({$($write_fields:tt)*})?
            $(fenced by $fence:ident)?
            $(needs $write_needs:ident)?
            $(checked by $write_check:ident($write_checked:ident))?
            $(-> $(#[$write_answer_meta:meta])* $WriteAnswer:ident
                $(($($write_answer:tt)*))? $({$($write_answer_fields:tt)*})?)?
        ),* $(,)?}
    ) => {
        $(#[$call_meta])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $Call {
            $($(#[$family_meta])* $Family($Inner),)*
            $($(#[$read_meta])* $Read $({$($read_fields)*})?,)*
            $($(#[$write_meta])* $Write $({$($write_fields)*})?,)*
        }

        $(#[$answer_meta])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $Answer {
            $($(#[$shared_meta])* $Shared $(($($shared)*))?,)*
            $(
                #[doc = concat!("To [`", stringify!($Call), "::", stringify!($Family), "`].")]
                $FamilyAnswer($InnerAnswer),
            )*
            $($(
                #[doc = concat!("To [`", stringify!($Call), "::", stringify!($Read), "`].")]
                $(#[$read_answer_meta])*
                $ReadAnswer($($read_answer)*),
            )?)*
            $($(
                #[doc = concat!("To [`", stringify!($Call), "::", stringify!($Write), "`].")]
                $(#[$write_answer_meta])*
                $WriteAnswer $(($($write_answer)*))? $({$($write_answer_fields)*})?,
            )?)*
        }

        impl $crate::Operation for $Call {
            type Answer = $Answer;

            fn kind(&self) -> &'static str {
                match self {
                    $(Self::$Family(inner) => $crate::Operation::kind(inner),)*
                    $(Self::$Read { .. } => $read_kind,)*
                    $(Self::$Write { .. } => $write_kind,)*
                }
            }

            fn writes(&self) -> bool {
                match self {
                    $(Self::$Family(inner) => $crate::Operation::writes(inner),)*
                    $(Self::$Read { .. } => false,)*
                    $(Self::$Write { .. } => true,)*
                }
            }

            #[allow(unreachable_patterns)]
            fn needs(&self) -> Option<$crate::Capability> {
                match self {
                    $(Self::$Family(inner) => $crate::Operation::needs(inner),)*
                    $($(Self::$Read { .. } => Some($crate::Capability::$read_needs),)?)*
                    $($(Self::$Write { .. } => Some($crate::Capability::$write_needs),)?)*
                    _ => None,
                }
            }

            #[allow(unreachable_patterns)]
            fn epoch(&self) -> baton_core::ids::Epoch {
                match self {
                    $(Self::$Family(inner) => $crate::Operation::epoch(inner),)*
                    $($(Self::$Write { $fence, .. } => {
                        Option::<baton_core::ids::Epoch>::from(*$fence).unwrap_or_default()
                    })?)*
                    _ => baton_core::ids::Epoch::NONE,
                }
            }

            #[allow(unreachable_patterns)]
            fn answer_when_empty(&self) -> Option<$Answer> {
                match self {
                    $(Self::$Family(inner) => {
                        $crate::Operation::answer_when_empty(inner).map($Answer::$FamilyAnswer)
                    })*
                    $(Self::$Read { $($given,)? .. } => Some($empty),)*
                    _ => None,
                }
            }

            #[allow(unreachable_patterns)]
            fn check(&self) -> Result<Option<$Answer>, $crate::StoreError> {
                match self {
                    $(Self::$Family(inner) => {
                        let answer = $crate::Operation::check(inner)?;
                        Ok(answer.map($Answer::$FamilyAnswer))
                    })*
                    $($(Self::$Read { $read_checked, .. } => $read_check($read_checked),)?)*
                    $($(Self::$Write { $write_checked, .. } => $write_check($write_checked),)?)*
                    _ => Ok(None),
                }
            }
        }
    };
}

/// Declares the trait that has the calls of a contract by name. Every backend of the contract has
/// it. An entry says what is sent, which answer belongs to it, and what is taken from that.
#[macro_export]
macro_rules! methods {
    (
        $(#[$meta:meta])*
        pub trait $Trait:ident: Backend<$Contract:ty>;
        $(
            $(#[$method_meta:meta])*
            fn $method:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty
                = $call:expr => $answer:pat => $taken:expr;
        )*
    ) => {
        $(#[$meta])*
        #[async_trait::async_trait]
        pub trait $Trait: $crate::Backend<$Contract> {
            $(
                $(#[$method_meta])*
                async fn $method(
                    &self,
                    namespace: &baton_core::ids::Namespace,
                    $($argument: $type),*
                ) -> Result<$result, $crate::StoreError> {
                    match self.call(namespace, $call).await? {
                        $answer => Ok($taken),
                        other => unreachable!(
                            "a store answers a call in kind, and this is not: {other:?}"
                        ),
                    }
                }
            )*
        }

        impl<T: $crate::Backend<$Contract> + ?Sized> $Trait for T {}
    };
}
