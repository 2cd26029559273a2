//! A web service of which several replicas run: all of them answer, one of them writes the reports.
//! axum, a plugin, fenced writes, metrics, logs, and an orderly end on SIGTERM.
//!
//! `cargo run -p baton --example axum_service --features http,postgres -- [STORE-URL]`, with an
//! embedded store by default or with a PostgreSQL URL. `LISTEN`, `METRICS` and `NODE_ID` in the
//! environment tell the replicas of one machine apart.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use baton::drivers::postgres::tokio_postgres::{self, Client, NoTls};
use baton::drivers::sqlite::rusqlite::Connection;
use baton::drivers::{postgres, sqlite};
use baton::{Departure, Event, Events, Leadership, Node, Plugin, PluginError, async_trait};
use tokio::task::JoinSet;

/// Where the reports are: a database of the service's own.
enum Reports {
    /// A file beside the embedded store.
    Sqlite(String),
    /// The database that the store is in.
    Postgres(String),
}

const CREATE: &str = "CREATE TABLE IF NOT EXISTS reports (epoch bigint NOT NULL)";
const COUNT: &str = "SELECT count(*) FROM reports";

impl Reports {
    fn beside(store_url: &str) -> Result<Self, PluginError> {
        let url = baton::client_url(store_url)?;
        Ok(match url.strip_prefix("sqlite://") {
            Some(file) => Self::Sqlite(format!("{file}.reports")),
            None => Self::Postgres(url),
        })
    }

    /// Makes the table. The leader alone does it: two at once would be refused.
    async fn create(&self) -> Result<(), PluginError> {
        match self {
            Self::Sqlite(file) => Ok(open(file)?.execute_batch(CREATE)?),
            Self::Postgres(url) => {
                let (client, _connection) = connect(url).await?;
                Ok(client.batch_execute(CREATE).await?)
            }
        }
    }

    /// Writes one report, unless a later term has written one: the epoch is checked in the very
    /// transaction of the write. PostgreSQL ends that transaction if it stands still for a lease.
    async fn write(&self, term: &Leadership) -> Result<(), PluginError> {
        let epoch = term.epoch();
        let number = i64::try_from(u64::from(epoch))?;
        match self {
            Self::Sqlite(file) => {
                let mut database = open(file)?;
                sqlite::fence::Fence::new("reports").write(&mut database, epoch, |work| {
                    work.execute("INSERT INTO reports VALUES (?1)", [number])
                })?;
                Ok(())
            }
            Self::Postgres(url) => {
                let (mut client, _connection) = connect(url).await?;
                let transaction = client.transaction().await?;
                let fence = postgres::fence::Fence::new("reports").within(term.lease_timeout());
                fence.admit(&transaction, epoch).await?;
                transaction.execute("INSERT INTO reports VALUES ($1)", &[&number]).await?;
                Ok(transaction.commit().await?)
            }
        }
    }

    async fn count(&self) -> Result<i64, PluginError> {
        match self {
            Self::Sqlite(file) => Ok(open(file)?.query_row(COUNT, (), |row| row.get(0))?),
            Self::Postgres(url) => {
                let (client, _connection) = connect(url).await?;
                Ok(client.query_one(COUNT, &[]).await?.get(0))
            }
        }
    }
}

fn open(file: &str) -> Result<Connection, PluginError> {
    let database = Connection::open(file)?;
    database.busy_timeout(Duration::from_secs(2))?;
    Ok(database)
}

/// A client, and the task that serves it until it is dropped. A busier service keeps a pool.
async fn connect(url: &str) -> Result<(Client, JoinSet<()>), tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    let mut serving = JoinSet::new();
    // A connection that breaks shows at the next statement of its client.
    serving.spawn(async move { drop(connection.await) });
    Ok((client, serving))
}

/// The work that only the leader does.
struct WriteReports(Arc<Reports>);

#[async_trait]
impl Plugin for WriteReports {
    fn name(&self) -> &str {
        "reports"
    }

    fn work_interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    async fn on_become_coordinator(&self, _: &Leadership) -> Result<(), PluginError> {
        self.0.create().await
    }

    async fn coordinator_work(&self, term: &Leadership) -> Result<(), PluginError> {
        self.0.write(term).await
    }
}

/// What every replica answers.
async fn overview(State((node, reports)): State<(Node, Arc<Reports>)>) -> (StatusCode, String) {
    let leader = node.leader().map_or_else(|| "none".to_owned(), |leader| leader.to_string());
    match reports.count().await {
        Ok(count) => (StatusCode::OK, format!("{count} reports; leader: {leader}\n")),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")),
    }
}

/// A line of JSON for each event, besides the beats.
async fn log(mut events: Events) {
    while let Some(stamped) = events.next().await {
        if !matches!(stamped.event, Event::WorkerHeartbeat { .. }) {
            eprintln!("{}", serde_json::to_string(&*stamped).unwrap_or_default());
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), PluginError> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());
    let listen = std::env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:8080".to_owned());
    let metrics = std::env::var("METRICS").unwrap_or_else(|_| "127.0.0.1:9090".to_owned());

    let reports = Arc::new(Reports::beside(&url)?);
    let mut node = Node::builder(baton::open(&url).await?)
        .metrics(metrics)
        .plugin(WriteReports(reports.clone()));
    if let Ok(id) = std::env::var("NODE_ID") {
        node = node.id(id);
    }
    let (node, events) = node.build_with_events()?;
    let mut logging = JoinSet::new();
    logging.spawn(log(events));

    let listener = tokio::net::TcpListener::bind(&listen).await?;
    println!("{} listens on http://{}", node.id(), listener.local_addr()?);
    if let Some(address) = node.metrics_endpoint() {
        println!("metrics at http://{address}/metrics");
    }
    let app = Router::new().route("/", get(overview)).with_state((node.clone(), reports));
    // On SIGTERM leadership is handed over first, so that the next leader works while requests end.
    let leaving = node.clone();
    let asked_to_end = async move { drop(leaving.until_signalled().await) };
    axum::serve(listener, app).with_graceful_shutdown(asked_to_end).await?;
    match node.leave().await {
        Departure::Left => println!("left"),
        other => return Err(format!("the node has not left in order: {other:?}").into()),
    }
    Ok(())
}
