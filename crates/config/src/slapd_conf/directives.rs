//! The directives that read statements: rows of the table, and those that begin a database.

use fulgurite_policy::{DatabaseKind, OverlayLine, OverlaySupport, find_overlay, overlay_of};

use super::berkeley;
use super::builder::LayerBuilder;
use crate::Sourced;
use crate::argument_text::ArgumentText;
use crate::setting::Setting as _;
use crate::statement::{Section, Statement};
use crate::suggest::nearest;
use crate::table::{self, AnyRow, Directive, Scope};

/// Changes the part of the configuration that statements are about.
type Change = fn(&mut LayerBuilder, &Statement) -> Result<(), String>;

/// A directive and the function that reads its statements.
#[derive(Clone, Copy)]
pub(crate) struct KnownDirective {
    pub(crate) directive: &'static Directive,
    effect: Effect,
}

#[derive(Clone, Copy)]
enum Effect {
    /// Changes the part of the configuration.
    Structure(Change),
    /// Fills the field of a row.
    Setting(AnyRow),
}

const STRUCTURE: &[(Directive, Change)] = &[
    (
        Directive {
            scope: Scope::Early,
            ..Directive::new("backend", "", "<type>")
        },
        backend,
    ),
    (Directive::new("database", "", "<type>"), database),
    (
        Directive {
            most: None,
            numbered: true,
            ..Directive::new("moduleload", "olcModuleLoad", "<file>")
        },
        module_load,
    ),
    (
        Directive {
            most: Some(1),
            ..Directive::new("modulepath", "olcModulePath", "<path>")
        },
        module_path,
    ),
    (
        Directive::new("overlay", "olcOverlay", "<overlay>"),
        overlay,
    ),
];

/// Returns every directive, those that begin a part of the configuration first.
pub(crate) fn directives() -> impl Iterator<Item = KnownDirective> {
    let structure = STRUCTURE.iter().map(|(directive, change)| KnownDirective {
        directive,
        effect: Effect::Structure(*change),
    });
    let settings = table::directives().map(|(row, directive)| KnownDirective {
        directive,
        effect: Effect::Setting(row),
    });
    structure.chain(settings)
}

/// Returns the directive of a name, in any case of letters.
pub(crate) fn find(keyword: &str) -> Option<KnownDirective> {
    directives().find(|known| known.directive.keyword.eq_ignore_ascii_case(keyword))
}

/// Obeys one statement. Errors are slapd's sentences, without the place.
pub(crate) fn obey(builder: &mut LayerBuilder, statement: &Statement) -> Result<(), String> {
    if obeyed_by_overlay(builder, statement)? {
        return Ok(());
    }
    if builder.is_in_berkeley() && berkeley::is_setting(&statement.keyword) {
        return Ok(());
    }
    let section = builder.section();
    match find(&statement.keyword) {
        Some(known) if known.directive.is_known_in(section) => apply(builder, known, statement),
        _ => Err(unknown(section, &statement.keyword)),
    }
}

/// Obeys one statement of a known directive.
pub(crate) fn apply(
    builder: &mut LayerBuilder,
    known: KnownDirective,
    statement: &Statement,
) -> Result<(), String> {
    let statement = Statement {
        section: builder.section(),
        ..statement.clone()
    };
    known.directive.check(&statement, builder.has_databases())?;
    match known.effect {
        Effect::Structure(change) => change(builder, &statement),
        Effect::Setting(row) => builder.take(row, &statement),
    }
}

/// Keeps a directive of an overlay that the database has. Returns false if there is none.
fn obeyed_by_overlay(builder: &mut LayerBuilder, statement: &Statement) -> Result<bool, String> {
    let is_pair = statement.keyword.eq_ignore_ascii_case(DYNLIST_PAIR);
    let keyword = if is_pair {
        "dynlist-attrset"
    } else {
        &statement.keyword
    };
    let Some(owner) = overlay_of(keyword) else {
        return Ok(false);
    };
    let mut overlays = builder.overlays().iter_mut().rev();
    let Some(overlay) = overlays.find(|overlay| overlay.name == owner.name) else {
        return Ok(false);
    };
    let Some(directive) = owner.directive(keyword) else {
        return Ok(false);
    };
    let arguments = match is_pair {
        true => set_of_pair(&statement.arguments)?,
        false => statement.arguments.clone(),
    };
    let line = OverlayLine {
        directive,
        arguments,
    };
    let line = Sourced::new(line, statement.origin.clone());
    overlay.lines.push(line);
    Ok(true)
}

/// The old form of `dynlist-attrset`.
const DYNLIST_PAIR: &str = "dynlist-attrpair";

/// Returns the arguments of the present form: a set of groupOfURLs.
fn set_of_pair(arguments: &[String]) -> Result<Vec<String>, String> {
    match arguments {
        [member, url] => Ok(vec!["groupOfURLs".to_owned(), url.clone(), member.clone()]),
        [_, _, _, ..] => Err(format!(
            "<{DYNLIST_PAIR}> extra cruft after <member-ad> <URL-ad>."
        )),
        _ => Err(format!(
            "keyword <{DYNLIST_PAIR}> missing <member-ad> <URL-ad> argument"
        )),
    }
}

/// Returns the refusal of a directive or an attribute that would take rights away. Nobody may
/// believe it in force.
pub(crate) fn refusal(name: &str) -> Option<&'static str> {
    let is_refused =
        name.eq_ignore_ascii_case("restrictop") || name.eq_ignore_ascii_case("olcRestrictOp");
    is_refused
        .then_some("It is of OpenLDAP 2.7 and not supported: <restrict> refuses whole operations.")
}

