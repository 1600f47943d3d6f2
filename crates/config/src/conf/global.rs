//! Directives about the whole server.

use std::num::NonZeroU32;
use std::path::PathBuf;

use super::{Directive, Kind, Reader, Scope, Section, Statement};
use crate::levels;
use crate::model::{GlobalLayer, SchemaPart, ServerId, Threads};
use crate::{Origin, Sourced};
use fulgurite_policy::{BuiltinSchema, DatabaseKind, FeatureSet as _};

/// A truth value that goes into a field of the global settings.
macro_rules! truth {
    ($keyword:literal, $olc:literal, $field:ident) => {
        Directive::one(
            $keyword,
            $olc,
            "<on|off>",
            Kind::Truth(|reader, value, origin| {
                reader.layer.global.$field = Some(Sourced::new(value, origin));
            }),
        )
    };
}

/// A number that is not negative and goes into a field of the global settings.
macro_rules! unsigned {
    ($keyword:literal, $olc:literal, $arguments:literal, $field:ident) => {
        Directive::one(
            $keyword,
            $olc,
            $arguments,
            Kind::Unsigned(|reader, value, origin| {
                reader.layer.global.$field = Some(Sourced::new(value, origin));
                Ok(())
            }),
        )
    };
}

/// A number of which less than one makes no sense.
macro_rules! count {
    ($keyword:literal, $olc:literal, $arguments:literal, $field:ident) => {
        Directive::one(
            $keyword,
            $olc,
            $arguments,
            Kind::Int(|reader, value, origin| {
                let value = u32::try_from(value).ok().and_then(NonZeroU32::new);
                let value = value.unwrap_or(NonZeroU32::MIN);
                reader.layer.global.$field = Some(Sourced::new(value, origin));
                Ok(())
            }),
        )
    };
}

/// Seconds; zero and less for no limit.
macro_rules! seconds {
    ($keyword:literal, $olc:literal, $field:ident) => {
        Directive::one(
            $keyword,
            $olc,
            "<timeout>",
            Kind::Int(|reader, value, origin| {
                let value = u32::try_from(value).ok().filter(|seconds| *seconds > 0);
                reader.layer.global.$field = Some(Sourced::new(value, origin));
                Ok(())
            }),
        )
    };
}

/// A file that goes into a field of the global settings.
macro_rules! path {
    ($keyword:literal, $olc:literal, $arguments:literal, $field:ident) => {
        Directive::one(
            $keyword,
            $olc,
            $arguments,
            Kind::Text(|reader, value, origin| {
                let path = Some(PathBuf::from(value));
                reader.layer.global.$field = Some(Sourced::new(path, origin));
            }),
        )
    };
}

/// Octets that go into a field of the global settings.
macro_rules! octets {
    ($keyword:literal, $olc:literal, $field:ident) => {
        Directive::one(
            $keyword,
            $olc,
            "<max>",
            Kind::Octets("ber_len_t", |reader, value, origin| {
                reader.layer.global.$field = Some(Sourced::new(value, origin));
            }),
        )
    };
}

/// A definition of schema.
macro_rules! schema {
    ($keyword:literal, $olc:literal, $arguments:literal, $least:literal, $part:ident) => {
        Directive::many(
            $keyword,
            $olc,
            $arguments,
            Kind::Words(|reader, statement| {
                if !statement.text.starts_with('(') && stringify!($part) != "ObjectIdentifier" {
                    return Err(format!("<{}> old format not supported", statement.keyword));
                }
                let part = SchemaPart::$part(statement.text.clone());
                let part = Sourced::new(part, statement.origin.clone());
                reader.layer.global.schema.push(part);
                Ok(())
            }),
        )
        .taking($least, None)
    };
}

const BUILT_IN: &str = "everything there is, is built in";
const ONE_POOL: &str = "threads are not divided in this way here";

