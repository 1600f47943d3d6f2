#![no_main]
fulgurite_fuzz::target!(ldap_dn_text);
