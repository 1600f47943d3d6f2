#![no_main]
fulgurite_fuzz::target!(page_views);
