#![no_main]
fulgurite_fuzz::target!(settings_toml);
