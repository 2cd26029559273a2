//! The former name of [`OpenError`](crate::OpenError), until every driver has the new one.

pub(crate) use crate::OpenError as Refusal;
