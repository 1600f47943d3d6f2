//! slapschema: finds entries that violate the schema.

use std::io::Write as _;

use fulgurite_directory_tools::schema_check;

use super::context::{Access, Context};
use super::failure::Failure;
use super::slapcat::ReadOptions;
use fulgurite_terminal::getopt::CommandLine;

pub(super) fn run(line: &CommandLine) -> Result<(), Failure> {
    let options = ReadOptions::of(line)?;
    let context = Context::read(&options.common)?;
    let selection = options.selection(&context)?;
    let mut output = options.output()?;
    let stores = context.open_all(&options.common, Access::Read)?;
    let mut worst = 0;
    let checked = schema_check(&stores, &selection, &mut |entry| {
        if selection.ids {
            writeln!(output, "# id={:08x}", entry.id.0)?;
        }
        if let Some(violation) = entry.violation {
            let code = super::texts::code(violation.kind);
            worst = code;
            let name = super::texts::code_name(violation.kind);
            writeln!(output, "# ({code}) {name}: {}", violation.text)?;
            writeln!(output, "dn: {}\n", entry.dn)?;
        }
        Ok(())
    });
    let checked = checked.and_then(|wrong| Ok(output.flush().map(|()| wrong)?));
    match checked {
        Ok(0) => Ok(()),
        Ok(_) => Err(Failure::Reported(worst)),
        Err(error) => Err(Failure::Message(error.to_string())),
    }
}
