//! The header as text.

use std::fmt::Write;

use super::source::{Item, Kind, Signature};

const BEGIN: &str = r#"/* lmdb.h - the C interface of Fulgurite, an embedded key/value store.
 *
 * Programs written for LMDB 0.9 compile and link with it unchanged, and share files with programs
 * that use LMDB.
 *
 * Generated from the Rust sources by "cargo xtask header": change those.
 *
 * Licensed under Apache-2.0 or MIT, as you prefer.
 *
 * A program creates an environment, opens it, and does everything else within transactions:
 *
 *     MDB_env *env; MDB_txn *txn; MDB_dbi dbi;
 *     MDB_val key = { 5, "stone" }, data = { 9, "fulgurite" };
 *
 *     mdb_env_create(&env);
 *     mdb_env_set_mapsize(env, 1 << 30);
 *     mdb_env_open(env, "directory", 0, 0644);
 *     mdb_txn_begin(env, NULL, 0, &txn);
 *     mdb_dbi_open(txn, NULL, 0, &dbi);
 *     mdb_put(txn, dbi, &key, &data, 0);
 *     mdb_txn_commit(txn);
 *     mdb_env_close(env);
 *
 * Functions that return int return 0, one of the negative codes below, or a number of errno.
 *
 * Any number of transactions may read at a time, in any number of processes; each sees the state
 * that one commit left. One transaction writes at a time, and does not wait for readers. Threads
 * may share the environment. A transaction and its cursors are used by one thread at a time, a
 * write transaction by the thread that began it.
 *
 * Misuse returns a code. EINVAL: a pointer that is no handle of the kind required, NULL included,
 * and a closed environment or cursor. MDB_BAD_TXN: a transaction that has ended, and one that is
 * used by the wrong thread, while it has a child, or in a comparison function that it runs.
 * MDB_PANIC: any inherited handle in a forked child; the child may open the environment again.
 * Functions without a code then do nothing, or return NULL or 0.
 *
 * Some misuse is not noticed. Two threads use one transaction or cursor at the very same time. An
 * environment is closed while another thread is inside a call on it. A handle ended so many handles
 * ago that its address is in use again: at least a thousand, mostly sixty times as many. A database
 * handle is that of another environment: it is a number, which may have a meaning there. Pointers
 * to keys, data and results do not point to what they should.
 */
#ifndef _LMDB_H_
#define _LMDB_H_

#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif
"#;

/// Defines the version for the preprocessor. Its numbers are generated.
const VERSION: &str = r#"
/* Three numbers of a version as one that can be compared. */
#define MDB_VERINT(a, b, c) (((a) << 24) | ((b) << 16) | (c))
/* The version of this header as one number. */
#define MDB_VERSION_FULL MDB_VERINT(MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH)
/* The text where LMDB has the date of its version. */
#define MDB_VERSION_DATE "Fulgurite @VERSION@"
/* Four parts of a version as text. */
#define MDB_VERSTR(a, b, c, d) "LMDB " #a "." #b "." #c ": (" d ")"
#define MDB_VERFOO(a, b, c, d) MDB_VERSTR(a, b, c, d)
/* The version of this header as text. */
#define MDB_VERSION_STRING \
    MDB_VERFOO(MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH, MDB_VERSION_DATE)
"#;

const DATABASES: &str = r#"
/* Older names of mdb_dbi_open and mdb_dbi_close. */
#define mdb_open(txn, name, flags, dbi) mdb_dbi_open(txn, name, flags, dbi)
#define mdb_close(env, dbi) mdb_dbi_close(env, dbi)
"#;

const END: &str = r#"
#ifdef __cplusplus
}
#endif

#endif
"#;

/// Returns the header's text from its sections, each with its title.
pub(crate) fn header(sections: &[(&str, Vec<Item>)]) -> String {
    let mut text = BEGIN.to_owned();
    let all = || sections.iter().flat_map(|(_, items)| items);
    let _ = writeln!(text, "\n/* ---- Handles ---- */");
    for item in all().filter(|item| item.kind == Kind::Opaque) {
        write_item(&mut text, item);
    }
    for (title, items) in sections {
        let _ = writeln!(text, "\n/* ---- {title} ---- */");
        write_section(&mut text, items);
        match *title {
            "Version" => text += &VERSION.replace("@VERSION@", env!("CARGO_PKG_VERSION")),
            "Databases" => text += DATABASES,
            _ => {}
        }
    }
    text + END
}

