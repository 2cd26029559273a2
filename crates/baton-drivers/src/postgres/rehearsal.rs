//! What a new session does once before it is needed.

use tokio_postgres::Client;

const REHEARSE: &str = include_str!("sql/rehearse.sql");

/// Has the session read and plan what a handover calls. Nothing is left behind. If it fails, so
/// will the first real step, which says why.
pub(super) async fn rehearse(client: &Client, names: &str) {
    let sql = REHEARSE.replace("{t}", names);
    if client.batch_execute(&sql).await.is_err() {
        let _ = client.batch_execute("ROLLBACK").await;
    }
}
