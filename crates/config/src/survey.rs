//! Reads a configuration of slapd to its end, and collects what the server refuses.

use std::path::Path;

use crate::{ConfigError, Layer};

/// The end of a refusal that a survey reports too.
pub const OF_ALL: &str = "; fulgurite migrate reports all such parts, and can leave them out";

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
    use crate::test_folder::write;

    const TEXT: &str = "database mdb\nsuffix dc=a\ndirectory /a\noverlay dds\n\
        dds-max-ttl 1\nnosuch 1\nindex cn eq\nsizelimit few\n\
        database ldbm\nsuffix dc=b\ncachesize 5\n\
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
            "9: <database> failed init (ldbm)",
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
        let write = |name: &str, text: &str| write(folder.path(), name, text);
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
            "cn=config/olcDatabase={2}ldbm.ldif",
            "dn: olcDatabase={2}ldbm\nolcSuffix: dc=b\nolcDbDirectory: /b\n",
        );
        let survey = Survey::of(folder.path()).unwrap();
        let said = lines(&survey);
        assert_eq!(said.len(), 4, "{:?}", survey.refusals);
        let parts = ["olcNoSuch", "dds", "(ldbm)"];
        for part in parts {
            assert!(said.iter().any(|text| text.contains(part)), "{said:?}");
        }
        let settings = Settings::new(survey.layer).unwrap();
        assert_eq!(settings.stores().count(), 1);
    }

    #[test]
    fn databases_of_hdb_and_bdb_are_taken() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("slapd.conf");
        let text = "moduleload back_hdb\nbackend hdb\ndatabase hdb\nsuffix dc=b\ndirectory /b\n\
            cachesize 5\ndbconfig set_cachesize 0 268435456 1\ncheckpoint 512 30\nindex cn eq\n\
            database bdb\nsuffix dc=c\ndirectory /c\ndbpagesize id2entry 16\n\
            database mdb\nsuffix dc=d\ndirectory /d\ncachesize 5\n";
        std::fs::write(&file, text).unwrap();
        let survey = Survey::of(&file).unwrap();
        let said = lines(&survey);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].starts_with("17: unknown directive <cachesize>"),
            "{said:?}"
        );
        let settings = Settings::new(survey.layer).unwrap();
        assert!(
            !settings.notes.iter().any(|note| note.warning),
            "{:?}",
            settings.notes
        );
        let suffixes = settings
            .stores()
            .map(|store| store.suffix().unwrap().to_owned());
        assert_eq!(suffixes.collect::<Vec<_>>(), ["dc=b", "dc=c", "dc=d"]);
        assert_eq!(settings.first_store().unwrap().indexes().len(), 1);
        // A server does not take them.
        assert!(Layer::from_slapd_conf(&file).is_err());

        let write = |name: &str, text: &str| write(&folder.path().join("slapd.d"), name, text);
        write("cn=config.ldif", "dn: cn=config\nobjectClass: olcGlobal\n");
        write(
            "cn=config/olcDatabase={1}hdb.ldif",
            "dn: olcDatabase={1}hdb\nobjectClass: olcHdbConfig\nolcSuffix: dc=b\nolcDbDirectory: \
             /b\nolcDbConfig: {0}set_cachesize 0 268435456 1\nolcDbCacheSize: 1000\n\
             olcDbPageSize: id2entry 16\nolcDbIndex: cn eq\nolcDbShmKey: 0\n",
        );
        let survey = Survey::of(&folder.path().join("slapd.d")).unwrap();
        assert!(survey.refusals.is_empty(), "{:?}", survey.refusals);
        let settings = Settings::new(survey.layer).unwrap();
        assert_eq!(settings.first_store().unwrap().indexes().len(), 1);
    }

    #[test]
    fn a_restriction_of_a_later_release_is_never_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| write(folder.path(), name, text);
        let file = "database mdb\nsuffix dc=a\ndirectory /a\nrestrictop add 1.2.3\n";
        let file = write("slapd.conf", file);
        let of_file = Layer::from_slapd_conf(&file).unwrap_err();
        write(
            "d/cn=config.ldif",
            "dn: cn=config\nobjectClass: olcGlobal\n",
        );
        write(
            "d/cn=config/olcDatabase={1}mdb.ldif",
            "dn: olcDatabase={1}mdb\nolcSuffix: dc=a\nolcDbDirectory: /a\nolcRestrictOp: add\n",
        );
        let of_directory = Layer::from_config_dir(&folder.path().join("d")).unwrap_err();
        for error in [of_file, of_directory] {
            let text = error.to_string();
            let advice = "of OpenLDAP 2.7 and not supported: <restrict> refuses whole operations";
            assert!(text.contains(advice), "{text}");
        }
    }
}
