#!/bin/sh
# Runs every program of a folder; output, errors and exit code must be those of the .out file beside it.
# UPDATE_EXPECT=1 writes these files.
sprig=$1
folder=$2
failed=0
for program in "$folder"/*.sprig; do
    expected=${program%.sprig}.out
    actual=$("$sprig" "$program" 2>&1; echo "exit $?")
    if [ -n "$UPDATE_EXPECT" ]; then
        printf '%s\n' "$actual" > "$expected"
    elif [ "$actual" != "$(cat "$expected")" ]; then
        printf '%s: expected\n%s\ngot\n%s\n' "$program" "$(cat "$expected")" "$actual"
        failed=1
    fi
done
exit $failed
