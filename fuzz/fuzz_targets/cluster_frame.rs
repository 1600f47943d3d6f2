#![no_main]
fulgurite_fuzz::target!(cluster_frame);
