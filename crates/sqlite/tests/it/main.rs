//! The extension in Debian's `sqlite3`, next to SQLite's own tables.

mod differential;
mod directory;
mod raw;
mod shell;
mod table;
