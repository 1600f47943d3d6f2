//! slapdn: prints the forms of DNs.

use super::context::Context;
use super::failure::Failure;
use super::options::SharedOptions;
use super::options::text;
use fulgurite_terminal::getopt::CommandLine;

/// The exit status of the original for an invalid DN.
const WRONG: u8 = 255;

/// The only form to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Normal,
    Pretty,
}

pub(super) fn run(line: &CommandLine) -> Result<(), Failure> {
    let mut common = SharedOptions::default();
    let mut form = None;
    for given in &line.options {
        let asked = match given.letter {
            'N' => Form::Normal,
            'P' => Form::Pretty,
            _ => {
                common.take(given)?;
                continue;
            }
        };
        if form.is_some_and(|form| form != asked) {
            return Err(Failure::Usage);
        }
        form = Some(asked);
    }
    if line.operands.is_empty() {
        return Err(Failure::Usage);
    }
    let context = Context::read(&common)?;
    for operand in &line.operands {
        let name = text(operand);
        let Some(dn) = context.dn(&name) else {
            eprintln!("DN: <{name}> check failed 21 (Invalid syntax)");
            if common.continue_on_error {
                continue;
            }
            return Err(Failure::Reported(WRONG));
        };
        match form {
            Some(Form::Normal) => println!("{}", dn.normal_text(&context.schema)),
            Some(Form::Pretty) => println!("{}", dn.pretty()),
            None => {
                println!("DN: <{name}> check succeeded");
                println!(
                    "normalized: <{}>\npretty:     <{}>",
                    dn.normal_text(&context.schema),
                    dn.pretty()
                );
            }
        }
    }
    Ok(())
}
