#!/bin/sh
# The milliseconds of ./sqlite in decibels: 3 more are twice as many.
set -eu
milliseconds=$(./sqlite "$@")
awk "BEGIN { print 10 * log($milliseconds) / log(10) }"
