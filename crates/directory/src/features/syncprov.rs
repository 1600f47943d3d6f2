//! The settings of the provider (slapd's overlay `syncprov`).

use fulgurite_policy::{OverlayLine, OverlaySettings, Sourced, overlay_truth};
use fulgurite_schema::Dn;

use super::compilation::Compilation;

/// The provider of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Provider {
    /// The number of changes that the log keeps at least.
    pub(crate) changes_min: u64,
    /// True if the content goes on in the databases glued below: `glue` is configured before.
    pub(crate) is_glued: bool,
}

impl Provider {
    /// Compiles the directives. An error is slapd's sentence.
    pub(super) fn compile(
        compilation: &mut Compilation<'_>,
        settings: &OverlaySettings,
    ) -> Result<Provider, Sourced<String>> {
        let mut provider = Provider::default();
        for line in &settings.lines {
            let compiled = match line.directive.keyword {
                "syncprov-checkpoint" => check_checkpoint(line),
                "syncprov-sessionlog" => session_log(line).map(|count| {
                    provider.changes_min = count;
                }),
                "syncprov-sessionlog-source" => check_source(compilation, line),
                "syncprov-nopresent" => truth(line).map(|is_wanted| {
                    if is_wanted {
                        compilation.warn(NO_PRESENT.to_owned(), &line.origin);
                    }
                }),
                _ => truth(line).map(drop),
            };
            compiled.map_err(|text| Sourced::new(text, line.origin.clone()))?;
        }
        Ok(provider)
    }
}

/// The remark on a setting with which slapd would never tell of some deletions.
const NO_PRESENT: &str = "syncprov-nopresent: it has no effect outside a log of accesses, because \
    consumers would not learn of deletions";

fn check_checkpoint(line: &OverlayLine) -> Result<(), String> {
    let [operations, minutes] = line.arguments.as_slice() else {
        return Err("<syncprov-checkpoint> missing <ops> <minutes> argument".to_owned());
    };
    let positive = |text: &str| text.parse::<u32>().is_ok_and(|number| number > 0);
    if !positive(operations) {
        return Err(format!(
            "syncprov_checkpoint: invalid checkpoint ops # \"{operations}\""
        ));
    }
    if !positive(minutes) {
        // slapd prints the operations here, too.
        return Err(format!(
            "syncprov_checkpoint: invalid checkpoint time \"{operations}\""
        ));
    }
    Ok(())
}

fn session_log(line: &OverlayLine) -> Result<u64, String> {
    match line.arguments.as_slice() {
        [] => Err("<syncprov-sessionlog> missing <ops> argument".to_owned()),
        [count] => match count.parse::<i32>() {
            Ok(count) => u64::try_from(count)
                .map_err(|_| format!("<syncprov-sessionlog> size {count} is negative")),
            Err(_) => Err(format!(
                "<syncprov-sessionlog> unable to parse \"{count}\" as int"
            )),
        },
        _ => Err("<syncprov-sessionlog> extra cruft after <ops>".to_owned()),
    }
}

fn check_source(compilation: &Compilation<'_>, line: &OverlayLine) -> Result<(), String> {
    let invalid = |_| "<syncprov-sessionlog-source> invalid DN".to_owned();
    Dn::parse(compilation.schema, line.first()).map_err(invalid)?;
    Ok(())
}

fn truth(line: &OverlayLine) -> Result<bool, String> {
    let truth = overlay_truth(line.first());
    truth.ok_or_else(|| format!("<{}> invalid value", line.directive.keyword))
}
