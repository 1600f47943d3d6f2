//! The tables of key/value stores: their figures, and the source of today's.

use super::papers::{Contender, ENGINE, ENVIRONMENT, MEMCACHE, NONE, Table, Today, Unit, line, of};
use crate::memcache::MEMCACHED;

use Today::{Code, Longest, Row};
use Unit::{Bytes, PerSecond, Seconds};

const STORES: &[Contender] = &[
    of("MDB", "lmdb-0.9.36"),
    of("Berkeley DB", "berkeley"),
    of("LevelDB", "leveldb"),
    of("Kyoto Cabinet TreeDB", "kyoto"),
    of("SQLite", "sqlite"),
    of("Fulgurite", "fulgurite"),
];

pub(super) const F1: Table = Table {
    id: "F1",
    title: "Size of the library",
    theirs: "The text section of five benchmark programs, each linked statically with its library.",
    today: "The text section of each shared library. `scripts/size.sh` has the parts of ours.",
    contenders: &[
        of("MDB", "lmdb-0.9.36"),
        of("Berkeley DB", "berkeley"),
        of("LevelDB", "leveldb"),
        of("Kyoto Cabinet TreeDB", "kyoto"),
        of("SQLite", "sqlite"),
        of("Fulgurite, C library", "fulgurite-c"),
    ],
    lines: &[line(
        "code and constants",
        Bytes,
        &[96_879.0, 1_682_579.0, 271_991.0, 296_244.0, 655_988.0],
        Code,
    )],
    not_run: "static programs of one source, code touched by reads, waste of an append-only store",
};

pub(super) const F2: Table = Table {
    id: "F2",
    title: "Reads of small records, all cached",
    theirs: "A laptop of 2008 (4 cores, 2.53 GHz, 8 GB). 1,000,000 records of 16 + 100 bytes.",
    today: "The same records. The figure is CPU time.",
    contenders: STORES,
    lines: &[
        line(
            "sequential reads",
            PerSecond,
            &[14_492_754.0, 879_507.0, 4_504_505.0, 1_282_051.0, 339_328.0],
            Row(ENGINE, "scan"),
        ),
        line(
            "random reads",
            PerSecond,
            &[768_640.0, 173_641.0, 187_196.0, 218_675.0, 101_276.0],
            Row(ENGINE, "get"),
        ),
    ],
    not_run: "",
};

pub(super) const F3: Table = Table {
    id: "F3",
    title: "Reads of large records",
    theirs: "The same laptop. 1,000 values of 100,000 bytes. MDB did not look at the values.",
    today: "The same records. The random read looks at both ends of each value.",
    contenders: STORES,
    lines: &[
        line(
            "sequential reads, values not looked at",
            PerSecond,
            &[33_333_333.0, 9_174.0, 194_628.0, 18_536.0, 7_476.0],
            Row(ENGINE, "large-scan-keys"),
        ),
        line(
            "sequential reads, every byte looked at",
            PerSecond,
            &[],
            Row(ENGINE, "large-scan-whole"),
        ),
        line(
            "random reads",
            PerSecond,
            &[2_012_072.0, 9_347.0, 17_115.0, 17_207.0, 7_690.0],
            Row(ENGINE, "large-get"),
        ),
    ],
    not_run: "",
};

pub(super) const F4: Table = Table {
    id: "F4",
    title: "Writes that are not waited for, one record a transaction",
    theirs: "The same laptop, eleven file systems. Charts without numbers: LevelDB was ahead of all others, with few exceptions.",
    today: "100,000 records, files in memory.",
    contenders: STORES,
    lines: &[
        line(
            "sequential fill",
            PerSecond,
            &[],
            Row(ENGINE, "put-single-sequential"),
        ),
        line(
            "random fill",
            PerSecond,
            &[],
            Row(ENGINE, "put-single-scattered"),
        ),
    ],
    not_run: "other file systems than tmpfs",
};

pub(super) const F5: Table = Table {
    id: "F5",
    title: "Writes that are not waited for, 1,000 records a transaction",
    theirs: "As F4. MDB stored over a million records a second in order, told that they are. In random order it was the fastest \
             on btrfs, ext3, ext4, reiserfs and xfs. Kyoto has no batches.",
    today: "1,000,000 records, files in memory.",
    contenders: STORES,
    lines: &[
        line(
            "sequential fill, order known",
            PerSecond,
            &[1_000_000.0],
            Row(ENGINE, "append"),
        ),
        line(
            "sequential fill",
            PerSecond,
            &[],
            Row(ENGINE, "put-sequential"),
        ),
        line("random fill", PerSecond, &[], Row(ENGINE, "put-scattered")),
    ],
    not_run: "other file systems than tmpfs",
};

