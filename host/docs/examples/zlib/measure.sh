#!/bin/sh
# Thousands of instructions to deflate 32 KiB, with zlib's deflate.c compiled by these flags: sh measure.sh FLAG…
# The folder zlib has the sources; rest.a has everything else, compiled once.
set -eu
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
gcc -w -Izlib "$@" -c zlib/deflate.c -o "$folder/deflate.o"
gcc "$folder/deflate.o" rest.a -o "$folder/program"
valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$folder/program" 2>&1 |
    awk '/I *refs:/ { gsub(",", ""); print $NF / 1000; found = 1 } END { exit !found }'
