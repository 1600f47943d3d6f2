//! The data: one constant for each table, in their order.

use crate::memcache::MEMCACHED;

use super::papers::{Contender, Line, NONE, Table, Today, Unit};

use Today::{
    BestClients, BestRate, Clock, Code, Files, Instructions, Longest, NotRun, Quotient,
    RateQuotient, Row, StoreShare,
};
use Unit::{Bytes, Clients, Multiple, PerSecond, Percent, Seconds, Times};

/// All tables.
pub(crate) const TABLES: &[Table] = &[
    F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14, F15, F16, F17, F18, F19, F20, F21,
    F22,
];

/// The parts of a run that the tables name.
pub(crate) const ENGINE: &str = "engine";
pub(crate) const ENVIRONMENT: &str = "environment";
pub(crate) const PEOPLE: &str = "people";
pub(crate) const UNSTAMPED: &str = "unstamped";
pub(crate) const LOGGED: &str = "logged";
pub(crate) const ACCOUNTS: &str = "accounts";
pub(crate) const DATABASES: &str = "databases";
pub(crate) const MEMCACHE: &str = "memcache";

const KIB: f64 = 1024.0;
const GB: f64 = 1e9;

const fn of(title: &'static str, name: &'static str) -> Contender {
    Contender { title, name }
}

const fn line(what: &'static str, unit: Unit, theirs: &'static [f64], today: Today) -> Line {
    Line {
        what,
        unit,
        theirs,
        today,
    }
}

const STORES: &[Contender] = &[
    of("MDB", "lmdb-0.9.36"),
    of("Berkeley DB", "berkeley"),
    of("LevelDB", "leveldb"),
    of("Kyoto Cabinet TreeDB", "kyoto"),
    of("SQLite", "sqlite"),
    of("Fulgurite", "fulgurite"),
];

const SERVERS: &[Contender] = &[
    of("back-mdb", "mdb-2.4"),
    of("back-hdb, all cached", "hdb"),
    of("slapd 2.5, back-mdb", "slapd"),
    of("Fulgurite", "fulgurite"),
];

const SERVERS_AND_CACHES: &[Contender] = &[
    of("back-mdb", "mdb-2.4"),
    of("back-hdb, all cached", "hdb"),
    of("back-hdb, a small cache", "hdb-tenth"),
    of("back-hdb, no cache", "hdb-uncached"),
    of("slapd 2.5, back-mdb", "slapd"),
    of("Fulgurite", "fulgurite"),
];

