//! Single-instance mode: there is no other node, so that this one owns every partition of the
//! active task lists, for as long as the process lasts.

use std::collections::BTreeSet;

use baton_core::partition::{Partition, TaskList, TaskListStatus, Token};
use baton_core::time::Moment;

use super::owner::Owner;

/// The only token of single-instance mode: this process never owns anything beside another one.
const ALONE: Token = Token(1);

impl Owner<'_> {
    pub(super) async fn run_alone(&mut self) {
        self.window.set(Moment::NEVER);
        let mut lists = self.setup.known_lists.subscribe();
        let mut stopping = BTreeSet::new();
        let mut is_leaving = false;
        loop {
            let wanted = match is_leaving {
                true => BTreeSet::new(),
                false => partitions(&lists.borrow_and_update()),
            };
            let unwanted = self.owned.iter().filter(|(it, _)| !wanted.contains(it));
            let unwanted: Vec<_> =
                unwanted.map(|(it, started)| (it.clone(), started.owned.token())).collect();
            let is_new = |it: &Partition| !self.owned.contains_key(it) && !stopping.contains(it);
            let new: Vec<_> = wanted.into_iter().filter(is_new).collect();
            let (gained, lost) = (new.len(), unwanted.len());
            for (partition, token) in unwanted {
                stopping.insert(partition.clone());
                self.stop(partition, token);
            }
            for partition in new {
                self.start(partition, ALONE);
            }
            self.announce(gained, lost);
            if is_leaving && self.stops.is_empty() {
                return;
            }
            tokio::select! {
                biased;
                Some(stopped) = self.stops.join_next() => {
                    let (partition, _) = stopped.expect("a release is cancelled by none");
                    stopping.remove(&partition);
                }
                changed = lists.changed(), if !is_leaving => {
                    changed.expect("the setup holds the sender");
                }
                () = self.context.hinted() => self.setup.edited.notify_one(),
                () = self.context.stopped(), if !is_leaving => is_leaving = true,
            }
        }
    }
}

/// The partitions of the active lists.
fn partitions(lists: &[TaskList]) -> BTreeSet<Partition> {
    let active = lists.iter().filter(|list| list.status == TaskListStatus::Active);
    let all = active.flat_map(|list| {
        (0..list.partitions).map(|number| Partition { list: list.id.clone(), number })
    });
    all.collect()
}
