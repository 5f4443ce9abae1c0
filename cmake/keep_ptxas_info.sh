#!/bin/sh
# Runs a CUDA compiler and keeps what ptxas tells of each kernel (registers, stack, spills) beside the object, in
# OBJECT.ptxas. bench/gpu/pack.sh makes a table of it.
object=
previous=
for argument; do
  [ "$previous" = -o ] && object=$argument
  previous=$argument
done
"$@" -Xptxas=-v 2>"$object.log"
status=$?
pattern='^ptxas info|bytes stack frame'
grep -E "$pattern" "$object.log" >"$object.ptxas"
grep -vE "$pattern" "$object.log" >&2
rm -f "$object.log"
exit $status
