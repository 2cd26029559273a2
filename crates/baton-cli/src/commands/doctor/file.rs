//! The file of an embedded store: where it is, how large, who may write to it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::Finding;

/// Less free space than this is worth a warning.
const FREE_MIN: u64 = 64 << 20;

/// Names of local file systems, by the number that the kernel has for them.
const FILE_SYSTEMS: [(u64, &str); 8] = [
    (0xEF53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683E, "btrfs"),
    (0x0102_1994, "tmpfs"),
    (0x794C_7630, "overlayfs"),
    (0x2FC1_2FC1, "zfs"),
    (0xF2F5_2010, "f2fs"),
    (0x8584_58F6, "ramfs"),
];

/// Looks at the file and what it lies on.
pub fn examine(file: &Path) -> Vec<Finding> {
    let mut findings = vec![size(file)];
    findings.extend(writable_by_all(file));
    findings.extend(file_system(file));
    findings
}

fn size(file: &Path) -> Finding {
    let bytes = |path: &Path| std::fs::metadata(path).map(|meta| meta.len()).unwrap_or_default();
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    let detail = format!("{} with a log of {}", show(bytes(file)), show(bytes(Path::new(&log))));
    Finding::ok("file", detail)
}

fn writable_by_all(file: &Path) -> Option<Finding> {
    let mode = std::fs::metadata(file).ok()?.permissions().mode();
    (mode & 0o002 != 0).then(|| {
        Finding::warn(
            "rights",
            format!("all users may write to the file (mode {:o})", mode & 0o777),
            format!("chmod o-w {}", file.display()),
        )
    })
}

fn file_system(file: &Path) -> Option<Finding> {
    let stat = rustix::fs::statfs(file).ok()?;
    // The kernel's own number; its type differs between machines.
    let magic = u64::try_from(stat.f_type).unwrap_or_default() & 0xFFFF_FFFF;
    let known = FILE_SYSTEMS.iter().find(|(number, _)| *number == magic);
    let name = known.map_or_else(|| format!("type {magic:#x}"), |(_, name)| (*name).to_owned());
    let block = u64::try_from(stat.f_bsize).unwrap_or_default();
    let free = stat.f_bavail.saturating_mul(block);
    let detail = format!("{name}, {} free", show(free));
    if free < FREE_MIN {
        return Some(Finding::warn("disk", detail, "make room: a full disk stops every election"));
    }
    if matches!(name.as_str(), "tmpfs" | "ramfs") {
        let remedy = "fine for a try; epochs begin anew after a reboot";
        return Some(Finding::warn("disk", format!("{detail}; gone after a reboot"), remedy));
    }
    Some(Finding::ok("disk", detail))
}

fn show(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{} KB", bytes / 1_024),
        1_048_576..1_073_741_824 => format!("{} MB", bytes / 1_048_576),
        _ => format!("{} GB", bytes / 1_073_741_824),
    }
}
