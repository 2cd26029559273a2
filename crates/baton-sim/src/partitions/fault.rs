//! What goes wrong in the world of partitions.

use crate::scripted::faults;

faults! {
    SlowRequest = "slow-request": "A request reaches the store after its timeout.",
    LostRequest = "lost-request": "A request is lost.",
    LostReply = "lost-reply": "A reply is lost.",
    SlowReply = "slow-reply": "A reply comes seconds after the request was carried out.",
    Reset = "reset": "A connection is reset while its request goes on: the answer is unknown.",
    FailedRequest = "failed-request": "A request fails and is certainly not carried out.",
    StaleRead = "stale-read": "A process reads its document from a copy that lags behind.",
    StoreAway = "store-away": "The store does not answer for seconds.",
    DataLoss = "data-loss": "The store's data goes back to an older copy, with a new lineage.",
    LeaderCrash = "leader-crash": "The leader's process dies.",
    LeaderPause = "leader-pause": "The leader is paused, and a next one is granted meanwhile.",
    HandOver = "hand-over": "A term ends with its last requests still on their way.",
    Crash = "crash": "A process dies.",
    ProvedDeath = "proved-death": "A death is proved to the leader.",
    Restart = "restart": "A machine's process begins anew under its id.",
    Pause = "pause": "A process is paused.",
    OneWay = "one-way": "A process reaches the store for a while, and no reply reaches it.",
    Leave = "leave": "A process leaves without waiting for its partitions to be taken over.",
    Drain = "drain": "A process has its partitions taken over, and leaves.",
    SlowStop = "slow-stop": "The work of a partition takes long to stop.",
    Usurped = "usurped": "A new process takes the id of one that still lives.",
    Superseded = "superseded": "A process finds that another one has taken its id.",
    HintLost = "hint-lost": "A node is not told that its document has moved.",
    ListChanged = "list-changed": "A task list grows, shrinks, comes, goes or is paused.",
    MovesPaused = "moves-paused": "A person pauses voluntary moves for a while.",
    MovedByHand = "moved-by-hand": "A person moves a partition to a node, or forgets such moves.",
}