pub(crate) const DIRECTIVES: &[Directive] = &[
    Directive::one("backend", "", "<type>", Kind::Words(backend)).within(Scope::Early),
    Directive::one("database", "", "<type>", Kind::Words(database)),
    schema!(
        "objectidentifier",
        "olcObjectIdentifier",
        "<name> <oid>",
        2,
        ObjectIdentifier
    ),
    schema!("ldapsyntax", "olcLdapSyntaxes", "<syntax>", 1, LdapSyntax),
    schema!(
        "attributetype",
        "olcAttributeTypes",
        "<attribute>",
        1,
        AttributeType
    ),
    schema!("attribute", "", "<attribute>", 1, AttributeType),
    schema!(
        "objectclass",
        "olcObjectClasses",
        "<objectclass>",
        1,
        ObjectClass
    ),
    schema!(
        "ditcontentrule",
        "olcDitContentRules",
        "<rule>",
        1,
        DitContentRule
    ),
    Directive::many(
        "attributeoptions",
        "olcAttributeOptions",
        "<>",
        Kind::Words(attribute_options),
    )
    .taking(0, None),
    Directive::many(
        "moduleload",
        "olcModuleLoad",
        "<file>",
        Kind::Words(moduleload),
    ),
    Directive::one(
        "modulepath",
        "olcModulePath",
        "<path>",
        Kind::Needless(BUILT_IN),
    ),
    path!("pidfile", "olcPidFile", "<file>", pid_file),
    path!("argsfile", "olcArgsFile", "<file>", args_file),
    path!("logfile", "olcLogFile", "<file>", log_file),
    Directive::many("loglevel", "olcLogLevel", "<level>", Kind::Words(loglevel)),
    Directive::many("allow", "olcAllows", "<features>", Kind::Words(allow)).within(Scope::Early),
    Directive::many(
        "disallow",
        "olcDisallows",
        "<features>",
        Kind::Words(disallow),
    )
    .within(Scope::Early),
    Directive::one(
        "defaultsearchbase",
        "olcDefaultSearchBase",
        "<dn>",
        Kind::Text(|reader, value, origin| {
            let value = Some(value).filter(|base| !base.is_empty());
            reader.layer.global.default_search_base = Some(Sourced::new(value, origin));
        }),
    )
    .taking(0, Some(1))
    .within(Scope::Early),
    truth!("gentlehup", "olcGentleHUP", gentle_hup),
    truth!("reverse-lookup", "olcReverseLookup", reverse_lookup),
    seconds!("idletimeout", "olcIdleTimeout", idle),
    seconds!("writetimeout", "olcWriteTimeout", write),
    count!(
        "conn_max_pending",
        "olcConnMaxPending",
        "<max>",
        pending_anonymous
    ),
    count!(
        "conn_max_pending_auth",
        "olcConnMaxPendingAuth",
        "<max>",
        pending
    ),
    count!(
        "maxfilterdepth",
        "olcMaxFilterDepth",
        "<depth>",
        filter_depth
    ),
    octets!(
        "sockbuf_max_incoming",
        "olcSockbufMaxIncoming",
        request_bytes_anonymous
    ),
    octets!(
        "sockbuf_max_incoming_auth",
        "olcSockbufMaxIncomingAuth",
        request_bytes
    ),
    Directive::one("threads", "olcThreads", "<count>", Kind::Int(threads)),
    Directive::one(
        "threadqueues",
        "olcThreadQueues",
        "<count>",
        Kind::Int(|reader, value, origin| {
            if value < 1 {
                return Err(format!(
                    "threadqueues={value} smaller than minimum value 1."
                ));
            }
            reader.note(origin, format!("threadqueues: {ONE_POOL}"));
            Ok(())
        }),
    ),
    Directive::one(
        "tool-threads",
        "olcToolThreads",
        "<count>",
        Kind::Int(|reader, value, origin| {
            let value = u32::try_from(value).unwrap_or(1).max(1);
            reader.layer.global.tool_threads = Some(Sourced::new(value, origin));
            Ok(())
        }),
    ),
    Directive::one(
        "listener-threads",
        "olcListenerThreads",
        "<count>",
        Kind::Unsigned(|reader, _, origin| {
            reader.note(origin, format!("listener-threads: {ONE_POOL}"));
            Ok(())
        }),
    ),
    Directive::one(
        "concurrency",
        "olcConcurrency",
        "<level>",
        Kind::Int(|reader, _, origin| {
            reader.note(origin, format!("concurrency: {ONE_POOL}"));
            Ok(())
        }),
    ),
    truth!("index_hash64", "olcIndexHash64", index_hash64),
    unsigned!("index_intlen", "olcIndexIntLen", "<len>", index_int_len),
    Directive::one(
        "index_substr_if_minlen",
        "olcIndexSubstrIfMinLen",
        "<min>",
        Kind::Unsigned(|reader, value, origin| {
            let global = &mut reader.layer.global;
            let most = global
                .substr_if_max_len
                .as_ref()
                .map_or(4, |said| said.value);
            if value > most {
                return Err(format!("<index_substr_if_minlen> invalid value ({value})"));
            }
            global.substr_if_min_len = Some(Sourced::new(value, origin));
            Ok(())
        }),
    ),
    Directive::one(
        "index_substr_if_maxlen",
        "olcIndexSubstrIfMaxLen",
        "<max>",
        Kind::Unsigned(|reader, value, origin| {
            let global = &mut reader.layer.global;
            let least = global
                .substr_if_min_len
                .as_ref()
                .map_or(2, |said| said.value);
            if value < least {
                return Err(format!("<index_substr_if_maxlen> invalid value ({value})"));
            }
            global.substr_if_max_len = Some(Sourced::new(value, origin));
            Ok(())
        }),
    ),
    unsigned!(
        "index_substr_any_len",
        "olcIndexSubstrAnyLen",
        "<len>",
        substr_any_len
    ),
    unsigned!(
        "index_substr_any_step",
        "olcIndexSubstrAnyStep",
        "<step>",
        substr_any_step
    ),
    Directive::one(
        "localSSF",
        "olcLocalSSF",
        "<ssf>",
        Kind::Int(|reader, value, origin| {
            let value = u32::try_from(value).unwrap_or_default();
            reader.layer.global.local_ssf = Some(Sourced::new(value, origin));
            Ok(())
        }),
    ),
    Directive::many(
        "password-hash",
        "olcPasswordHash",
        "<hash>",
        Kind::Words(|reader, statement| {
            let origin = statement.origin.clone();
            let place = &mut reader.layer.global.password_hash;
            let hashes = place.get_or_insert_with(|| Sourced::new(Vec::new(), origin));
            hashes.value.extend(statement.arguments.iter().cloned());
            Ok(())
        }),
    ),
    Directive::one(
        "password-crypt-salt-format",
        "olcPasswordCryptSaltFormat",
        "<salt>",
        Kind::Text(|reader, value, origin| {
            reader.layer.global.crypt_salt_format = Some(Sourced::new(Some(value), origin));
        }),
    ),
    Directive::one("referral", "olcReferral", "<url>", Kind::Words(referral)),
    Directive::one(
        "rootDSE",
        "olcRootDSE",
        "<file>",
        Kind::Text(|reader, value, origin| {
            let file = Sourced::new(PathBuf::from(value), origin);
            reader.layer.global.root_dse.push(file);
        }),
    ),
    Directive::many(
        "serverID",
        "olcServerID",
        "<number> <[URI]>",
        Kind::Words(server_id),
    )
    .taking(1, Some(2)),
    Directive::many(
        "sortvals",
        "olcSortVals",
        "<attr>",
        Kind::Words(sort_values),
    ),
    Directive::one(
        "schemadn",
        "olcSchemaDN",
        "<dn>",
        Kind::Needless("the schema is always at cn=Subschema"),
    )
    .taking(0, Some(1)),
    Directive::many(
        "tcp-buffer",
        "olcTCPBuffer",
        "<[listener=<listener>] [{read|write}=]size>",
        Kind::Words(tcp_buffer),
    ),
    Directive::many(
        "authid-rewrite",
        "olcAuthIDRewrite",
        "<rewrite>",
        Kind::Words(|_, statement| {
            let typed = &statement.keyword;
            Err(format!(
                "<{typed}> rewriting is not built in; authz-regexp is"
            ))
        }),
    ),
    Directive::one(
        "pluginlog",
        "olcPluginLogFile",
        "<filename>",
        Kind::Needless("there are no plug-ins"),
    ),
    Directive::many(
        "plugin",
        "olcPlugin",
        "<plugin_type> <lib_path> <init_function>",
        Kind::Words(plugin),
    ),
    Directive::many("ucdata-path", "", "<path>", Kind::Needless(BUILT_IN)).taking(0, None),
    Directive::many(
        "replica",
        "",
        "<host or uri>",
        Kind::Needless("keyword is obsolete (ignored)"),
    ),
    Directive::many(
        "replicationinterval",
        "",
        "",
        Kind::Needless("keyword is obsolete (ignored)"),
    )
    .taking(0, None),
    Directive::many(
        "replogfile",
        "",
        "<filename>",
        Kind::Needless("keyword is obsolete (ignored)"),
    ),
    Directive::many(
        "replica-pidfile",
        "",
        "",
        Kind::Needless("keyword is obsolete (ignored)"),
    )
    .taking(0, None),
    Directive::many(
        "replica-argsfile",
        "",
        "",
        Kind::Needless("keyword is obsolete (ignored)"),
    )
    .taking(0, None),
];

