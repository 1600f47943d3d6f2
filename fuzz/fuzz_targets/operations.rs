#![no_main]
fulgurite_fuzz::target!(operations);
