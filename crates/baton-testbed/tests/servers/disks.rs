//! A disk that is full.

use baton_testbed::disk::SmallDisk;
use baton_testbed::{Kind, Options, Server, TestbedError};

use crate::client::{sql, write};

#[tokio::test]
async fn a_server_on_a_full_disk_says_so_and_recovers() {
    let disk = match SmallDisk::new(160 << 20) {
        Ok(disk) => disk,
        Err(refused) => {
            assert!(matches!(refused, TestbedError::NotArrangeable { .. }), "{refused}");
            return;
        }
    };
    let folder = Some(disk.path().join("server"));
    let options = Options { folder, ..Options::default() };
    let server = Server::start_with(Kind::Postgres, options).await.expect("there is room");
    write(&server);
    disk.fill().expect("it can be written");
    let grow = "CREATE TABLE big AS SELECT repeat('x', 100) FROM generate_series(1, 100000)";
    let said = sql(&server, grow);
    assert!(said.contains("No space left on device"), "{said}");
    disk.make_room().expect("the ballast is there");
    server.start_again().await.expect("it runs");
    assert_eq!(sql(&server, grow), "SELECT 100000");
    drop(server);
    let folder = disk.path().to_path_buf();
    drop(disk);
    assert!(!folder.exists());
}
