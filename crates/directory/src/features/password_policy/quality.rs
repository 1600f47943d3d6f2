//! Rules for the characters of a new password. They are those of the module `ppm`, built in.
//!
//! A policy names the module in `pwdCheckModule`, and `pwdCheckModuleArg` has its settings:
//!
//! ```text
//!   minQuality 3                 points that a password needs
//!   class-digit 0123456789 0 1   characters, their least number, the number for a point, their most
//! ```

/// Modules of C whose settings are read in the form of `ppm`.
const MODULES: [&str; 3] = ["ppm", "pqchecker", "check_password"];

/// The settings of `ppm` if the policy has none.
const DEFAULTS: &str = "minQuality 3\n\
    class-upperCase ABCDEFGHIJKLMNOPQRSTUVWXYZ 0 1\n\
    class-lowerCase abcdefghijklmnopqrstuvwxyz 0 1\n\
    class-digit 0123456789 0 1\n\
    class-special <>,?;.:/!§ù%*µ^¨$£²&é~\"#'{([-|è`_\\ç^à@)]°=}+ 0 1\n";

/// Characters between the words of a name.
const DELIMITERS: [char; 7] = [' ', '\t', '_', '-', ',', ';', '£'];

/// Characters of the shortest word that a password must not contain.
const WORD_MIN: usize = 3;

/// A module that a policy names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QualityModule {
    /// Its file.
    pub(crate) file: String,
    /// Its settings, one a line.
    pub(crate) settings: Option<String>,
}

/// The settings of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct QualityRules {
    points_min: usize,
    checks_name: bool,
    attributes: Vec<String>,
    forbidden: String,
    /// The most characters of one class in a row; 0 for any number.
    run_max: usize,
    classes: Vec<CharacterClass>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct CharacterClass {
    characters: String,
    least: usize,
    /// The number of characters that is worth a point.
    for_point: usize,
    /// 0 for any number.
    most: usize,
}

/// The rules for one password, and the texts whose words it must not contain.
pub(crate) struct QualityCheck {
    pub(crate) rules: QualityRules,
    pub(crate) texts: Vec<String>,
}

impl QualityModule {
    /// Returns the rules of the module.
    ///
    /// # Errors
    /// The reason why no password can be checked.
    pub(crate) fn rules(&self) -> Result<QualityRules, String> {
        let file = self.file.rsplit('/').next().unwrap_or_default();
        let name = file.split('.').next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        match &self.settings {
            Some(settings) if MODULES.contains(&name.as_str()) => QualityRules::parse(settings),
            None if name == "ppm" => QualityRules::parse(DEFAULTS),
            None if MODULES.contains(&name.as_str()) => {
                Err("pwdCheckModuleArg is missing".to_owned())
            }
            _ => Err("modules of C are not loaded".to_owned()),
        }
    }
}

impl QualityRules {
    fn parse(settings: &str) -> Result<QualityRules, String> {
        let mut rules = QualityRules::default();
        for line in settings.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split_whitespace();
            let Some(name) = words.next() else { continue };
            let words: Vec<&str> = words.collect();
            let first = words.first().copied().unwrap_or_default();
            let number = || match first {
                "" => Ok(0),
                first => number(name, first),
            };
            match name {
                "minQuality" => rules.points_min = number()?,
                "checkRDN" => rules.checks_name = number()? > 0,
                "checkAttributes" => {
                    let names = first.split(',').filter(|name| !name.is_empty());
                    rules.attributes = names.map(str::to_owned).collect();
                }
                "forbiddenChars" => first.clone_into(&mut rules.forbidden),
                "maxConsecutivePerClass" => rules.run_max = number()?,
                "useCracklib" if number()? > 0 => {
                    return Err("useCracklib: there is no dictionary".to_owned());
                }
                "useCracklib" | "cracklibDict" => {}
                class if class.starts_with("class-") => {
                    rules.classes.push(CharacterClass::parse(class, &words)?);
                }
                unknown => return Err(format!("{unknown}: unknown setting")),
            }
        }
        Ok(rules)
    }

    /// Returns true if a password must not contain the words of its entry's name.
    pub(crate) fn checks_name(&self) -> bool {
        self.checks_name
    }

    /// Returns the attributes whose words a password must not contain.
    pub(crate) fn attributes(&self) -> &[String] {
        &self.attributes
    }
}

impl CharacterClass {
    fn parse(name: &str, words: &[&str]) -> Result<CharacterClass, String> {
        let [characters, numbers @ ..] = words else {
            return Err(format!("{name}: no characters"));
        };
        let numbers = numbers.iter().map(|word| number(name, word));
        let numbers: Vec<usize> = numbers.collect::<Result<_, _>>()?;
        let at = |at: usize| numbers.get(at).copied().unwrap_or(0);
        Ok(CharacterClass {
            characters: (*characters).to_owned(),
            least: at(0),
            for_point: at(1),
            most: at(2),
        })
    }

    fn has(&self, character: char) -> bool {
        self.characters.contains(character)
    }

    /// Returns the length of the longest row of its characters.
    fn longest_run(&self, password: &str) -> usize {
        let runs = password.split(|character| !self.has(character));
        runs.map(|run| run.chars().count()).max().unwrap_or(0)
    }
}

