//! The tables of directory servers: their figures, and the source of today's.

use super::papers::{
    ACCOUNTS, Contender, DATABASES, GB, KIB, LOGGED, PEOPLE, Table, Today, UNSTAMPED, Unit, line,
    of,
};

use Today::{
    BestClients, BestRate, Clock, Files, Instructions, NotRun, Quotient, RateQuotient, Row,
    StoreShare,
};
use Unit::{Bytes, Clients, Multiple, PerSecond, Percent, Seconds, Times};

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

pub(super) const F8: Table = Table {
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
    not_run: "xfs, the last flush alone",
};

pub(super) const F9: Table = Table {
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

pub(super) const F10: Table = Table {
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

pub(super) const F11: Table = Table {
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

pub(super) const F12: Table = Table {
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

pub(super) const F13: Table = Table {
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
    not_run: "the log of changes of ours, whose load does not take these settings",
};

pub(super) const F14: Table = Table {
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

pub(super) const F15: Table = Table {
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

pub(super) const F16: Table = Table {
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

pub(super) const F17: Table = Table {
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

pub(super) const F18: Table = Table {
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

pub(super) const F19: Table = Table {
    id: "F19",
    title: "Six databases in one server",
    theirs: "6 cores of 4.6 GHz, six disks, 12,000,000 entries. The other server was DVTDS.",
    today: "Entries of the same shape, indexes of `objectClass` and `uid` for each database, files in memory. 24 clients stay with one \
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

pub(super) const F20: Table = Table {
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

pub(super) const F22: Table = Table {
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
