#![no_main]
fulgurite_fuzz::target!(sync_provider);
