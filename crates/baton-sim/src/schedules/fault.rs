//! What goes wrong in the world of schedules.

use crate::scripted::faults;

faults! {
    SlowRequest = "slow-request": "A request reaches the store after its timeout.",
    LostRequest = "lost-request": "A request is lost.",
    LostReply = "lost-reply": "A reply is lost.",
    Reset = "reset": "A connection is reset while its request goes on: the answer is unknown.",
    FailedRequest = "failed-request": "A request fails and is certainly not carried out.",
    StoreAway = "store-away": "The store does not answer for seconds.",
    Crash = "crash": "The leader's process dies, and its runs with it.",
    Pause = "pause": "The leader is paused beyond its window; its guard kills its runs.",
    ShortPause = "short-pause": "The leader is paused within its window.",
    UnreportedEnd = "unreported-end": "A handover in which the ends of runs are not reported.",
    SchedulerFails = "scheduler-fails": "A scheduler fails; another one of its term follows.",
    WorkLost = "work-lost": "A run is cut off although its scheduler goes on.",
    OldRequest = "old-request": "A write of an earlier term reaches the store.",
    WallAhead = "wall-ahead": "A wall clock is stepped forward.",
    WallBack = "wall-back": "A wall clock is stepped back.",
    ClockChange = "clock-change": "A zone changes between summer and winter time.",
    SchedulePaused = "schedule-paused": "A person pauses a schedule.",
    ScheduleResumed = "schedule-resumed": "A person resumes a schedule.",
    RunRequested = "run-requested": "A person asks for a run.",
    EditConflict = "edit-conflict": "A person's edit meets a page that was changed meanwhile.",
    Deploy = "deploy": "The leader declares another set of schedules.",
    MixedVersions = "mixed-versions": "A term begins with a set that its predecessor did not have.",
    RunFails = "run-fails": "A run fails.",
    RunTimesOut = "run-times-out": "A run takes longer than its timeout.",
}
