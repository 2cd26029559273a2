//! A disk that is soon full.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::error::{ErrorContext, TestbedError};
use crate::folders;

/// Mounts it, and unmounts it when the test that holds the other end of stdin is gone.
const LEASH: &str = r#"
mount -t tmpfs -o "size=$1,mode=0755" baton-testbed "$2" 2>&1 || exit 1
echo mounted
exec >/dev/null
read -r _
umount -l "$2"
rmdir "$2"
"#;

/// A file system of a few megabytes in memory. Gone when it is dropped.
pub struct SmallDisk {
    leash: Child,
    folder: PathBuf,
}

impl SmallDisk {
    /// Mounts one. Only the superuser can.
    pub fn new(bytes: u64) -> Result<Self, TestbedError> {
        let refused = |why| TestbedError::NotArrangeable { what: "a small disk", why };
        if !folders::is_root() {
            return Err(refused("only the superuser can mount one".to_owned()));
        }
        let folder = folders::temporary("disk", true)?.keep();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", LEASH, "disk", &bytes.to_string()]).arg(&folder).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut leash = command.spawn().context(|| "mounting a small disk".to_owned())?;
        let mut said = String::new();
        let stdout = leash.stdout.take().expect("it was asked for");
        let read = BufReader::new(stdout).read_line(&mut said);
        read.context(|| "mounting a small disk".to_owned())?;
        let disk = Self { leash, folder };
        match said.trim() {
            "mounted" => Ok(disk),
            why => Err(refused(why.to_owned())),
        }
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Fills it up to the last byte.
    pub fn fill(&self) -> Result<(), TestbedError> {
        let ballast = self.ballast();
        let what = || format!("filling {}", ballast.display());
        let mut file = File::create(&ballast).context(what)?;
        for size in [65_536, 4_096, 1] {
            loop {
                match file.write_all(&vec![0; size]) {
                    Ok(()) => {}
                    Err(error) if error.kind() == io::ErrorKind::StorageFull => break,
                    Err(error) => return Err(error).context(what),
                }
            }
        }
        Ok(())
    }

    /// Takes away what filled it.
    pub fn make_room(&self) -> Result<(), TestbedError> {
        let ballast = self.ballast();
        fs::remove_file(&ballast).context(|| format!("removing {}", ballast.display()))
    }

    fn ballast(&self) -> PathBuf {
        self.folder.join("ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(self.leash.stdin.take());
        let _ = self.leash.wait();
        // Still there if it was never mounted.
        let _ = fs::remove_dir(&self.folder);
    }
}
