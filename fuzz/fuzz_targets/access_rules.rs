#![no_main]
fulgurite_fuzz::target!(access_rules);
