//! Wrong versions of the rules, for `cargo xtask bugs`: each must be caught by the simulator.
//!
//! Without `--cfg baton_bugs`, which no manifest and no feature sets, [`planted!`] is the literal
//! `false` and nothing of this module exists in the build.

#[cfg(baton_bugs)]
pub use active::{Bug, World, is_planted, plant};

/// Is this bug planted? `false` in every build but that of `cargo xtask bugs`.
#[cfg(baton_bugs)]
#[macro_export]
#[doc(hidden)]
macro_rules! __planted {
    ($bug:ident) => {
        $crate::planted::is_planted($crate::planted::Bug::$bug)
    };
}

/// Is this bug planted? `false` in every build but that of `cargo xtask bugs`.
#[cfg(not(baton_bugs))]
#[macro_export]
#[doc(hidden)]
macro_rules! __planted {
    ($bug:ident) => {
        false
    };
}

pub use crate::__planted as planted;

#[cfg(baton_bugs)]
mod active {
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A world of the simulator.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum World {
        /// Nodes that elect a leader.
        Election,
        /// Schedules under one leader after another.
        Schedules,
        /// Processes that wait for work that is done once, in every state.
        Once,
        /// Partitions that move between processes.
        Partitions,
    }

    macro_rules! bugs {
        ($($world:ident { $($name:ident: $what:literal,)* })*) => {
            /// A wrong version of a rule.
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum Bug { $($(#[doc = $what] $name,)*)* }

            impl Bug {
                /// Every planted bug.
                pub const ALL: &'static [Self] = &[$($(Self::$name,)*)*];

                /// Its name on the command line.
                pub fn name(self) -> &'static str {
                    match self { $($(Self::$name => stringify!($name),)*)* }
                }

                /// What is wrong, in a few words.
                pub fn what(self) -> &'static str {
                    match self { $($(Self::$name => $what,)*)* }
                }

                /// The world whose checkers must catch it.
                pub fn world(self) -> World {
                    match self { $($(Self::$name => World::$world,)*)* }
                }
            }
        };
    }

    bugs! {
        Election {
            StealByLaterExpiry: "a live lease goes to the node that would hold it longer",
            RenewAfterExpiry: "a renewal is accepted after the lease expired",
            EpochFromClock: "the epoch is the time of the grant",
            DeleteOnRelease: "resigning deletes the record",
            FloorIgnored: "the highest epoch a node saw is not passed on after a store failover",
            NoLeap: "epochs do not leap when the store's data went back",
            LineageIgnored: "a store whose data went back is believed at once",
            TrustFromReply: "the trust window is counted from the reply",
            ObserverAnchorsAtSend: "the observer's clock starts when the request is sent",
            DriftIgnored: "the window is as long as the lease: no drift, no margin",
            TimeoutTakenAsFailure: "an acquisition that timed out is forgotten",
            TimeoutTakenAsSuccess: "a renewal that timed out extends the window",
            CachedIsLeader: "is_leader() is a flag instead of a look at the clock",
            ResumeAfterFencing: "a term goes on after its window closed",
            ClosedConnectionIsProof: "a closed lifeline counts as a proved death",
            HintTakenAsTruth: "a hint that the lease is free is believed without the store",
            GraceWithoutLimit: "tasks of the previous epoch are accepted for ever",
            ViewWithoutEpoch: "the view is published without the epoch",
            MandateIgnored: "a better node preempts before the mandate allows it",
            BootIdIgnored: "a restarted node takes its past self's lease for its own",
            BreakerHoldsDeadline: "an open breaker keeps a leader from stepping down",
            BreakerNeverProbes: "an open breaker never tries the store again",
            StaleReadBelieved: "a stale replica's answer takes the known epoch and view back",
            NoStagger: "all successors claim at the same moment",
            TransferWithoutFallback: "no node but the named successor ever claims",
            ReleaseBeforeStop: "the lease is released before the work has stopped",
            SoftDeadlineIgnored: "work is told to stop only at the hard deadline",
            IneligibleCampaigns: "a node that may not lead claims all the same",
            ConflictKeepsLeading: "a leader that sees a higher epoch goes on",
            HintSkipsWait: "a hint lets a claim skip the wait after a store failover",
            LeapsMeet: "two leaps from the same rolled-back epoch end at the same number",
            LeapFromFloor: "a leap is counted from the floor, which has leapt already",
            GrantOutlivesStanding: "a node made ineligible while its claim was under way leads",
            ClaimsInATightLoop: "a refused claim is made again at once",
            FailedPluginsKeepLeading: "a leader whose plugins fail keeps the lease",
            FreezeIgnored: "time that the clock did not count does not count for a window either",
            FirstRefusalBelieved: "a refused dial is proof without an earlier connection",
            ResetThenRefusalBelieved: "a connection that was reset still makes a refusal a proof",
            HintRefusalHoldsClaim: "a refused bid that a hint caused puts the claim off by a beat",
            DeadStayListed: "the record of a process that is proved dead stays in the store",
            JoinUntold: "a node that joins waits until the leader next reads the records",
            LeaveUntold: "a node that leaves stays in the line until the records are next read",
            LineUntold: "the first successors learn of a new leader with their next beat",
            IdHolderWaitedOut: "a restarted node waits for its past self to fall silent",
            IdHolderPresumedDead: "a node takes its id over from a process that lives",
            HintsWithoutBudget: "a node heeds every hint, however many come",
        }
        Schedules {
            StartsBeforeClaim: "a run is started before the write that claims it is answered",
            CutOffRunForgotten: "a run that was cut off leaves the page without a trace",
            CatchUpWithoutCap: "all missed slots are caught up with, whatever the cap and the age",
            EditRacesFire: "a page that was changed meanwhile is written over",
            CutOffRunRepeated: "a run that was cut off runs again although it may not",
            DaylightHourDoubled: "a local time that the clock shows twice is due twice",
            PauseIgnored: "the slots of a paused schedule are decided on",
            PauseIgnoredByFire: "a claim that an edit was faster than is started all the same",
            OverlapForgotten: "a run that was cut off once does not count as under way",
            UnknownClaimForgotten: "a claim without an answer counts as started",
            WriteWithoutFence: "pages are written without the epoch",
            StepBackDecidesAgain: "a wall clock that is stepped back makes slots due again",
            SkipRunsLate: "under misfire skip, a slot that is beyond its grace is run",
            ReplacedRunsOn: "a newer slot starts before the run that it replaces has stopped",
            EndDuringWriteLost: "an end that is reported while the page is written is lost",
            ResumeMakesUp: "the slots of a pause are made up for when it ends",
            RetriesOverlap: "runs that are tried again do not wait for each other",
            RemovedRunsStay: "a run that waits for a retry stays when its schedule is removed",
            PauseDropsSlots: "slots that wait when a schedule is paused are not counted",
            PlacedTwice: "a schedule that may be on one page already is put on another",
            StopsInATightLoop: "a scheduler that is told to stop is woken again and again",
            LoadsInATightLoop: "a scheduler that reads a page is woken again and again",
            RequestsOverlap: "a page is asked for again while a request for it is under way",
            RetriesForgotten: "a run that failed is not tried again",
        }
        Once {
            OnceRunsUnclaimed: "work is run without waiting for its claim to be in the store",
            OnceUnsureClaimIsWritten: "a claim without an answer counts as written",
            OnceUnsureNotRead: "a claim without an answer is written again, and never read",
            OnceUnsureEndGivenUp: "an end without an answer counts as not written",
            OnceFencedEndIsWritten: "an end that was refused counts as written",
            OnceOwnClaimIsCutOff: "a leader takes its own claim for a run that was cut off",
            OnceTermRunsTwice: "a run that was given back without an end is run again in its term",
            OnceSuccessForgotten: "a new leader runs what succeeded while it waited",
            OnceWriteRaces: "a record is written over whatever is there",
            OnceWriteWithoutFence: "records are written without the epoch",
            OnceCutOffRepeated: "under skip, a run that was cut off is run again",
            OnceOldFailureTaken: "a process ends with a failure from before it began to wait",
            OnceFailureForgotten: "a claim loses the failure with which others are to end",
            OnceRunCountsAsEnded: "a run under way counts as ended for one that begins to wait",
            OnceAttemptNotRaised: "the number of the attempt is not raised",
        }
        Partitions {
            KeptBeyondWindow: "a process keeps its partitions when its window closes",
            SessionOutlived: "a process takes up what it was given in a session that is over",
            SessionOpenedLate: "a session is opened long after it was first reported",
            UnwrittenBeatOpensWindow: "a beat that was not written keeps the window open",
            StaleDocumentTaken: "a process takes an older version of its document for the present",
            StartsBeforeStopped: "a partition is started anew while its old work still stops",
            LineageKeepsSession: "a process keeps its partitions when the store's data went back",
            AssignmentWithoutFence: "documents are written without the epoch",
            ReleaseAssumed: "a live owner that was asked to release counts as having done so",
            MoveInMemory: "a partition leaves its owner's document when its release is requested",
            OtherBootAcknowledges: "another process of the node can acknowledge a release",
            CancelKeepsToken: "a release that is cancelled keeps its token",
            SilenceJudgedAtReceipt: "silence is judged by when a reading arrives",
            AbsenceIsRelease: "a process whose record is gone, or another's, has released all",
            UnknownBatchForgotten: "a write of documents without an answer counts as not made",
            LineageTrusted: "partitions are given away at once after the store's data went back",
            StoppingForgotten: "what a process still stops in a new session counts as released",
            OlderTokenCounts: "of two documents with a partition, the older one counts",
            SlotUsedEarly: "a document is used again while its process may run what stands in it",
            LossUnseen: "partitions are given away at once when every document was lost",
            TokensBeginAnew: "a new coordinator does not count on from the tokens that were given",
            TokensDoNotLeap: "tokens do not leap when the store's data went back",
            QuotaPerList: "each task list is spread by itself, as if it were the only one",
            PartitionsWander: "who should own what changes with every write",
        }
    }

    static PLANTED: AtomicUsize = AtomicUsize::new(usize::MAX);

    /// Plants one bug in this process, or none.
    pub fn plant(bug: Option<Bug>) {
        PLANTED.store(bug.map_or(usize::MAX, |b| b as usize), Ordering::Relaxed);
    }

    /// Is this bug planted?
    pub fn is_planted(bug: Bug) -> bool {
        PLANTED.load(Ordering::Relaxed) == bug as usize
    }
}
