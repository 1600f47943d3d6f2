//! Numbers of the C interface, and their names for messages.

#![allow(missing_docs)]

pub(crate) const NOSUBDIR: u32 = 0x4000;
pub(crate) const NOSYNC: u32 = 0x1_0000;
pub(crate) const RDONLY: u32 = 0x2_0000;
pub(crate) const NOMETASYNC: u32 = 0x4_0000;
pub(crate) const WRITEMAP: u32 = 0x8_0000;
pub(crate) const MAPASYNC: u32 = 0x10_0000;
pub(crate) const NOTLS: u32 = 0x20_0000;
pub(crate) const NORDAHEAD: u32 = 0x80_0000;
pub(crate) const NOMEMINIT: u32 = 0x100_0000;

pub(crate) const REVERSEKEY: u32 = 0x02;
pub(crate) const DUPSORT: u32 = 0x04;
pub(crate) const INTEGERKEY: u32 = 0x08;
pub(crate) const DUPFIXED: u32 = 0x10;
pub(crate) const INTEGERDUP: u32 = 0x20;
pub(crate) const REVERSEDUP: u32 = 0x40;
pub(crate) const CREATE: u32 = 0x4_0000;

pub(crate) const NOOVERWRITE: u32 = 0x10;
pub(crate) const NODUPDATA: u32 = 0x20;
pub(crate) const CURRENT: u32 = 0x40;
pub(crate) const RESERVE: u32 = 0x1_0000;
pub(crate) const APPEND: u32 = 0x2_0000;
pub(crate) const APPENDDUP: u32 = 0x4_0000;
pub(crate) const MULTIPLE: u32 = 0x8_0000;

pub(crate) const FIRST: u32 = 0;
pub(crate) const FIRST_DUP: u32 = 1;
pub(crate) const GET_BOTH: u32 = 2;
pub(crate) const GET_BOTH_RANGE: u32 = 3;
pub(crate) const GET_CURRENT: u32 = 4;
pub(crate) const GET_MULTIPLE: u32 = 5;
pub(crate) const LAST: u32 = 6;
pub(crate) const LAST_DUP: u32 = 7;
pub(crate) const NEXT: u32 = 8;
pub(crate) const NEXT_DUP: u32 = 9;
pub(crate) const NEXT_MULTIPLE: u32 = 10;
pub(crate) const NEXT_NODUP: u32 = 11;
pub(crate) const PREV: u32 = 12;
pub(crate) const PREV_DUP: u32 = 13;
pub(crate) const PREV_NODUP: u32 = 14;
pub(crate) const SET: u32 = 15;
pub(crate) const SET_KEY: u32 = 16;
pub(crate) const SET_RANGE: u32 = 17;
pub(crate) const PREV_MULTIPLE: u32 = 18;

const OPS: [&str; 19] = [
    "FIRST",
    "FIRST_DUP",
    "GET_BOTH",
    "GET_BOTH_RANGE",
    "GET_CURRENT",
    "GET_MULTIPLE",
    "LAST",
    "LAST_DUP",
    "NEXT",
    "NEXT_DUP",
    "NEXT_MULTIPLE",
    "NEXT_NODUP",
    "PREV",
    "PREV_DUP",
    "PREV_NODUP",
    "SET",
    "SET_KEY",
    "SET_RANGE",
    "PREV_MULTIPLE",
];

pub(crate) const KEYEXIST: i32 = -30799;
pub(crate) const NOTFOUND: i32 = -30798;
pub(crate) const MAP_FULL: i32 = -30792;
pub(crate) const INCOMPATIBLE: i32 = -30784;
pub(crate) const BAD_TXN: i32 = -30782;
pub(crate) const BAD_VALSIZE: i32 = -30781;
pub(crate) const EINVAL: i32 = 22;

/// The name of a cursor operation.
pub(crate) fn op_name(op: u32) -> String {
    OPS.get(op as usize)
        .map_or_else(|| format!("op {op}"), ToString::to_string)
}

/// The name of a result code.
pub(crate) fn code_name(code: i32) -> String {
    let name = match code {
        0 => "OK",
        KEYEXIST => "KEYEXIST",
        NOTFOUND => "NOTFOUND",
        -30797 => "PAGE_NOTFOUND",
        -30796 => "CORRUPTED",
        -30795 => "PANIC",
        -30794 => "VERSION_MISMATCH",
        -30793 => "INVALID",
        MAP_FULL => "MAP_FULL",
        -30791 => "DBS_FULL",
        -30790 => "READERS_FULL",
        -30788 => "TXN_FULL",
        -30786 => "PAGE_FULL",
        -30785 => "MAP_RESIZED",
        INCOMPATIBLE => "INCOMPATIBLE",
        -30783 => "BAD_RSLOT",
        BAD_TXN => "BAD_TXN",
        BAD_VALSIZE => "BAD_VALSIZE",
        -30780 => "BAD_DBI",
        2 => "ENOENT",
        5 => "EIO",
        12 => "ENOMEM",
        13 => "EACCES",
        EINVAL => "EINVAL",
        _ => return code.to_string(),
    };
    name.to_owned()
}

/// The names of the put flags that are set.
pub(crate) fn put_flag_names(flags: u32) -> String {
    names(
        flags,
        &[
            (NOOVERWRITE, "NOOVERWRITE"),
            (NODUPDATA, "NODUPDATA"),
            (CURRENT, "CURRENT"),
            (RESERVE, "RESERVE"),
            (APPEND, "APPEND"),
            (APPENDDUP, "APPENDDUP"),
            (MULTIPLE, "MULTIPLE"),
        ],
    )
}

/// The names of the database flags that are set.
pub(crate) fn database_flag_names(flags: u32) -> String {
    names(
        flags,
        &[
            (REVERSEKEY, "REVERSEKEY"),
            (DUPSORT, "DUPSORT"),
            (INTEGERKEY, "INTEGERKEY"),
            (DUPFIXED, "DUPFIXED"),
            (INTEGERDUP, "INTEGERDUP"),
            (REVERSEDUP, "REVERSEDUP"),
            (CREATE, "CREATE"),
        ],
    )
}

fn names(flags: u32, known: &[(u32, &str)]) -> String {
    let mut rest = flags;
    let mut out = Vec::new();
    for &(bit, name) in known {
        if flags & bit != 0 {
            out.push(name.to_owned());
            rest &= !bit;
        }
    }
    if rest != 0 || out.is_empty() {
        out.push(format!("{rest:#x}"));
    }
    out.join("|")
}
