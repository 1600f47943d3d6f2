#![no_main]
fulgurite_fuzz::target!(dump_text);
