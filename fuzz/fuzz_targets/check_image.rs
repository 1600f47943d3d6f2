#![no_main]
fulgurite_fuzz::target!(check_image);