/// Returns slapd's sentence about an unknown directive, with the nearest known one.
fn unknown(section: Section, keyword: &str) -> String {
    let place = match section {
        Section::Frontend => "outside backend info and database definitions",
        Section::Backend => "inside backend info definition",
        Section::Config | Section::Monitor | Section::Store => "inside backend database definition",
    };
    let near = nearest(keyword, directives().map(|known| known.directive.keyword));
    let near = near.filter(|near| !near.eq_ignore_ascii_case(keyword));
    let hint = near.map(|near| format!(" Did you mean <{near}>?"));
    let hint = refusal(keyword).map(|reason| format!(" {reason}")).or(hint);
    let hint = hint.unwrap_or_default();
    format!("unknown directive <{keyword}> {place}.{hint}")
}

fn backend(builder: &mut LayerBuilder, statement: &Statement) -> Result<(), String> {
    match statement.first() {
        old if builder.collects() && berkeley::is_backend(old) => {
            builder.begin_backend();
            Ok(())
        }
        "mdb" | "monitor" | "config" | "frontend" => {
            builder.begin_backend();
            Ok(())
        }
        other => Err(format!("<{}> failed init ({other})!", statement.keyword)),
    }
}

fn database(builder: &mut LayerBuilder, statement: &Statement) -> Result<(), String> {
    let origin = statement.origin.clone();
    let typed = &statement.keyword;
    let kind = statement.first();
    match kind {
        "frontend" => builder.begin_frontend(),
        "config" if builder.layer.config.origin.is_some() => {
            return Err(format!(
                "<{typed}> only one config database allowed ({kind})"
            ));
        }
        "config" => builder.begin_config(origin),
        "mdb" => builder.begin_database(DatabaseKind::Mdb, origin),
        old if builder.collects() && berkeley::is_backend(old) => builder.begin_berkeley(origin),
        "monitor" => {
            let mut others = builder.layer.databases.iter();
            if others.any(|other| other.kind == DatabaseKind::Monitor) {
                return Err(format!("only one monitor database allowed ({kind})"));
            }
            builder.begin_database(DatabaseKind::Monitor, origin);
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

/// Modules whose features are built in.
const MODULES: [&str; 11] = [
    // It has the overlay chain.
    "back_ldap",
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

/// Keeps the folders for slapd. It replaces them at each line, for the modules after it. Modules
/// from here are in one list, which has all folders.
fn module_path(builder: &mut LayerBuilder, statement: &Statement) -> Result<(), String> {
    let (folders, origin) = (statement.first(), &statement.origin);
    builder.note(origin, "modulepath: all modules are built in".to_owned());
    let held = builder.layer.module_path.as_ref();
    let path = match held.map(|held| held.value.as_str()) {
        Some(held) if held.split(':').any(|one| one == folders) => return Ok(()),
        Some(held) => format!("{held}:{folders}"),
        None => folders.to_owned(),
    };
    builder.layer.module_path = Some(Sourced::new(path, origin.clone()));
    Ok(())
}

fn module_load(builder: &mut LayerBuilder, statement: &Statement) -> Result<(), String> {
    let name = statement.first();
    let file = name.rsplit('/').next().unwrap_or(name);
    let module = file.split('.').next().unwrap_or(file);
    let origin = &statement.origin;
    let value = ArgumentText::from_statement(statement).olc().concat();
    let mut modules = builder.layer.modules.iter();
    if modules.any(|loaded| loaded.value == value) {
        return Err(match statement.is_value {
            true => "<olcModuleLoad> handler exited with 1".to_owned(),
            false => format!("module_load: ({name}) already loaded"),
        });
    }
    let loaded = Sourced::new(value, origin.clone());
    builder.layer.modules.push(loaded);
    if MODULES.contains(&module) || (builder.collects() && berkeley::is_module(module)) {
        builder.note(origin, format!("{name} is built in"));
    } else if find_overlay(module).is_some() {
        let text = format!("{name}: overlays are built in or not available");
        builder.note(origin, text);
    } else {
        let text = format!("{name}: no modules are loaded, and nothing of that name is built in");
        builder.warn(origin, text);
    }
    Ok(())
}

/// Overlays that a database may have more than once.
const REPEATED: [&str; 2] = ["memberof", "refint"];

fn overlay(builder: &mut LayerBuilder, statement: &Statement) -> Result<(), String> {
    let name = statement.first().to_ascii_lowercase();
    let origin = &statement.origin;
    match find_overlay(&name).map(|overlay| overlay.support) {
        None => return Err(format!("overlay \"{name}\" not found")),
        Some(OverlaySupport::Refused(reason)) => {
            return Err(format!(
                "overlay \"{name}\" is not built in: {reason}{}",
                crate::survey::OF_ALL
            ));
        }
        Some(OverlaySupport::PerDatabase) if builder.section().is_frontend() => {
            return Err(format!(
                "overlay \"{name}\" serves one database: write it after \"database mdb\", once for each"
            ));
        }
        Some(OverlaySupport::BuiltIn | OverlaySupport::PerDatabase) => {}
    }
    let mut others = builder.overlays().iter();
    if others.any(|other| other.name == name) && !REPEATED.contains(&name.as_str()) {
        return Err(format!(
            "overlay_config(): overlay \"{name}\" already in list"
        ));
    }
    builder.push_overlay(&name, origin);
    Ok(())
}