fn tcp_buffer(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let last = statement.arguments.last().map_or("", String::as_str);
    let size = last.rsplit_once('=').map_or(last, |(_, size)| size);
    if size.parse::<u32>().is_err() {
        return Err(format!("<{}> unable to add value #0", statement.keyword));
    }
    let text = "tcp-buffer: the system sizes the buffers of connections".to_owned();
    reader.note(statement.origin.clone(), text);
    Ok(())
}

/// What slapd's defaults are where ours differ: a configuration of its means them.
pub(crate) fn set_defaults(global: &mut GlobalLayer) {
    global.schema_builtin = Some(Sourced::by_default(BuiltinSchema::System));
    global.request_bytes_anonymous = Some(Sourced::by_default(262_143));
    global.request_bytes = Some(Sourced::by_default(16_777_215));
}

fn backend(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    match statement.first() {
        "mdb" | "monitor" | "config" | "frontend" => {
            reader.begin(Section::Backend);
            Ok(())
        }
        other => Err(format!("<{}> failed init ({other})!", statement.keyword)),
    }
}

fn database(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let origin = statement.origin.clone();
    let typed = &statement.keyword;
    let kind = statement.first();
    match kind {
        "frontend" => reader.begin(Section::Global),
        "config" if reader.layer.config.origin.is_some() => {
            return Err(format!(
                "<{typed}> only one config database allowed ({kind})"
            ));
        }
        "config" => {
            reader.layer.config.origin = Some(origin);
            reader.begin(Section::Config);
        }
        "mdb" => reader.begin_database(DatabaseKind::Mdb, origin),
        "monitor" => {
            let mut others = reader.layer.databases.iter();
            if others.any(|other| other.kind == DatabaseKind::Monitor) {
                return Err(format!("only one monitor database allowed ({kind})"));
            }
            reader.begin_database(DatabaseKind::Monitor, origin);
        }
        "bdb" | "hdb" | "ldbm" => {
            return Err(format!(
                "<{typed}> failed init ({kind}): there is no such database any more; write \"database mdb\""
            ));
        }
        _ => {
            return Err(format!(
                "<{typed}> failed init ({kind}): there are mdb, monitor, config and frontend"
            ));
        }
    }
    Ok(())
}