pub(super) const F6: Table = Table {
    id: "F6",
    title: "Writes that are waited for",
    theirs: "As F4. Most had tens of writes a second on a hard disk. jfs had thousands with its journal in memory, more than ext2.",
    today: "1,000 records, one a transaction. First this machine's disk, then file systems in files on it.",
    contenders: STORES,
    lines: &[
        line(
            "sequential fill, this disk",
            PerSecond,
            &[],
            Row(ENGINE, "sync-fill-sequential"),
        ),
        line(
            "random fill, this disk",
            PerSecond,
            &[],
            Row(ENGINE, "sync-fill-scattered"),
        ),
        line(
            "random fill, ext2",
            PerSecond,
            &[],
            Row("ext2", "sync-fill-scattered"),
        ),
        line(
            "random fill, ext3",
            PerSecond,
            &[],
            Row("ext3", "sync-fill-scattered"),
        ),
        line(
            "random fill, ext3, journal in memory",
            PerSecond,
            &[],
            Row("ext3-journal", "sync-fill-scattered"),
        ),
        line(
            "random fill, ext4",
            PerSecond,
            &[],
            Row("ext4", "sync-fill-scattered"),
        ),
        line(
            "random fill, ext4, journal in memory",
            PerSecond,
            &[],
            Row("ext4-journal", "sync-fill-scattered"),
        ),
        line(
            "random fill, xfs",
            PerSecond,
            &[],
            Row("xfs", "sync-fill-scattered"),
        ),
        line(
            "random fill, btrfs",
            PerSecond,
            &[],
            Row("btrfs", "sync-fill-scattered"),
        ),
    ],
    not_run: "fills in batches, jfs, reiserfs, ntfs and zfs, xfs with its journal elsewhere",
};

pub(super) const F7: Table = Table {
    id: "F7",
    title: "MemcacheDB: writes by 4 clients",
    theirs: "A load tool of memcached. Record size, number of records and machine are not told.",
    today: "A small server of memcached's protocol in front of each store, 100,000 records of 100 bytes, files in memory. \
            Nobody waits for a disk. The server has one core, the clients another. In front of Berkeley DB one client \
            writes at a time. Where a write is waited for, the files are on a disk and the clients are 64.",
    contenders: &[
        of("MDB", "lmdb-0.9.36"),
        of("Berkeley DB", "berkeley"),
        of("memcached", MEMCACHED),
        of("Fulgurite", "fulgurite"),
        of("fulgurite memcached", "fulgurite-memcached"),
        of("the same, durable", "fulgurite-memcached-full"),
        of("Redis, durable", "redis-always"),
    ],
    lines: &[
        line(
            "latency of a write, average",
            Seconds,
            &[127e-6, 655e-6],
            Row(MEMCACHE, "memcache-set"),
        ),
        line(
            "latency of a write, longest",
            Seconds,
            &[517e-6, 0.336],
            Longest(MEMCACHE, "memcache-set"),
        ),
        line(
            "latency of a read, average",
            Seconds,
            &[],
            Row(MEMCACHE, "memcache-get"),
        ),
        line(
            "latency of a read, longest",
            Seconds,
            &[],
            Longest(MEMCACHE, "memcache-get"),
        ),
        line(
            "a read of 50 that are sent at once, average",
            Seconds,
            &[],
            Row(MEMCACHE, "memcache-get-batches"),
        ),
        line(
            "a write of 64 clients that is waited for, average",
            Seconds,
            &[],
            Row(MEMCACHE, "memcache-set-durable"),
        ),
    ],
    not_run: "MemcacheDB itself",
};

pub(super) const F21: Table = Table {
    id: "F21",
    title: "The cost of Berkeley DB's transaction environment",
    theirs: "back-ldbm of 2003, operations of a messaging mix, outside of transactions.",
    today: "Random reads of 1,000,000 records, outside of transactions.",
    contenders: &[
        of("B-tree, cache only", "berkeley-tree-bare"),
        of("B-tree, whole environment", "berkeley-tree"),
        of("hash table, cache only", "berkeley-hash-bare"),
        of("hash table, whole environment", "berkeley-hash"),
        of("MDB", "lmdb-0.9.36"),
        of("Fulgurite", "fulgurite"),
    ],
    lines: &[line(
        "operations: random reads",
        PerSecond,
        &[2_006.6, 1_932.3, 1_956.8, 1_821.9, NONE, NONE],
        Row(ENVIRONMENT, "get"),
    )],
    not_run: "sequential reads and writes",
};
