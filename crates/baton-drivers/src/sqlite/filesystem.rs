//! File systems that machines share, or that imitate one: locks and shared memory fail there.

/// The number that `statfs` gives as the type, and a name for people.
const SHARED: [(u32, &str); 22] = [
    (0x0000_517b, "smb"),
    (0x0000_564c, "ncp"),
    (0x0000_6969, "nfs"),
    (0x00c3_6400, "ceph"),
    (0x0102_1997, "9p"),
    (0x0116_1970, "gfs2"),
    (0x0bd0_0bd0, "lustre"),
    (0x1803_1977, "wekafs"),
    (0x1983_0326, "beegfs"),
    (0x4750_4653, "gpfs"),
    (0x5346_414f, "afs"),
    (0x6163_6673, "acfs"),
    (0x6573_5546, "fuse"),
    (0x6b41_4653, "afs"),
    (0x7375_7245, "coda"),
    (0x7461_636f, "ocfs2"),
    (0x786f_4256, "vboxsf"),
    (0x7c7c_6673, "prl_fs"),
    (0xaad7_aaea, "panfs"),
    (0xbacb_acbc, "vmhgfs"),
    (0xfe53_4d42, "smb2"),
    (0xff53_4d42, "cifs"),
];

/// The name of this type of file system, if machines share it.
pub(super) fn shared(type_number: u32) -> Option<&'static str> {
    let at = SHARED.binary_search_by_key(&type_number, |(number, _)| *number).ok()?;
    Some(SHARED[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_file_systems_are_known_and_local_ones_are_not() {
        assert!(SHARED.is_sorted(), "the search needs the order");
        let known = [0x6969, 0xff53_4d42, 0xfe53_4d42, 0x6573_5546, 0x0102_1997].map(shared);
        assert_eq!(known, ["nfs", "cifs", "smb2", "fuse", "9p"].map(Some));
        let (ext4, xfs, btrfs, tmpfs, overlay) =
            (0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630);
        for local in [ext4, xfs, btrfs, tmpfs, overlay] {
            assert_eq!(shared(local), None, "{local:x}");
        }
    }
}
