#![no_main]
fulgurite_fuzz::target!(slapd_conf);
