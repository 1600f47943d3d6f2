//! System calls of the engine: files, mappings, shared words, process-shared mutexes.


