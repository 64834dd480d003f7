#!/bin/sh
# Runs a measurement as a job (or, within an allocation, as a step) of Slurm: sh job.sh ./measure.sh O2 4 64
# Prints what it prints and ends with its exit code; 75 says that the job was lost, by a dead node or by scancel.
printed=$(srun --ntasks=1 --exact --quiet sh -c '"$@"; echo "ended $?"' sh "$@") || true
last=$(printf '%s\n' "$printed" | tail -n 1)
case $last in "ended "*) ;; *) exit 75 ;; esac
printf '%s\n' "$printed" | sed '$d'
exit "${last#ended }"
