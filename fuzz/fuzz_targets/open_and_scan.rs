#![no_main]
fulgurite_fuzz::target!(open_and_scan);
