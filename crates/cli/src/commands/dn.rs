//! `fulgurite dn`.

use anyhow::bail;
use fulgurite_schema::Dn;

use crate::arguments::tools::DnForms;

pub(crate) fn run(command: DnForms) -> anyhow::Result<()> {
    let schema = fulgurite_server::schema(&command.config.settings()?)?;
    let mut wrong = 0;
    for name in &command.names {
        match Dn::parse(&schema, name) {
            Ok(dn) if command.normal => println!("{}", dn.normal_text(&schema)),
            Ok(dn) if command.pretty => println!("{}", dn.pretty()),
            Ok(dn) => println!(
                "{name}\n  normal  {}\n  pretty  {}",
                dn.normal_text(&schema),
                dn.pretty()
            ),
            Err(error) => {
                wrong += 1;
                eprintln!("{name}: {error}");
            }
        }
    }
    match wrong {
        0 => Ok(()),
        1 => bail!("one DN is invalid"),
        count => bail!("{count} DNs are invalid"),
    }
}
