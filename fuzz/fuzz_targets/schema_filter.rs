#![no_main]
fulgurite_fuzz::target!(schema_filter);
