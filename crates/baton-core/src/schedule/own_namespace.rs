//! The namespace of a schedule that has nodes of its own.

use super::definition::InvalidSchedule;
use crate::ids::{NAME_BYTES_MAX, Namespace};

/// What stands between the namespace and the name of the schedule.
const INFIX: &str = ":schedule:";

/// The namespace of a schedule whose nodes run nothing else: `{namespace}:schedule:{name}`. It has
/// a leader of its own, so that two such schedules do not have to share their nodes.
pub fn own_namespace(namespace: &Namespace, name: &str) -> Result<Namespace, InvalidSchedule> {
    Namespace::new(&format!("{namespace}{INFIX}{name}")).map_err(|_| {
        let most = NAME_BYTES_MAX.saturating_sub(namespace.as_str().len() + INFIX.len());
        let problem = format!(
            "schedule name is {} bytes long; at most {most} are allowed in namespace {namespace}, \
             since {namespace}{INFIX}NAME has at most {NAME_BYTES_MAX}",
            name.len()
        );
        InvalidSchedule::Name { problem }
    })
}

/// Is it the namespace of a schedule that has nodes of its own in this one?
pub fn is_own_namespace(of: &Namespace, candidate: &Namespace) -> bool {
    let rest = candidate.as_str().strip_prefix(of.as_str());
    rest.is_some_and(|rest| rest.starts_with(INFIX))
}

/// The name that comes, in order, right before all namespaces of schedules in this one.
pub fn before_own_namespaces(of: &Namespace) -> Option<Namespace> {
    Namespace::new(&format!("{of}{INFIX}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_schedule_has_a_namespace_in_order_after_the_one_before_all() {
        let base = Namespace::new("default").expect("valid");
        let own = own_namespace(&base, "report").expect("short enough");
        assert_eq!(own.as_str(), "default:schedule:report");
        assert!(is_own_namespace(&base, &own));
        let other = Namespace::new("default-2:schedule:report").expect("valid");
        assert!(!is_own_namespace(&base, &other) && !is_own_namespace(&base, &base));
        let before = before_own_namespaces(&base).expect("short enough");
        assert!(before.as_str() < own.as_str() && own.as_str().starts_with(before.as_str()));
        let long = own_namespace(&base, &"x".repeat(112)).expect_err("too long").to_string();
        assert!(long.contains("112 bytes long; at most 111 are allowed"), "{long}");
    }
}
