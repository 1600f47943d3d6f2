#![no_main]
fulgurite_fuzz::target!(metrics_http);
