#!/bin/sh
# Measures in rounds over ssh: asks `trimtab serve` for a combination per board, lets GNU parallel measure them, and tells.
#   BOARDS=board1,board2,board3 sh parallel.sh
# A measurement that fails is tried on up to three boards; then it is told as failed.
set -eu
files=$(mktemp -d) && trap 'rm -rf "$files"' EXIT && mkfifo "$files/to" "$files/from"
trimtab serve --space space.toml --budget "${BUDGET:-60}" --noise none <"$files/to" >"$files/from" &
exec 3>"$files/to" 4<"$files/from"
call() { printf '%s\n' "$1" >&3 && read -r answer <&4; case $answer in '{"error"'*) echo "$answer" >&2; exit 1 ;; esac; }
field() { printf '%s\n' "$answer" | sed "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/"; } # enough for flat answers like these
boards=$(printf '%s\n' "$BOARDS" | tr , '\n' | wc -l)
logins=$(printf '%s\n' "$BOARDS" | sed 's/^/1\//; s/,/,1\//g') # one measurement at a time per board
while :; do
  : >"$files/round"
  while [ "$(wc -l <"$files/round")" -lt "$boards" ] && call '{"op":"ask"}' && id=$(field id) && [ "$id" != "$answer" ]; do
    echo "$id $(field opt) $(field unroll) $(field block)" >>"$files/round"
  done
  [ -s "$files/round" ] || break
  # Prints "id cost" for each that succeeds.
  parallel -S "$logins" --colsep ' ' --retries 3 --tagstring '{1}' 'cost=$(./measure.sh {2} {3} {4}) && echo "$cost"' \
    <"$files/round" >"$files/costs" || true
  while read -r id _; do
    cost=$(awk -v id="$id" '$1 == id { print $2 }' "$files/costs")
    [ -n "$cost" ] && call "{\"op\":\"tell\",\"id\":$id,\"value\":$cost}" || call "{\"op\":\"tell\",\"id\":$id,\"failed\":true}"
  done <"$files/round"
done
call '{"op":"best"}' && echo "$(field opt) $(field unroll) $(field block) $(printf '%s\n' "$answer" | sed 's/.*"observed":[^}]*},"value":\([^,}]*\).*/\1/')"
