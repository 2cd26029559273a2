//! The part of a load that each node should have: what water does in vessels of different widths,
//! each with a bottom and some with a lid.
//!
//! ```text
//!              ┌──┐lid
//!   level ~~~~~│  │~~~~~~~~~~~~~~~~~~~   level · weight = share
//!              │  │  ┌────┐ █████ │    │
//!              │  │  │    │ █████ │    │  a bottom above the level has a share of its own
//! ```
//!
//! The level is a fraction. To stay exact, shares are whole numbers in units of a part of a weight.

/// What a node can have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vessel {
    /// The weight of the node.
    pub(super) weight: i64,
    /// It has this at least.
    pub(super) least: i64,
    /// It has this at most, and not less than `least`.
    pub(super) most: Option<i64>,
}

/// The share of each node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shares {
    /// How many units one of weight has.
    pub(super) scale: i64,
    /// The shares, in these units.
    pub(super) units: Vec<i64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    BelowBottom,
    Between,
    AtLid,
}

/// Shares of a load. What is more than all vessels can hold is in no share.
pub(super) fn shares(load: i64, vessels: &[Vessel]) -> Shares {
    let mut levels = vec![Level::BelowBottom; vessels.len()];
    let mut fixed: i64 = vessels.iter().map(|vessel| vessel.least).sum();
    let mut weight = 0;
    for Change { at, level, vessel } in changes(vessels) {
        // Has the water, before it comes as high as this change, room for the load?
        let held = i128::from(fixed) * i128::from(at.1) + i128::from(weight) * i128::from(at.0);
        if held >= i128::from(load) * i128::from(at.1) {
            break;
        }
        levels[vessel] = level;
        let Vessel { weight: own, least, most } = vessels[vessel];
        match level {
            Level::AtLid => {
                fixed += most.unwrap_or(0);
                weight -= own;
            }
            _ => {
                fixed -= least;
                weight += own;
            }
        }
    }
    let scale = weight.max(1);
    let units = vessels.iter().zip(levels).map(|(vessel, level)| match level {
        Level::BelowBottom => vessel.least * scale,
        Level::Between => (load - fixed) * vessel.weight,
        Level::AtLid => vessel.most.unwrap_or(0) * scale,
    });
    Shares { scale, units: units.collect() }
}

/// The level at which the water reaches the bottom or the lid of a vessel: a fraction.
struct Change {
    at: (i64, i64),
    level: Level,
    vessel: usize,
}

/// From the lowest to the highest; the bottom of a vessel before its lid.
fn changes(vessels: &[Vessel]) -> Vec<Change> {
    let mut changes = Vec::with_capacity(2 * vessels.len());
    for (vessel, Vessel { weight, least, most }) in vessels.iter().enumerate() {
        changes.push(Change { at: (*least, *weight), level: Level::Between, vessel });
        if let Some(most) = most {
            changes.push(Change { at: (*most, *weight), level: Level::AtLid, vessel });
        }
    }
    changes.sort_by(|a, b| {
        let product = |a: i64, b: i64| i128::from(a) * i128::from(b);
        product(a.at.0, b.at.1).cmp(&product(b.at.0, a.at.1))
    });
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vessel(weight: i64, least: i64, most: Option<i64>) -> Vessel {
        Vessel { weight, least, most }
    }

    /// The shares as fractions of one denominator.
    fn of(load: i64, vessels: &[Vessel]) -> (i64, Vec<i64>) {
        let Shares { scale, units } = shares(load, vessels);
        (scale, units)
    }

    #[test]
    fn shares_go_by_weight() {
        assert_eq!(of(10, &[vessel(1, 0, None); 4]), (4, vec![10; 4]));
        assert_eq!(of(8, &[vessel(1, 0, None), vessel(3, 0, None)]), (4, vec![8, 24]));
        assert_eq!(of(0, &[vessel(1, 0, None)]).1, [0]);
        assert_eq!(of(5, &[]), (1, vec![]));
    }

    #[test]
    fn what_a_full_node_cannot_have_goes_to_the_others() {
        let vessels = [vessel(1, 0, Some(2)), vessel(1, 0, None), vessel(2, 0, Some(7))];
        assert_eq!(of(16, &vessels), (1, vec![2, 7, 7]));
        assert_eq!(of(8, &vessels), (4, vec![8, 8, 16]), "right at the first lid");
        assert_eq!(of(11, &vessels), (3, vec![6, 9, 18]));
        let all_full = [vessel(1, 0, Some(2)), vessel(1, 0, Some(3))];
        assert_eq!(of(100, &all_full), (1, vec![2, 3]));
    }

    #[test]
    fn what_a_node_has_for_certain_counts() {
        let vessels = [vessel(1, 10, None), vessel(1, 0, None), vessel(1, 2, Some(2))];
        assert_eq!(of(12, &vessels).1[0], 10);
        assert_eq!(of(18, &vessels), (1, vec![10, 6, 2]));
        assert_eq!(of(32, &vessels), (2, vec![30, 30, 4]));
    }
}
