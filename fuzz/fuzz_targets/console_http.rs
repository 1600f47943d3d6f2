#![no_main]
fulgurite_fuzz::target!(console_http);
