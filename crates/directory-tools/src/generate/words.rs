//! Words to make people of. Any likeness is chance.

/// Given names, some with letters beyond ASCII.
pub(super) const GIVEN: &[&str] = &[
    "Ada", "Alvar", "Amélie", "Anouk", "Aske", "Benno", "Birgit", "Bo", "Caspar", "Celia", "Chidi",
    "Daria", "Dilan", "Eero", "Elif", "Emre", "Esra", "Fadil", "Fenna", "Gáspár", "Greta", "Hanan",
    "Hye", "Ines", "Ivo", "Jael", "Jörn", "Kaisa", "Kenji", "Lale", "Leif", "Łucja", "Maren",
    "Mateo", "Mirja", "Nadia", "Niels", "Noor", "Oskar", "Ottilie", "Pavel", "Priya", "Quentin",
    "Rasmus", "Renée", "Samira", "Sören", "Tarek", "Thea", "Tomás", "Ulla", "Valentin", "Vera",
    "Wanja", "Xenia", "Yara", "Yusuf", "Zdenek", "Zoe", "Øyvind",
];

/// First halves of surnames.
pub(super) const SURNAME_HEADS: &[&str] = &[
    "Amber", "Ash", "Birken", "Black", "Brook", "Clay", "Cold", "Dahl", "Eber", "Elder", "Falken",
    "Fern", "Glas", "Green", "Grün", "Hagen", "Hart", "Hazel", "Holm", "Iron", "Kalten", "Kirch",
    "Linden", "Long", "Marsh", "Mühl", "North", "Oak", "Rosen", "Salz", "Sand", "Silber", "Stein",
    "Stone", "Thorn", "Wald", "Water", "Weiden", "Wolf", "Øster",
];

/// Second halves of surnames.
pub(super) const SURNAME_TAILS: &[&str] = &[
    "bach", "berg", "borg", "bridge", "burn", "dahl", "dal", "feld", "field", "ford", "gaard",
    "hall", "ham", "haus", "hof", "holt", "hurst", "land", "ley", "man", "mark", "mere", "moor",
    "quist", "ström", "stad", "strand", "thal", "ton", "well",
];

/// Departments; each is a POSIX group too, numbered in this order.
pub(super) const DEPARTMENTS: &[&str] = &[
    "accounting",
    "archive",
    "assembly",
    "design",
    "development",
    "drafting",
    "field-service",
    "foundry",
    "legal",
    "logistics",
    "maintenance",
    "metrology",
    "purchasing",
    "research",
    "sales",
    "training",
];

/// Towns.
pub(super) const TOWNS: &[&str] = &[
    "Altenwerder",
    "Brückstadt",
    "Clayhaven",
    "Dornfelde",
    "Eastmere",
    "Fjordby",
    "Glasminde",
    "Holmsund",
    "Kaltwasser",
    "Lindenau",
    "Millbrook",
    "Nordhafen",
    "Oakbridge",
    "Rosenholt",
    "Salzufer",
    "Weidenthal",
];

/// Streets.
pub(super) const STREETS: &[&str] = &[
    "Am Kai",
    "Bell Lane",
    "Canal Street",
    "Deichweg",
    "Foundry Road",
    "Gerbergasse",
    "Harbour Road",
    "Lampenweg",
    "Mill Lane",
    "Quarry Hill",
    "Speicherstraße",
    "Tallow Row",
];

/// Titles.
pub(super) const TITLES: &[&str] = &[
    "Apprentice",
    "Bookkeeper",
    "Clerk",
    "Draughtsman",
    "Engineer",
    "Fitter",
    "Foreman",
    "Instrument Maker",
    "Lead",
    "Planner",
    "Purchaser",
    "Researcher",
    "Technician",
    "Trainer",
];

/// Kinds of employment.
pub(super) const EMPLOYMENT: &[&str] = &[
    "staff",
    "staff",
    "staff",
    "part-time",
    "contractor",
    "trainee",
];

/// Languages, as `preferredLanguage` has them.
pub(super) const LANGUAGES: &[&str] = &["de", "en", "en-GB", "fi", "fr", "nb", "pl", "sv", "tr"];

/// Words of descriptions.
pub(super) const TALK: &[&str] = &[
    "adjusts",
    "after",
    "and",
    "aligns",
    "balances",
    "before",
    "brass",
    "bridge",
    "calibrates",
    "charts",
    "checks",
    "copper",
    "dials",
    "drawings",
    "every",
    "files",
    "for",
    "gauges",
    "glass",
    "in",
    "inspects",
    "keeps",
    "lathe",
    "lenses",
    "levels",
    "maps",
    "measures",
    "mends",
    "of",
    "on",
    "orders",
    "plans",
    "polishes",
    "prisms",
    "quietly",
    "repairs",
    "scales",
    "seldom",
    "shift",
    "slowly",
    "stores",
    "the",
    "tools",
    "tracks",
    "tunes",
    "under",
    "valves",
    "weighs",
    "wheels",
    "with",
    "workbench",
];
