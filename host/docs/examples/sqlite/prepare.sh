#!/bin/sh
# Compiles the data logger with SQLite; the folder sqlite3 has its source.
set -eu
[ -e sqlite ] || gcc -O1 -w -DUSE_PREAD -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -Isqlite3 sqlite.c -o sqlite -lm
