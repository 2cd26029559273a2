//! The server under test, and what can be done to it and to the objects in it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_drivers::s3::object_store::path::Path;
use baton_drivers::s3::object_store::{ObjectStore, ObjectStoreExt};
use baton_testbed::subject::Fixture;
use baton_testbed::{Kind, Server, TestbedError};

/// A server, and a copy of some objects in it.
pub struct S3Fixture {
    pub server: Server,
    copy: Mutex<Vec<(Path, Vec<u8>)>>,
}

impl S3Fixture {
    pub async fn start() -> Self {
        let server = Server::start(Kind::Ministack).await.expect("it can be started");
        Self { server, copy: Mutex::default() }
    }

    /// A client that goes behind the store's back.
    pub fn objects(&self) -> Arc<dyn ObjectStore> {
        baton_drivers::s3::client(&self.url()).expect("the URL is sound")
    }

    /// The prefix that the URL names.
    pub fn prefix(&self) -> String {
        let url = self.url();
        let (_, path) = url.split_once("://").expect("it is a URL");
        let (place, _) = path.split_once('?').unwrap_or((path, ""));
        place.split_once('/').map_or(String::new(), |(_, prefix)| prefix.to_owned())
    }

    /// The folder of a namespace.
    pub fn folder(&self, namespace: &Namespace) -> Path {
        Path::from(self.prefix()).join(format!("namespace={namespace}"))
    }

    /// Switches versioning on for the bucket.
    pub fn keep_versions(&self) {
        let xml = "<VersioningConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
                   <Status>Enabled</Status></VersioningConfiguration>";
        let length = xml.len();
        let request = format!(
            "PUT /baton?versioning HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
             Content-Length: {length}\r\n\r\n{xml}"
        );
        let mut stream = TcpStream::connect(self.server.address()).expect("the server listens");
        stream.write_all(request.as_bytes()).expect("the server listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the server answers");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    /// The bodies of the namespace's documents.
    pub async fn bodies(&self, namespace: &Namespace) -> Vec<Path> {
        let folder = self.folder(namespace).join("documents");
        let found = self.all(namespace).await.expect("the server answers");
        let keys = found.into_iter().map(|(key, _)| key);
        keys.filter(|key| key.prefix_matches(&folder)).collect()
    }

    /// The objects of a namespace: those in its folder, and those further down.
    async fn all(&self, namespace: &Namespace) -> Result<Vec<(Path, Vec<u8>)>, String> {
        let (objects, mut found) = (self.objects(), Vec::new());
        let mut folders = vec![self.folder(namespace)];
        while let Some(folder) = folders.pop() {
            let listed = objects.list_with_delimiter(Some(&folder)).await;
            let listed = listed.map_err(|error| error.to_string())?;
            folders.extend(listed.common_prefixes);
            for meta in listed.objects {
                let read = objects.get(&meta.location).await.map_err(|error| error.to_string())?;
                let body = read.bytes().await.map_err(|error| error.to_string())?;
                found.push((meta.location, body.to_vec()));
            }
        }
        Ok(found)
    }
}

#[async_trait]
impl Fixture for S3Fixture {
    fn url(&self) -> String {
        self.server.url()
    }

    /// There is no session that could have a zone; a process has one.
    fn url_in_another_zone(&self) -> Option<String> {
        Some(self.server.url())
    }

    async fn restart(&self) -> Result<bool, String> {
        match self.server.kill().await {
            Err(TestbedError::NotOurs { .. }) => return Ok(false),
            killed => killed.map_err(|error| error.to_string())?,
        }
        self.server.start_again().await.map_err(|error| error.to_string())?;
        Ok(true)
    }

    async fn keep_copy(&self, namespace: &Namespace) -> Result<bool, String> {
        let copy = self.all(namespace).await?;
        *self.copy.lock().expect("no holder panics") = copy;
        Ok(true)
    }

    async fn restore_copy(&self, namespace: &Namespace) -> Result<(), String> {
        let objects = self.objects();
        let copy = self.copy.lock().expect("no holder panics").clone();
        for (key, _) in self.all(namespace).await? {
            if !copy.iter().any(|(kept, _)| *kept == key) {
                objects.delete(&key).await.map_err(|error| error.to_string())?;
            }
        }
        for (key, body) in copy {
            objects.put(&key, body.into()).await.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    async fn corrupt(&self, namespace: &Namespace) -> Result<bool, String> {
        let key = self.folder(namespace).join("state.json");
        let put = self.objects().put(&key, "Dear diary".into()).await;
        put.map(|_| true).map_err(|error| error.to_string())
    }
}
