//! Reads a configuration of slapd to its end, and collects what the server refuses.

use std::path::Path;

use crate::{ConfigError, Layer};

/// A configuration of slapd without the statements that the server refuses.
#[derive(Debug)]
pub struct Survey {
    /// The other statements.
    pub layer: Layer,
    /// The refusals, in the order of the configuration.
    pub refusals: Vec<ConfigError>,
}

impl Survey {
    /// Reads a configuration directory, or a file.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`], and [`ConfigError::Directive`] for a file without structure.
    pub fn of(place: &Path) -> Result<Survey, ConfigError> {
        match place.is_dir() {
            true => Layer::survey_config_dir(place),
            false => Layer::survey_slapd_conf(place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    const TEXT: &str = "database mdb\nsuffix dc=a\ndirectory /a\noverlay dds\n\
        dds-max-ttl 1\nnosuch 1\nindex cn eq\nsizelimit few\n\
        database hdb\nsuffix dc=b\ncachesize 5\n\
        database mdb\nsuffix dc=c\ndirectory /c\nnosuch 2\n";

    fn lines(survey: &Survey) -> Vec<String> {
        let refusals = survey.refusals.iter();
        let texts = refusals.map(|error| {
            let text = error.to_string();
            text.split_once("line ")
                .map_or("", |(_, text)| text)
                .to_owned()
        });
        texts.collect()
    }

    #[test]
    fn a_file_is_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("slapd.conf");
        std::fs::write(&file, TEXT).unwrap();
        let survey = Survey::of(&file).unwrap();
        let said = lines(&survey);
        let expected = [
            "4: overlay \"dds\" is not built in",
            "6: unknown directive <nosuch>",
            "8: ",
            "9: <database> failed init (hdb)",
            // Directives of what is refused are refused with it.
            "15: unknown directive <nosuch>",
        ];
        assert_eq!(said.len(), expected.len(), "{said:?}");
        for (text, begin) in said.iter().zip(expected) {
            assert!(text.starts_with(begin), "{text}");
        }
        let settings = Settings::new(survey.layer).unwrap();
        let suffixes = settings
            .stores()
            .map(|store| store.suffix().unwrap().to_owned());
        assert_eq!(suffixes.collect::<Vec<_>>(), ["dc=a", "dc=c"]);
        assert_eq!(settings.first_store().unwrap().indexes().len(), 1);
    }

    #[test]
    fn a_directory_is_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            "cn=config.ldif",
            "dn: cn=config\nobjectClass: olcGlobal\nolcSizeLimit: few\n",
        );
        write(
            "cn=config/olcDatabase={1}mdb.ldif",
            "dn: olcDatabase={1}mdb\nolcSuffix: dc=a\nolcDbDirectory: /a\nolcNoSuch: 1\n",
        );
        write(
            "cn=config/olcDatabase={1}mdb/olcOverlay={0}dds.ldif",
            "dn: olcOverlay={0}dds\nolcDDSmaxTtl: 1\n",
        );
        write(
            "cn=config/olcDatabase={2}hdb.ldif",
            "dn: olcDatabase={2}hdb\nolcSuffix: dc=b\nolcDbDirectory: /b\n",
        );
        let survey = Survey::of(folder.path()).unwrap();
        let said = lines(&survey);
        assert_eq!(said.len(), 4, "{:?}", survey.refusals);
        let parts = ["olcNoSuch", "dds", "(hdb)"];
        for part in parts {
            assert!(said.iter().any(|text| text.contains(part)), "{said:?}");
        }
        let settings = Settings::new(survey.layer).unwrap();
        assert_eq!(settings.stores().count(), 1);
    }
}
