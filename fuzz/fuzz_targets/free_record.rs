#![no_main]
fulgurite_fuzz::target!(free_record);
