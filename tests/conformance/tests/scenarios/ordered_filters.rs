//! Filters about values that carry their places in an order, next to Debian's slapd.

use crate::configuring::{ADMIN, configured};
use crate::stage::Stage;

/// Filters about values that carry their places in an order.
const ORDERED: [&str; 17] = [
    "(olcDatabase=mdb)",
    "(olcDatabase=MDB)",
    "(olcDatabase={1}mdb)",
    "(olcDatabase={7}mdb)",
    "(olcDatabase={1})",
    "(olcDatabase={}mdb)",
    "(olcDatabase={1} mdb)",
    "(olcDatabase=config)",
    "(olcDatabase=frontend)",
    "(olcModuleLoad=back_mdb)",
    "(olcModuleLoad={3}back_mdb)",
    "(&(objectClass=olcDatabaseConfig)(!(olcDatabase=mdb)))",
    "(olcDatabase:caseIgnoreMatch:=mdb)",
    "(olcDatabase:caseIgnoreMatch:={1}mdb)",
    "(olcDatabase=md*)",
    "(olcDatabase:=mdb)",
    "(olcDatabase~=mdb)",
];

#[test]
fn places_in_an_order_do_not_count_in_filters_as_in_slapd() {
    let found = |stage: &Stage| {
        let folder = configured(stage);
        let server = stage.start_by_directory(&folder);
        let found = ORDERED.map(|filter| {
            let arguments = ["-LLL", "-b", "cn=config", filter, "1.1"];
            let ran = server.client_as(ADMIN, "ldapsearch", &arguments, "");
            format!("{filter} {} {}", ran.status, ran.out)
        });
        server.stop();
        found
    };
    let ours = found(&Stage::new("ordered-filters-ours"));
    assert_eq!(ours, found(&Stage::with_original("ordered-filters-slapd")));
}