fn attribute_options(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    for option in &statement.arguments {
        let legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        if !option.starts_with(|letter: char| letter.is_ascii_alphabetic())
            || !option.chars().all(legal)
        {
            return Err(format!("illegal option name \"{option}\""));
        }
    }
    let place = &mut reader.layer.global.attribute_options;
    let origin = statement.origin.clone();
    let options = place.get_or_insert_with(|| Sourced::new(Vec::new(), origin));
    let wanted = statement.arguments.iter();
    // Language tags are always there.
    let wanted = wanted.filter(|option| !option.eq_ignore_ascii_case("lang-"));
    options.value.extend(wanted.cloned());
    Ok(())
}

/// Modules whose work is built in, or whose directives decide what becomes of them.
const MODULES: [&str; 10] = [
    "back_mdb",
    "back_monitor",
    "back_ldif",
    "pw-sha2",
    "pw-pbkdf2",
    "pw-argon2",
    "argon2",
    "pw-netscape",
    "pw-apr1",
    "lastmod",
];

fn moduleload(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let name = statement.first();
    let file = name.rsplit('/').next().unwrap_or(name);
    let module = file.split('.').next().unwrap_or(file);
    let origin = statement.origin.clone();
    let loaded = Sourced::new(statement.text.clone(), origin.clone());
    reader.layer.modules.push(loaded);
    if MODULES.contains(&module) {
        reader.note(origin, format!("{name} is built in"));
    } else if fulgurite_policy::find_overlay(module).is_some() {
        reader.note(
            origin,
            format!("{name}: overlays are built in or not to be had"),
        );
    } else {
        let text = format!("{name}: no modules are loaded, and nothing of that name is built in");
        reader.warn(origin, text);
    }
    Ok(())
}

