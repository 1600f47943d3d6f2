//! The steps of a plan. They name transactions, cursors and databases by slot. So any step can be
//! omitted, and the others keep a meaning. A step whose slot is empty does nothing.

/// Write transactions: slot 0 is the top one, slot `n` the child of slot `n - 1`.
pub(crate) const WRITERS: usize = 5;
/// Read transactions have the slots after the writers.
pub(crate) const READERS: usize = 3;
/// All transaction slots.
pub(crate) const TXNS: usize = WRITERS + READERS;
/// Cursors.
pub(crate) const CURSORS: usize = 8;

/// A value: its id, and its length where there are no duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Value {
    /// The value.
    pub(crate) id: u32,
    /// How long it is in a database without duplicates.
    pub(crate) len: u32,
}

/// The argument of a cursor or item call that is NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NullArgument {
    /// No argument.
    None,
    /// The key.
    Key,
    /// The data.
    Data,
    /// Both.
    Both,
}

/// The call that gets a NULL handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NullCall {
    /// Those that take an environment.
    Environment,
    /// Those that take a transaction.
    Transaction,
    /// Those that take a cursor.
    Cursor,
}

/// The error in the name or flags given to `mdb_dbi_open`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadOpen {
    /// No such database.
    Unknown,
    /// No such database, and no handle left for it.
    UnknownCreate,
    /// An empty name.
    EmptyName,
    /// A name of 512 bytes.
    LongName,
    /// A flag bit that means nothing.
    UnknownFlag,
    /// The name of a plain record in the main database: the key with this id.
    PlainRecord(u32),
}

/// One step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Begins a transaction; a writer slot above 0 is a child of the one below.
    Begin {
        /// Its slot.
        txn: usize,
        /// Ask for a read-only child, which 0.9 refuses.
        read_child: bool,
    },
    /// Commits or aborts.
    End {
        /// Its slot.
        txn: usize,
        /// Commit.
        commit: bool,
    },
    /// `mdb_txn_reset`.
    Reset {
        /// Its slot.
        txn: usize,
    },
    /// `mdb_txn_renew`.
    Renew {
        /// Its slot.
        txn: usize,
    },
    /// `mdb_dbi_open` and the database's comparison functions.
    Open {
        /// The transaction.
        txn: usize,
        /// The database.
        db: usize,
        /// With CREATE.
        create: bool,
        /// Flags other than the database's own.
        flags: Option<u32>,
    },
    /// `mdb_dbi_open` of something that cannot be opened.
    BadOpen {
        /// The transaction.
        txn: usize,
        /// The error.
        how: BadOpen,
    },
    /// `mdb_dbi_close`.
    CloseDb {
        /// The database.
        db: usize,
    },
    /// `mdb_dbi_flags` and `mdb_stat`.
    Facts {
        /// The transaction.
        txn: usize,
        /// The database.
        db: usize,
    },
    /// `mdb_drop`.
    Drop {
        /// The transaction.
        txn: usize,
        /// The database.
        db: usize,
        /// The third argument.
        del: i32,
    },
    /// `mdb_get`.
    Get {
        /// The transaction.
        txn: usize,
        /// The database.
        db: usize,
        /// The key.
        key: u32,
        /// The argument that is NULL.
        missing: NullArgument,
    },
    /// `mdb_put`.
    Put {
        /// The transaction.
        txn: usize,
        /// The database.
        db: usize,
        /// The key.
        key: u32,
        /// The value.
        value: Value,
        /// Flags.
        flags: u32,
        /// The argument that is NULL.
        missing: NullArgument,
    },
    /// `mdb_del`.
    Del {
        /// The transaction.
        txn: usize,
        /// The database.
        db: usize,
        /// The key.
        key: u32,
        /// The value, if not all.
        value: Option<Value>,
        /// True if the key is NULL.
        no_key: bool,
    },
    /// `mdb_cmp` or `mdb_dcmp`.
    Compare {
        /// The transaction.
        txn: usize,
        /// The database.
        db: usize,
        /// Two ids, of keys or of values.
        a: u32,
        /// The other.
        b: u32,
        /// Compare values.
        values: bool,
    },
    /// Every item, by a new cursor and this operation.
    Walk {
        /// The transaction.
        txn: usize,
        /// The database.
        db: usize,
        /// NEXT, PREV, NEXT_NODUP, PREV_NODUP or NEXT_MULTIPLE.
        op: u32,
    },
    /// `mdb_cursor_open`.
    CursorOpen {
        /// Its slot.
        cursor: usize,
        /// The transaction.
        txn: usize,
        /// The database.
        db: usize,
    },
    /// `mdb_cursor_close`.
    CursorClose {
        /// Its slot.
        cursor: usize,
    },
    /// `mdb_cursor_renew`.
    CursorRenew {
        /// Its slot.
        cursor: usize,
        /// The transaction.
        txn: usize,
    },
    /// `mdb_cursor_get`.
    CursorGet {
        /// Its slot.
        cursor: usize,
        /// The operation.
        op: u32,
        /// The key, if the operation takes one.
        key: u32,
        /// The value, if the operation takes one.
        value: Value,
        /// The argument that is NULL.
        missing: NullArgument,
    },
    /// `mdb_cursor_put` without CURRENT and MULTIPLE.
    CursorPut {
        /// Its slot.
        cursor: usize,
        /// The key.
        key: u32,
        /// The value.
        value: Value,
        /// Flags.
        flags: u32,
        /// The argument that is NULL.
        missing: NullArgument,
    },
    /// `mdb_cursor_put` with CURRENT, at the key that the cursor is on.
    CursorPutCurrent {
        /// Its slot.
        cursor: usize,
        /// The new value, if the key has only one.
        value: Value,
        /// Further flags.
        flags: u32,
        /// Keep the size of the value there.
        same_size: bool,
    },
    /// `mdb_cursor_put` with MULTIPLE.
    CursorPutMany {
        /// Its slot.
        cursor: usize,
        /// The key.
        key: u32,
        /// The first value's id; the others follow.
        first: u32,
        /// How many.
        count: u32,
        /// Further flags.
        flags: u32,
    },
    /// `mdb_cursor_del`.
    CursorDel {
        /// Its slot.
        cursor: usize,
        /// Flags.
        flags: u32,
    },
    /// `mdb_cursor_count`.
    CursorCount {
        /// Its slot.
        cursor: usize,
    },
    /// Calls with NULL for a handle.
    Null {
        /// Which.
        call: NullCall,
        /// A database.
        db: usize,
    },
    /// `mdb_env_info`, `mdb_env_stat`, `mdb_reader_check`.
    EnvFacts,
    /// `mdb_env_set_flags`.
    EnvFlags {
        /// Flags.
        flags: u32,
        /// On or off.
        on: bool,
    },
    /// `mdb_env_set_mapsize` while open.
    MapSize {
        /// Bytes added to the map, or 0 to adopt the stored size.
        grow: usize,
    },
    /// `mdb_env_sync`.
    Sync {
        /// Its argument.
        force: bool,
    },
    /// `mdb_strerror`.
    ErrorText {
        /// The code.
        code: i32,
    },
    /// Ends everything, closes both environments, lets each library dump both files, and opens
    /// again.
    Reopen {
        /// Each goes on with the other's file.
        swap: bool,
        /// Environment flags to turn over.
        flip: u32,
    },
}
