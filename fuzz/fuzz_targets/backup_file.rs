#![no_main]
fulgurite_fuzz::target!(backup_file);
