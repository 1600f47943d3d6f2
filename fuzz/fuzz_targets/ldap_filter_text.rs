#![no_main]
fulgurite_fuzz::target!(ldap_filter_text);