const F1: Table = Table {
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

const F2: Table = Table {
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

const F3: Table = Table {
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

const F4: Table = Table {
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

const F5: Table = Table {
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

const F6: Table = Table {
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

const F7: Table = Table {
    id: "F7",
    title: "MemcacheDB: writes by 4 clients",
    theirs: "A load tool of memcached. Record size, number of records and machine are not told.",
    today: "A small server of memcached's protocol in front of each store, 100,000 records of 100 bytes, files in memory. \
            Nobody waits for a disk. The server has one core, the clients another. In front of Berkeley DB one client \
            writes at a time.",
    contenders: &[
        of("MDB", "lmdb-0.9.36"),
        of("Berkeley DB", "berkeley"),
        of("memcached", MEMCACHED),
        of("Fulgurite", "fulgurite"),
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
    ],
    not_run: "MemcacheDB itself, writes that are waited for, Redis",
};

const F8: Table = Table {
    id: "F8",
    title: "Loads of a directory",
    theirs: "16 cores of 2008, 128 GB. `slapadd -q` of 5,000,000 entries, and of 3,200,100 of a mail server.",
    today: "People with 11 indexes for the first two lines, the accounts of F17 for the others. Files in memory. \
            `tool-threads 2`.",
    contenders: SERVERS,
    lines: &[
        line(
            "5,000,000 entries",
            Seconds,
            &[1773.212, 3969.831],
            Clock(PEOPLE, "load"),
        ),
        line(
            "5,000,000 entries, CPU time",
            Seconds,
            &[1773.115, 7268.234],
            Row(PEOPLE, "load"),
        ),
        line(
            "3,200,100 entries, tmpfs",
            Seconds,
            &[3831.048, 4532.678],
            Clock(ACCOUNTS, "load"),
        ),
        line(
            "3,200,100 entries, xfs",
            Seconds,
            &[5148.598, 4834.403],
            NotRun,
        ),
        line(
            "files afterwards, of 3,200,100",
            Bytes,
            &[18_299_832.0 * KIB, 14_951_004.0 * KIB],
            Files(ACCOUNTS, "load"),
        ),
    ],
    not_run: "xfs, the last flush apart",
};

const F9: Table = Table {
    id: "F9",
    title: "A search that looks at every entry, and memory",
    theirs: "The machine of F8. The first search after the start, then the second; nothing read from disk. \
             The small cache had 0.3 % of 3,200,100 entries.",
    today: "The figure is CPU time. The small cache has a tenth of the entries. Memory is resident memory; it has the files \
            that are mapped, for back-hdb the cache of Berkeley DB.",
    contenders: SERVERS_AND_CACHES,
    lines: &[
        line(
            "first search, 5,000,000 entries",
            Seconds,
            &[12.47, 255.395],
            Row(PEOPLE, "scan-first"),
        ),
        line(
            "second search, 5,000,000 entries",
            Seconds,
            &[9.94, 16.204],
            Row(PEOPLE, "scan"),
        ),
        line(
            "first search, 3,200,100 entries",
            Seconds,
            &[19.42, 192.596, 186.906],
            NotRun,
        ),
        line(
            "second search, 3,200,100 entries",
            Seconds,
            &[16.625, 10.984, 99.835],
            NotRun,
        ),
        line(
            "memory of the server",
            Bytes,
            &[6.7 * GB, 26.0 * GB],
            Row(PEOPLE, "resident"),
        ),
        line(
            "of it, not backed by files",
            Bytes,
            &[],
            Row(PEOPLE, "memory"),
        ),
        line(
            "files of the database",
            Bytes,
            &[9.0 * GB, 15.6 * GB],
            Files(PEOPLE, "load"),
        ),
    ],
    not_run: "",
};

const F10: Table = Table {
    id: "F10",
    title: "Searches of every entry at once",
    theirs: "As F9, 5,000,000 entries, all cached, 16 cores. Berkeley DB had mutexes that sleep; with spinlocks, 16 at once \
             took 1,035 s (3,200,100 entries).",
    today: "CPU time of each search on one core, so waiting for locks does not show. `set_tas_spins 1`.",
    contenders: SERVERS,
    lines: &[
        line(
            "2 at once",
            Seconds,
            &[10.39, 24.617],
            Row(PEOPLE, "scan-2"),
        ),
        line(
            "4 at once",
            Seconds,
            &[10.87, 32.171],
            Row(PEOPLE, "scan-4"),
        ),
        line(
            "8 at once",
            Seconds,
            &[10.81, 64.817],
            Row(PEOPLE, "scan-8"),
        ),
        line(
            "16 at once",
            Seconds,
            &[11.82, 184.464],
            Row(PEOPLE, "scan-16"),
        ),
        line(
            "16 at once : 2 at once",
            Times,
            &[1.14, 7.49],
            Quotient(PEOPLE, "scan-16", "scan-2"),
        ),
    ],
    not_run: "1 search for each processor, libdb with other mutexes",
};

const F11: Table = Table {
    id: "F11",
    title: "A search of every entry beside a raw read of the file",
    theirs: "As F9. `dd` read the file of the database to nowhere, all in memory.",
    today: "Mebibyte by mebibyte, the second of two reads. The server has one core, the reader another.",
    contenders: &[
        of("back-mdb", "mdb-2.4"),
        of("slapd 2.5, back-mdb", "slapd"),
        of("Fulgurite", "fulgurite"),
    ],
    lines: &[
        line(
            "search beside the read",
            Seconds,
            &[10.81],
            Row(PEOPLE, "scan-beside-reads"),
        ),
        line("read", Seconds, &[10.20], Row(PEOPLE, "reads-beside")),
        line(
            "search : read",
            Times,
            &[1.06],
            Quotient(PEOPLE, "scan-beside-reads", "reads-beside"),
        ),
    ],
    not_run: "",
};

const F12: Table = Table {
    id: "F12",
    title: "Searches for random entries",
    theirs: "As F9, 5,000,000 entries. The clients were at their limit.",
    today: "Searches of one uid by 16 clients, for each second of CPU time, then one client alone. On one core the ratio is \
            near 1 if back-hdb has all cached.",
    contenders: SERVERS_AND_CACHES,
    lines: &[
        line(
            "searches",
            PerSecond,
            &[119_255.42, 67_456.11],
            Row(PEOPLE, "uid-16"),
        ),
        line(
            "duration of one",
            Seconds,
            &[0.63e-3, 1.89e-3],
            Clock(PEOPLE, "uid-1"),
        ),
    ],
    not_run: "OpenDS, which was 15 % slower than back-hdb",
};

const F13: Table = Table {
    id: "F13",
    title: "Modifications",
    theirs: "As F9. One attribute without index replaced, in random entries.",
    today: "16 clients, not waited for (`dbnosync`), for each second of CPU time.",
    contenders: SERVERS,
    lines: &[
        line(
            "no index touched",
            PerSecond,
            &[6_131.77, 20_440.83],
            Row(UNSTAMPED, "modify"),
        ),
        line(
            "entryCSN and entryUUID indexed",
            PerSecond,
            &[3_800.0, 3_400.0],
            Row(PEOPLE, "modify"),
        ),
        line(
            "the same with a log of changes",
            PerSecond,
            &[2_500.0, 1_700.0],
            Row(LOGGED, "modify"),
        ),
    ],
    not_run: "",
};

const F14: Table = Table {
    id: "F14",
    title: "Searches beside modifications",
    theirs: "The clients of F12 and F13 together.",
    today: "16 clients search and two modify, on the clock. The server has one core.",
    contenders: SERVERS,
    lines: &[
        line(
            "searches",
            PerSecond,
            &[85_918.92, 40_629.49],
            Row(PEOPLE, "uid-beside-modify"),
        ),
        line(
            "modifications",
            PerSecond,
            &[2_844.95, 12_321.36],
            Row(PEOPLE, "modifies-beside"),
        ),
        line(
            "searches beside : alone",
            Times,
            &[0.72, 0.60],
            RateQuotient(PEOPLE, "uid-beside-modify", "uid-16"),
        ),
    ],
    not_run: "the curve over the end of the writers",
};

const F15: Table = Table {
    id: "F15",
    title: "Instructions of a search that looks at every entry",
    theirs: "250,000 entries under callgrind, for each entry. back-mdb began as back-bdb without caches, at 35,500 instructions.",
    today: "10,000 people, each entry sent to the client.",
    contenders: &[
        of("back-mdb", "mdb-2.4"),
        of("back-hdb, no cache (step 0)", "hdb-uncached"),
        of("back-hdb, all cached", "hdb"),
        of("slapd 2.5, back-mdb", "slapd"),
        of("Fulgurite", "fulgurite"),
    ],
    lines: &[line(
        "instructions for each entry",
        Unit::Instructions,
        &[8_930.2, 35_500.2],
        Instructions("scan-entry"),
    )],
    not_run: "the steps between, shares of functions",
};

const F16: Table = Table {
    id: "F16",
    title: "Ten million entries",
    theirs: "4 processors of 2.2 GHz, 32 GB, an SSD.",
    today: "The people of F8.",
    contenders: SERVERS,
    lines: &[
        line("load", Seconds, &[1200.0, 6780.0], Clock(PEOPLE, "load")),
        line(
            "searches",
            PerSecond,
            &[31_674.0, 14_567.0],
            Row(PEOPLE, "uid-16"),
        ),
        line(
            "memory after the searches",
            Multiple,
            &[1.0, 4.0],
            Row(PEOPLE, "resident"),
        ),
    ],
    not_run: "",
};

const F17: Table = Table {
    id: "F17",
    title: "Load of a mail server's accounts",
    theirs: "8 cores, 36 GB, a RAID of hard disks, ext2. 5,000,000 accounts, 10 GB of LDIF, 29 indexes.",
    today: "Accounts of the same shape and the same indexes, files in memory. The tree begins at `dc=com`. \
            back-hdb has all cached, theirs 1 %.",
    contenders: SERVERS,
    lines: &[
        line(
            "load",
            Seconds,
            &[3543.377, 6537.655],
            Clock(ACCOUNTS, "load"),
        ),
        line("load, CPU time", Seconds, &[], Row(ACCOUNTS, "load")),
        line(
            "files of the database",
            Bytes,
            &[26.0 * GB, 30.0 * GB],
            Files(ACCOUNTS, "load"),
        ),
        line(
            "with caches, after the searches",
            Bytes,
            &[26.0 * GB, 55.0 * GB],
            Row(ACCOUNTS, "resident"),
        ),
    ],
    not_run: "",
};

const F18: Table = Table {
    id: "F18",
    title: "A mail server's searches, clients added until it stops rising",
    theirs: "The machine of F17. Two filters in turn, by address of delivery and by alias.",
    today: "The same filters, with `(zimbraMailStatus=enabled)` as the second term. 1 to 64 clients, on the clock. \
            The server has one core.",
    contenders: SERVERS,
    lines: &[
        line(
            "searches",
            PerSecond,
            &[61_433.0, 20_818.336],
            BestRate(ACCOUNTS, "mail-server-"),
        ),
        line(
            "clients at the best",
            Clients,
            &[368.0, 64.0],
            BestClients(ACCOUNTS, "mail-server-"),
        ),
    ],
    not_run: "",
};

const F19: Table = Table {
    id: "F19",
    title: "Six databases in one server",
    theirs: "6 cores of 4.6 GHz, six disks, 12,000,000 entries. The other server was DVTDS.",
    today: "Entries of the same shape, one `uid` index for each database, files in memory. 24 clients stay with one \
            database each, six of them add. Rates are for each second of CPU time. Modifications that are waited for \
            are on the clock, all files on one disk.",
    contenders: &[
        of("slapd 2.4.39, back-mdb", "mdb-2.4"),
        of("DVTDS", ""),
        of("slapd 2.5, back-mdb", "slapd"),
        of("Fulgurite", "fulgurite"),
    ],
    lines: &[
        line(
            "adds, uid ascending",
            PerSecond,
            &[39_860.0, 160_946.0],
            Row(DATABASES, "databases-6-add-ldif"),
        ),
        line(
            "searches, random uid",
            PerSecond,
            &[235_282.0, 445_651.0],
            Row(DATABASES, "databases-6-uid"),
        ),
        line(
            "compares",
            PerSecond,
            &[311_331.0, 447_374.0],
            Row(DATABASES, "databases-6-compare"),
        ),
        line(
            "binds",
            PerSecond,
            &[315_519.0, 463_190.0],
            Row(DATABASES, "databases-6-bind"),
        ),
        line(
            "modifications",
            PerSecond,
            &[118_782.0, 420_158.0],
            Row(DATABASES, "databases-6-modify"),
        ),
        line(
            "disk",
            Bytes,
            &[17_425.0 * 1_048_576.0, 5_029.0 * 1_048_576.0],
            Files(DATABASES, "databases-6-add-ldif"),
        ),
        line(
            "memory",
            Bytes,
            &[18.0 * GB, 6.0 * GB],
            Row(DATABASES, "databases-6-resident"),
        ),
        line(
            "modifications, two databases",
            PerSecond,
            &[],
            Row(DATABASES, "databases-2-modify"),
        ),
        line(
            "modifications, one database",
            PerSecond,
            &[],
            Row(DATABASES, "databases-1-modify"),
        ),
        line(
            "modifications waited for, six databases",
            PerSecond,
            &[],
            Row(DATABASES, "databases-6-modify-durable"),
        ),
        line(
            "modifications waited for, two databases",
            PerSecond,
            &[],
            Row(DATABASES, "databases-2-modify-durable"),
        ),
        line(
            "modifications waited for, one database",
            PerSecond,
            &[],
            Row(DATABASES, "databases-1-modify-durable"),
        ),
        line(
            "modifications waited for, six : one",
            Times,
            &[],
            RateQuotient(
                DATABASES,
                "databases-6-modify-durable",
                "databases-1-modify-durable",
            ),
        ),
    ],
    not_run: "a disk for each database, adds that are waited for, DVTDS",
};

const F20: Table = Table {
    id: "F20",
    title: "The staircase of caches",
    theirs: "back-bdb of 2003, operations of a messaging mix. A cache of encoded entries gave 2,258 more, and is not in 2.4.",
    today: "Searches of one uid, and reads by name, by 16 clients, for each second of CPU time. The uids differ, so few \
            sets of ids come from a cache.",
    contenders: &[
        of("back-bdb, entries and ids cached", "hdb"),
        of("back-bdb, entries cached", "hdb-entries"),
        of("back-bdb, no cache", "hdb-uncached"),
        of("back-mdb", "mdb-2.4"),
        of("slapd 2.5, back-mdb", "slapd"),
        of("Fulgurite", "fulgurite"),
    ],
    lines: &[
        line(
            "operations: searches of one uid",
            PerSecond,
            &[1_993.0, 1_520.0, 1_006.0],
            Row(PEOPLE, "uid-16"),
        ),
        line("reads by name", PerSecond, &[], Row(PEOPLE, "base-16")),
    ],
    not_run: "depths of searchstack, the cache of encoded entries",
};

const F21: Table = Table {
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

const F22: Table = Table {
    id: "F22",
    title: "The store's share of a search",
    theirs: "back-bdb of 2003, by samples of instructions in libdb.",
    today: "Instructions of a search of one uid, the same ones again. back-mdb is one object with its store, so it has \
            no share.",
    contenders: &[
        of("back-bdb, entries and ids cached", "hdb"),
        of("back-bdb, entries cached", "hdb-entries"),
        of("back-bdb, no cache", "hdb-uncached"),
        of("back-mdb", "mdb-2.4"),
        of("slapd 2.5, back-mdb", "slapd"),
        of("Fulgurite", "fulgurite"),
    ],
    lines: &[
        line(
            "share of the store",
            Percent,
            &[7.14, 26.99],
            StoreShare("uid"),
        ),
        line(
            "instructions of a search",
            Unit::Instructions,
            &[],
            Instructions("uid"),
        ),
    ],
    not_run: "kernel, C library and single functions",
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn tables_are_complete() {
        let ids: Vec<String> = (1..=22).map(|number| format!("F{number}")).collect();
        let found: Vec<&str> = TABLES.iter().map(|table| table.id).collect();
        assert_eq!(found, ids);
        for table in TABLES {
            let lines: HashSet<_> = table.lines.iter().map(|line| line.what).collect();
            assert_eq!(lines.len(), table.lines.len(), "{}", table.id);
            let most = table.contenders.len();
            assert!(
                table.lines.iter().all(|line| line.theirs.len() <= most),
                "{}",
                table.id
            );
        }
    }

    #[test]
    fn their_ratios_are_those_of_the_texts() {
        let ratio = |table: &Table, line: usize, other: usize| {
            let line = table.lines[line];
            let ratio = line.unit.better(line.theirs[0], line.theirs[other]);
            (ratio.unwrap_or_default() * 100.0).round() / 100.0
        };
        assert_eq!(ratio(&F1, 0, 1), 17.37);
        assert_eq!((ratio(&F2, 0, 1), ratio(&F2, 1, 1)), (16.48, 4.43));
        assert_eq!((ratio(&F3, 0, 2), ratio(&F3, 2, 1)), (171.27, 215.26));
        assert_eq!((ratio(&F8, 0, 1), ratio(&F8, 1, 1)), (2.24, 4.1));
        assert_eq!((ratio(&F9, 0, 1), ratio(&F9, 1, 1)), (20.48, 1.63));
        assert_eq!((ratio(&F12, 0, 1), ratio(&F13, 0, 1)), (1.77, 0.3));
        assert_eq!((ratio(&F16, 0, 1), ratio(&F17, 0, 1)), (5.65, 1.85));
        assert_eq!((ratio(&F18, 0, 1), ratio(&F21, 0, 1)), (2.95, 1.04));
    }
}