impl QualityCheck {
    /// Returns true if the password keeps all rules.
    pub(crate) fn passes(&self, password: &[u8]) -> bool {
        let password = String::from_utf8_lossy(password);
        let rules = &self.rules;
        let mut points = 0;
        for class in &rules.classes {
            let count = password.chars().filter(|one| class.has(*one)).count();
            let is_within = count >= class.least && (class.most == 0 || count <= class.most);
            if !is_within || rules.run_max > 0 && class.longest_run(&password) > rules.run_max {
                return false;
            }
            points += usize::from(count >= class.for_point);
        }
        let is_forbidden = |one: char| rules.forbidden.contains(one);
        points >= rules.points_min && !password.contains(is_forbidden) && !self.names(&password)
    }

    /// Returns true if a word of the texts is in the password, in any case of letters.
    fn names(&self, password: &str) -> bool {
        let password = password.to_lowercase();
        let words = self.texts.iter().flat_map(|text| text.split(DELIMITERS));
        let mut words = words.filter(|word| word.chars().count() >= WORD_MIN);
        words.any(|word| password.contains(&word.to_lowercase()))
    }
}

fn number(name: &str, word: &str) -> Result<usize, String> {
    let wrong = |_| format!("{name}: \"{word}\" is no number");
    word.parse().map_err(wrong)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn module(file: &str, settings: Option<&str>) -> QualityModule {
        QualityModule {
            file: file.to_owned(),
            settings: settings.map(str::to_owned),
        }
    }

    fn passes(settings: &str, password: &str, texts: &[&str]) -> bool {
        let rules = QualityRules::parse(settings).expect(settings);
        let texts = texts.iter().map(|&text| text.to_owned()).collect();
        QualityCheck { rules, texts }.passes(password.as_bytes())
    }

    #[test]
    fn without_settings_three_of_four_classes_are_asked_for() {
        let rules = module("/usr/lib/ldap/ppm.so", None).rules().expect("rules");
        let texts = Vec::new();
        let check = QualityCheck { rules, texts };
        for (password, expected) in [
            ("Secret1", true),
            ("secret1", false),
            ("secret1!", true),
            ("SECRETx", false),
            ("Sé1", true),
            ("", false),
        ] {
            assert_eq!(check.passes(password.as_bytes()), expected, "{password}");
        }
    }

    #[test]
    fn each_setting_has_its_effect() {
        let upper = "class-upper ABC";
        for (settings, password, expected) in [
            ("minQuality 0", "", true),
            (
                "# minQuality 9\n\nminQuality 1\nclass-a a 0 2",
                "xax",
                false,
            ),
            ("minQuality 1\nclass-a a 0 2", "xaxa", true),
            ("forbiddenChars é+", "cafe", true),
            ("forbiddenChars é+", "café", false),
            ("forbiddenChars", "café", true),
            ("useCracklib 0\ncracklibDict /x", "a", true),
            ("maxConsecutivePerClass 2\nclass-a ab 0 1", "abxab", true),
            ("maxConsecutivePerClass 2\nclass-a ab 0 1", "abab", false),
            ("maxConsecutivePerClass 0\nclass-a ab 0 1", "ababab", true),
        ] {
            assert_eq!(
                passes(settings, password, &[]),
                expected,
                "{settings} {password}"
            );
        }
        for (numbers, password, expected) in [
            ("2 1", "A1B", true),
            ("2 1", "A12", false),
            ("0 1 2", "ABx", true),
            ("0 1 2", "ABC", false),
        ] {
            let settings = format!("{upper} {numbers}");
            assert_eq!(
                passes(&settings, password, &[]),
                expected,
                "{settings} {password}"
            );
        }
    }

    #[test]
    fn words_of_texts_are_refused() {
        let texts = ["jack_O'Connor", "al-Ba;ker", "ab"];
        for (password, expected) in [
            ("1jAcK1", false),
            ("xo'connorx", false),
            ("baker1", false),
            ("kerosene", false),
            ("abba", true),
        ] {
            assert_eq!(passes("", password, &texts), expected, "{password}");
        }
    }

    #[test]
    fn what_cannot_be_checked_is_an_error() {
        let of = |file: &str, settings| module(file, settings).rules().map(|_| ());
        assert_eq!(of("pqChecker.so", Some("minQuality 1")), Ok(()));
        assert_eq!(of("check_password.so.1", Some("")), Ok(()));
        for (file, settings, reason) in [
            (
                "/x/own.so",
                Some("minQuality 1"),
                "modules of C are not loaded",
            ),
            ("pqchecker.so", None, "pwdCheckModuleArg is missing"),
            ("ppm.so", Some("minPoints 3"), "minPoints: unknown setting"),
            (
                "ppm",
                Some("minQuality x"),
                "minQuality: \"x\" is no number",
            ),
            ("ppm", Some("class-a"), "class-a: no characters"),
            (
                "ppm",
                Some("useCracklib 1"),
                "useCracklib: there is no dictionary",
            ),
        ] {
            assert_eq!(of(file, settings), Err(reason.to_owned()), "{file}");
        }
    }

    proptest! {
        #[test]
        fn any_settings_and_passwords_are_read(settings in ".*", password in any::<Vec<u8>>()) {
            if let Ok(rules) = QualityRules::parse(&settings) {
                let texts = vec![settings];
                QualityCheck { rules, texts }.passes(&password);
            }
        }
    }
}
