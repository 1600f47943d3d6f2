//! The engines that take part: names, libraries, adapters, abilities.

mod berkeley;
mod fulgurite;
mod kyoto;
mod leveldb;
mod library;
mod lmdb;
mod redb;
mod sqlite;

use std::path::{Path, PathBuf};

use crate::store::{Ability, Job};
use crate::workload::{Participants, Workload};

/// An engine.
#[derive(Debug)]
pub(crate) struct Engine {
    /// In reports and options.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    adapter: Adapter,
    /// Where its shared library may be, below the project's folder; the first that is there is
    /// taken. None for what is compiled in.
    libraries: &'static [&'static str],
    /// Further libraries that it needs.
    needs: &'static [&'static str],
    can: &'static [Ability],
    /// Its files are those of LMDB: all of these get the same ones, made by the original.
    pub(crate) lmdb_files: bool,
    /// Takes part in every round; the others in every third.
    pub(crate) every_round: bool,
    /// Takes part only if it is named.
    pub(crate) named_only: bool,
    /// Its settings, as the report prints them.
    pub(crate) tuning: &'static str,
}

#[derive(Debug, Clone, Copy)]
enum Adapter {
    Lmdb,
    Mdbx,
    Fulgurite,
    Redb,
    RocksDb,
    LevelDb,
    Sqlite,
    Berkeley,
    /// Operations outside of transactions: a B-tree or a hash table, in a whole or a bare
    /// environment.
    BerkeleyTree,
    BerkeleyTreeBare,
    BerkeleyHash,
    BerkeleyHashBare,
    Kyoto,
}

use berkeley::{BARE, HASH, WITHOUT_TRANSACTIONS};

use Ability::{Backwards, Begin, Copies, Duplicates, Renew, Writers};

/// Where packages are unpacked.
const DEBIAN: &str = "build/engines/root";
const LMDB_CAN: &[Ability] = &[Duplicates, Copies, Renew, Begin, Backwards, Writers];

const LMDB_TUNING: &str = "MDB_NOSYNC unless durable; calls write the pages (no MDB_WRITEMAP); 256 reader slots; read-ahead \
    as the system does it";

/// Berkeley DB with what an environment costs, or without.
const fn environment(name: &'static str, title: &'static str, adapter: Adapter) -> Engine {
    Engine {
        name,
        title,
        adapter,
        libraries: &["build/engines/libberkeley-adapter.so"],
        needs: &["libdb-5.3.so"],
        can: &[],
        lmdb_files: false,
        every_round: true,
        named_only: true,
        tuning: "cache 1 GiB; operations outside of transactions",
    }
}

/// The settings of LevelDB and RocksDB, which have one adapter.
const TUNING_OF_LEVELS: &str = "block cache 1 GiB, Bloom filters of ten bits, write buffer 64 MiB, no compression; levels merged before reads; sync off unless durable";

/// All there are. The first two are ours; the third is what they are compared with.
pub(crate) const ENGINES: &[Engine] = &[
    Engine {
        name: "fulgurite-c",
        title: "Fulgurite, C",
        adapter: Adapter::Lmdb,
        libraries: &["target/lmdb/liblmdb.so"],
        needs: &[],
        can: LMDB_CAN,
        lmdb_files: true,
        every_round: true,
        named_only: false,
        tuning: LMDB_TUNING,
    },
    Engine {
        name: "fulgurite",
        title: "Fulgurite, Rust",
        adapter: Adapter::Fulgurite,
        libraries: &[],
        needs: &[],
        can: LMDB_CAN,
        lmdb_files: true,
        every_round: true,
        named_only: false,
        tuning: LMDB_TUNING,
    },
    Engine {
        name: REFERENCE,
        title: "LMDB 0.9.36",
        adapter: Adapter::Lmdb,
        libraries: &["build/lmdb-0.9.36/liblmdb.so"],
        needs: &[],
        can: LMDB_CAN,
        lmdb_files: true,
        every_round: true,
        named_only: false,
        tuning: LMDB_TUNING,
    },
    Engine {
        name: "lmdb-debian",
        title: "LMDB, Debian's",
        adapter: Adapter::Lmdb,
        libraries: &["liblmdb.so.0"],
        needs: &[],
        can: LMDB_CAN,
        lmdb_files: true,
        every_round: false,
        named_only: false,
        tuning: LMDB_TUNING,
    },
    Engine {
        name: "mdbx",
        title: "libmdbx",
        adapter: Adapter::Mdbx,
        libraries: &["build/engines/mdbx-14.4.0/libmdbx.so"],
        needs: &[],
        can: LMDB_CAN,
        lmdb_files: false,
        every_round: false,
        named_only: false,
        tuning: "MDBX_UTTERLY_NOSYNC unless durable; 256 reader slots; pages of 4 KiB",
    },
    Engine {
        name: "redb",
        title: "redb",
        adapter: Adapter::Redb,
        libraries: &[],
        needs: &[],
        can: &[Begin, Backwards, Writers],
        lmdb_files: false,
        every_round: false,
        named_only: false,
        tuning: "cache 1 GiB; durability none unless durable, one durable commit at close",
    },
    Engine {
        name: "rocksdb",
        title: "RocksDB",
        adapter: Adapter::RocksDb,
        libraries: &["librocksdb.so.7.8"],
        needs: &[],
        can: &[Begin, Backwards, Writers],
        lmdb_files: false,
        every_round: false,
        named_only: false,
        tuning: TUNING_OF_LEVELS,
    },
    Engine {
        name: "leveldb",
        title: "LevelDB",
        adapter: Adapter::LevelDb,
        libraries: &["libleveldb.so.1d"],
        needs: &[],
        can: &[Begin, Backwards, Writers],
        lmdb_files: false,
        every_round: false,
        named_only: false,
        tuning: TUNING_OF_LEVELS,
    },
    Engine {
        name: "sqlite",
        title: "SQLite",
        adapter: Adapter::Sqlite,
        libraries: &["libsqlite3.so.0"],
        needs: &[],
        can: &[Backwards, Writers],
        lmdb_files: false,
        every_round: false,
        named_only: false,
        tuning: "WAL, page cache and mmap_size 1 GiB, table without rowid, synchronous off unless durable",
    },
    Engine {
        name: "berkeley",
        title: "Berkeley DB",
        adapter: Adapter::Berkeley,
        libraries: &["build/engines/libberkeley-adapter.so"],
        needs: &["libdb-5.3.so"],
        can: &[Duplicates, Backwards],
        lmdb_files: false,
        every_round: false,
        named_only: false,
        tuning: "B-tree, cache 1 GiB, log buffer 16 MiB, private environment; DB_TXN_WRITE_NOSYNC unless durable",
    },
    Engine {
        name: "kyoto",
        title: "Kyoto Cabinet",
        adapter: Adapter::Kyoto,
        libraries: &["libkyotocabinet.so.16"],
        needs: &[],
        can: &[],
        lmdb_files: false,
        every_round: false,
        named_only: false,
        tuning: "page cache and mapped region 1 GiB, 200,000 buckets; no transactions unless durable",
    },
    environment(
        "berkeley-tree",
        "Berkeley DB, B-tree in an environment with transactions",
        Adapter::BerkeleyTree,
    ),
    environment(
        "berkeley-tree-bare",
        "Berkeley DB, B-tree with a cache only",
        Adapter::BerkeleyTreeBare,
    ),
    environment(
        "berkeley-hash",
        "Berkeley DB, hash table in an environment with transactions",
        Adapter::BerkeleyHash,
    ),
    environment(
        "berkeley-hash-bare",
        "Berkeley DB, hash table with a cache only",
        Adapter::BerkeleyHashBare,
    ),
];

