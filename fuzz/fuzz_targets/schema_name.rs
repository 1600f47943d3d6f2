#![no_main]
fulgurite_fuzz::target!(schema_name);
