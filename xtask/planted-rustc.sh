#!/bin/sh
# Cargo runs the compiler through this for the crates of the workspace alone: see xtask/src/chores.rs.
exec "$@" --cfg baton_bugs
