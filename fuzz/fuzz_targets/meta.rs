#![no_main]
fulgurite_fuzz::target!(meta);