/// Those that are ours.
pub(crate) const OURS: [&str; 2] = ["fulgurite-c", "fulgurite"];

/// The engine that target ratios refer to.
pub(crate) const REFERENCE: &str = "lmdb-0.9.36";

impl Engine {
    pub(crate) fn named(name: &str) -> Option<&'static Engine> {
        ENGINES.iter().find(|engine| engine.name == name)
    }

    /// Returns true if the engine can play the workload and is among its participants.
    pub(crate) fn plays(&self, workload: &Workload) -> bool {
        let able = workload
            .needs()
            .is_none_or(|ability| self.can.contains(&ability));
        able && (workload.participants == Participants::All || self.lmdb_files)
    }

    /// Returns true if several threads may write.
    pub(crate) fn has_writers(&self) -> bool {
        self.can.contains(&Ability::Writers)
    }

    /// Its shared library, empty if it needs none.
    /// # Errors
    /// The reason for its absence.
    pub(crate) fn library(&self, project: &Path) -> Result<PathBuf, String> {
        for needed in self.needs {
            find(project, needed).ok_or_else(|| format!("there is no {needed}"))?;
        }
        let Some(first) = self.libraries.first() else {
            return Ok(PathBuf::new());
        };
        let found = self.libraries.iter().find_map(|name| find(project, name));
        found.ok_or_else(|| format!("there is no {first}"))
    }

    /// Does some work with a store of this kind, in this process.
    pub(crate) fn run<J: Job>(&self, job: &J) -> anyhow::Result<J::Output> {
        match self.adapter {
            Adapter::Lmdb => job.run::<lmdb::Lmdb<lmdb::Original>>(),
            Adapter::Mdbx => job.run::<lmdb::Lmdb<lmdb::Mdbx>>(),
            Adapter::Fulgurite => job.run::<fulgurite::Fulgurite>(),
            Adapter::Redb => job.run::<redb::Redb>(),
            Adapter::RocksDb => job.run::<leveldb::LevelDb<leveldb::Rocks>>(),
            Adapter::LevelDb => job.run::<leveldb::LevelDb<leveldb::Level>>(),
            Adapter::Sqlite => job.run::<sqlite::Sqlite>(),
            Adapter::Berkeley => job.run::<berkeley::Berkeley<0>>(),
            Adapter::BerkeleyTree => job.run::<berkeley::Berkeley<WITHOUT_TRANSACTIONS>>(),
            Adapter::BerkeleyTreeBare => {
                job.run::<berkeley::Berkeley<{ WITHOUT_TRANSACTIONS | BARE }>>()
            }
            Adapter::BerkeleyHash => {
                job.run::<berkeley::Berkeley<{ WITHOUT_TRANSACTIONS | HASH }>>()
            }
            Adapter::BerkeleyHashBare => {
                job.run::<berkeley::Berkeley<{ WITHOUT_TRANSACTIONS | BARE | HASH }>>()
            }
            Adapter::Kyoto => job.run::<kyoto::Kyoto>(),
        }
    }
}

/// A file named with its folder below the project's, or a library that is unpacked, or else the
/// system's.
fn find(project: &Path, name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(project.join(name)).filter(|path| path.exists());
    }
    library_folders(project)
        .map(|folder| folder.join(name))
        .find(|path| path.exists())
}

/// Where shared libraries are: those that were unpacked first.
pub(crate) fn library_folders(project: &Path) -> impl Iterator<Item = PathBuf> {
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    [project.join(DEBIAN), PathBuf::from("/")]
        .into_iter()
        .flat_map(|root| [root.join("usr/lib"), root.join("lib")])
        .map(move |folder| folder.join(&triplet))
}
