//! Whether the server does what everything rests on: tried out when a bucket is first opened.
//!
//! A server that ignores conditions answers 200 to a second create, and two nodes would lead. That
//! conditions are honoured *atomically* cannot be seen by one client; a race of several can.

use std::collections::BTreeSet;
use std::sync::Mutex;

use object_store::path::Path;

use super::bucket::{Condition, Got, Put};
use super::error::RequestError;
use super::store::S3Engine;
use crate::OpenError;

/// What this process has found to be fit.
static FIT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// An ETag that no content has.
const NO_ETAG: &str = "\"00000000000000000000000000000000\"";

const REMEDY: &str =
    "use a server with conditional writes: AWS S3, or one that docs/stores/s3.md names";

impl S3Engine {
    /// Tries the server out under a name that no other process has, once a process and bucket.
    pub(super) async fn self_test(&self, name: u128) -> Result<(), OpenError> {
        let place = self.config.place();
        let key = format!("{place} {}", self.config.prefix);
        if FIT.lock().expect("no holder of this lock panics").contains(&key) {
            return Ok(());
        }
        let (folder, object) = self.layout.self_test(&format!("{name:032x}.json"));
        let tried = self.try_out(&folder, &object).await;
        // Whatever was found, the object is not left behind if that can be helped.
        let removed = self.bucket.delete(&object, self.deadline()).await;
        match tried.map_err(|error| error.open_error(&place))? {
            Some(finding) => {
                let remedy = REMEDY.to_owned();
                return Err(OpenError::Unfit { store: "s3", place, finding, remedy });
            }
            None => removed.map_err(|error| error.open_error(&place))?,
        }
        FIT.lock().expect("no holder of this lock panics").insert(key);
        Ok(())
    }

    /// What the server does not do, if there is anything.
    async fn try_out(&self, folder: &Path, key: &Path) -> Result<Option<String>, RequestError> {
        let found = |text: &str| Ok(Some(text.to_owned()));
        let body = |number: u32| format!("{{\"self-test\":{number}}}").into_bytes();
        let put = async |number, condition| {
            self.bucket.put(key, body(number), None, condition, self.deadline()).await
        };
        let Put::Written(first) = put(1, Condition::Absent).await? else {
            return found("a first create was refused as if the object were there");
        };
        if put(2, Condition::Absent).await? != Put::Lost {
            return found("If-None-Match: * was ignored: a second create was answered 200");
        }
        if put(3, Condition::Matches(NO_ETAG)).await? != Put::Lost {
            return found(
                "If-Match was ignored: a write on an ETag that never was is answered 200",
            );
        }
        let Put::Written(second) = put(4, Condition::Matches(&first)).await? else {
            return found("If-Match with the ETag that was just given is refused");
        };
        if put(5, Condition::Matches(&first)).await? != Put::Lost {
            return found("If-Match was ignored: a write on an earlier ETag was answered 200");
        }
        match self.bucket.get(key, None, self.deadline()).await? {
            Got::Found { body: read, etag, .. } if read == body(4) && etag == second => {}
            _ => return found("a read after a write shows something else than was written"),
        }
        let listed = self.bucket.list(folder, self.deadline()).await?;
        if !listed.objects.iter().any(|meta| meta.location == *key) {
            return found("a listing after a write does not show it");
        }
        Ok(None)
    }
}
