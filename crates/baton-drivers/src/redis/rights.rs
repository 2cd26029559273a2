//! May this user run what the steps run? Asked before anything is written.

use ::redis::{ErrorKind, FromRedisValue, ServerErrorKind};
use baton_core::ids::Namespace;

use super::connect::Link;
use super::engine::send;
use super::error::NoLink;
use super::schema::Names;
use super::script::{Arguments, Steps};

/// What this user may not do, one by one. Servers before 7.0 cannot be asked.
pub(super) async fn missing(
    link: &Link,
    steps: &Steps,
    names: &Names,
) -> Result<Vec<String>, NoLink> {
    let namespace = Namespace::new("any").expect("it is a name");
    let mut arguments = Arguments::default();
    arguments.push(names.channel(&namespace));
    let answer = send(link, &steps.rights, &names.counter_keys(&namespace), &arguments).await;
    match answer.and_then(|answer| Ok(Vec::<String>::from_redis_value(answer)?)) {
        Ok(missing) => Ok(missing),
        Err(problem) if problem.kind() == ErrorKind::Server(ServerErrorKind::NoPerm) => {
            Ok(vec!["EVALSHA and EVAL".to_owned()])
        }
        Err(problem) => Err(NoLink::of(&problem)),
    }
}

/// Refuses a user who may not run everything.
pub(super) async fn check(link: &Link, steps: &Steps, names: &Names) -> Result<(), NoLink> {
    let missing = missing(link, steps, names).await?;
    match missing.is_empty() {
        true => Ok(()),
        false => Err(NoLink::Rights { what: format!("run {}", missing.join(", ")) }),
    }
}
