//! The extension in Debian's `sqlite3`, next to SQLite's own tables.

mod damage;
mod differential;
mod directory;
mod estimates;
mod raw;
mod shell;
mod table;