fn loglevel(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let typed = &statement.keyword;
    // Several lines add up.
    let said = reader.layer.global.log_mask.as_ref();
    let mut mask = said.map_or(0, |said| said.value);
    for word in &statement.arguments {
        mask |= levels::parse_level(word).map_err(|mistake| match mistake {
            levels::Mistake::Unknown => format!("<{typed}> unknown level \"{word}\""),
            levels::Mistake::Number => format!("<{typed}> unable to parse level \"{word}\""),
        })?;
    }
    let origin = &statement.origin;
    let global = &mut reader.layer.global;
    global.log_level = Some(Sourced::new(levels::log_level(mask), origin.clone()));
    global.log_operations = Some(Sourced::new(mask & levels::STATS != 0, origin.clone()));
    global.log_mask = Some(Sourced::new(mask, origin.clone()));
    Ok(())
}

fn allow(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let origin = statement.origin.clone();
    let place = &mut reader.layer.global.allow;
    let set = place.get_or_insert_with(|| Sourced::new(Default::default(), origin));
    add_features(statement, |word| set.value.add(word))
}

fn disallow(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let origin = statement.origin.clone();
    let place = &mut reader.layer.global.disallow;
    let set = place.get_or_insert_with(|| Sourced::new(Default::default(), origin));
    add_features(statement, |word| set.value.add(word))
}

fn add_features(statement: &Statement, mut add: impl FnMut(&str) -> bool) -> Result<(), String> {
    match statement.arguments.iter().find(|word| !add(word)) {
        Some(unknown) => Err(format!("<{}> unknown feature {unknown}", statement.keyword)),
        None => Ok(()),
    }
}

fn threads(reader: &mut Reader, count: i32, origin: Origin) -> Result<(), String> {
    match u32::try_from(count) {
        Ok(count) if count >= 2 => {
            let threads = Threads(Some(count.min(1024)));
            reader.layer.global.threads = Some(Sourced::new(threads, origin));
            Ok(())
        }
        _ => Err(format!("threads={count} smaller than minimum value 2.")),
    }
}

fn referral(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let url = statement.first();
    let after_host = url
        .split_once("://")
        .and_then(|(_, rest)| rest.split_once('/'));
    if after_host.is_some_and(|(_, path)| !path.is_empty()) {
        return Err(format!("<{}> invalid URL ({url})", statement.keyword));
    }
    let url = Sourced::new(url.to_owned(), statement.origin.clone());
    if !url.is_empty() {
        reader.layer.global.referrals.push(url);
    }
    Ok(())
}

fn server_id(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let words: Vec<&str> = statement.arguments.iter().map(String::as_str).collect();
    let number = statement.first();
    let typed = &statement.keyword;
    let id = ServerId::from_words(&words)
        .ok_or_else(|| format!("<{typed}> illegal server ID {number}"))?;
    let known = &mut reader.layer.global.server_ids;
    if id.url.is_none() && !known.is_empty() {
        return Err(format!(
            "<{typed}> unqualified server ID not allowed now {number}"
        ));
    }
    known.push(Sourced::new(id, statement.origin.clone()));
    Ok(())
}

fn sort_values(reader: &mut Reader, statement: &Statement) -> Result<(), String> {
    let origin = statement.origin.clone();
    let place = &mut reader.layer.global.sort_values;
    let sorted = place.get_or_insert_with(|| Sourced::new(Vec::new(), origin));
    sorted.value.extend(statement.arguments.iter().cloned());
    Ok(())
}

fn plugin(_: &mut Reader, statement: &Statement) -> Result<(), String> {
    Err(match statement.arguments.len() {
        0..3 => "missing arguments in \"plugin <plugin_type> <lib_path> <init_function> [<arguments>]\" line".to_owned(),
        _ => format!("<{}> there are no plug-ins", statement.keyword),
    })
}