/// Writes definitions. Constants with a type of their group become an enumeration.
fn write_section(text: &mut String, items: &[Item]) {
    for item in items {
        match &item.kind {
            Kind::Opaque => {}
            Kind::Alias(_) if members(items, &item.name).next().is_some() => {
                write_enumeration(text, item, items);
            }
            Kind::Constant(r#type, _) if items.iter().any(|other| other.name == *r#type) => {}
            _ => write_item(text, item),
        }
    }
}

fn members<'i>(items: &'i [Item], name: &'i str) -> impl Iterator<Item = (&'i Item, &'i str)> {
    items.iter().filter_map(move |item| match &item.kind {
        Kind::Constant(r#type, value) if r#type == name => Some((item, value.as_str())),
        _ => None,
    })
}

fn write_enumeration(text: &mut String, item: &Item, items: &[Item]) {
    let name = &item.name;
    text.push('\n');
    write_comment(text, &item.comment, "");
    let _ = writeln!(text, "typedef enum {name} {{");
    let count = members(items, name).count();
    for (index, (member, value)) in members(items, name).enumerate() {
        write_comment(text, &member.comment, "    ");
        // C++98 has no comma at the end of a list.
        let comma = if index + 1 < count { "," } else { "" };
        let _ = writeln!(text, "    {} = {value}{comma}", member.name);
    }
    let _ = writeln!(text, "}} {name};");
}

fn write_item(text: &mut String, item: &Item) {
    let name = &item.name;
    text.push('\n');
    write_comment(text, &item.comment, "");
    let _ = match &item.kind {
        Kind::Constant(_, value) => writeln!(text, "#define {name} {value}"),
        Kind::Alias(r#type) => writeln!(text, "typedef {};", declared(r#type, name)),
        Kind::Callback(signature) => {
            writeln!(
                text,
                "typedef {};",
                prototype(signature, &format!("({name})"))
            )
        }
        Kind::Opaque => writeln!(text, "typedef struct {name} {name};"),
        Kind::Struct(fields) => {
            let _ = writeln!(text, "typedef struct {name} {{");
            for field in fields {
                write_comment(text, &field.comment, "    ");
                if let Kind::Field(r#type) = &field.kind {
                    let _ = writeln!(text, "    {};", declared(r#type, &field.name));
                }
            }
            writeln!(text, "}} {name};")
        }
        Kind::Field(r#type) => writeln!(text, "{};", declared(r#type, name)),
        Kind::Function(signature) => writeln!(text, "{};", prototype(signature, name)),
    };
}

fn prototype(signature: &Signature, name: &str) -> String {
    let arguments: Vec<String> = signature
        .arguments
        .iter()
        .map(|(r#type, name)| declared(r#type, name))
        .collect();
    let arguments = match arguments.is_empty() {
        true => "void".to_owned(),
        false => arguments.join(", "),
    };
    declared(&signature.result, &format!("{name}({arguments})"))
}

fn declared(r#type: &str, name: &str) -> String {
    match r#type.ends_with('*') {
        true => format!("{}{name}", r#type),
        false => format!("{} {name}", r#type),
    }
}

fn write_comment(text: &mut String, lines: &[String], indent: &str) {
    match lines {
        [] => {}
        [line] => {
            let _ = writeln!(text, "{indent}/* {line} */");
        }
        [first, rest @ ..] => {
            let _ = writeln!(text, "{indent}/* {first}");
            for line in rest {
                let _ = writeln!(text, "{}", format!("{indent} * {line}").trim_end());
            }
            let _ = writeln!(text, "{indent} */");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str, kind: Kind) -> Item {
        Item {
            comment: vec!["About it.".to_owned()],
            name: name.to_owned(),
            kind,
        }
    }

    #[test]
    fn constants_of_one_type_become_an_enumeration() {
        let op =
            |name: &str, value: &str| item(name, Kind::Constant("OP".to_owned(), value.to_owned()));
        let items = vec![
            item("OP", Kind::Alias("unsigned int".to_owned())),
            op("A", "0"),
            op("B", "1"),
            item("C", Kind::Constant("int".to_owned(), "(-2)".to_owned())),
        ];
        let text = header(&[("Types", items)]);
        let expected = "typedef enum OP {\n    /* About it. */\n    A = 0,\n    /* About it. */\n    B = 1\n} OP;\n";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("#define C (-2)\n"), "{text}");
    }

    #[test]
    fn functions_get_declarations() {
        let signature = Signature {
            result: "char *".to_owned(),
            arguments: Vec::new(),
        };
        let items = vec![item("f", Kind::Function(signature))];
        let text = header(&[("Functions", items)]);
        assert!(text.contains("/* About it. */\nchar *f(void);\n"), "{text}");
    }
}
