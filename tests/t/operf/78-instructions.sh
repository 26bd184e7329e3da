#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What hot paths cost in instructions: at most a tenth more than was recorded.
# timeout: 600

bench=$(dirname "$0")/../../bench
exec "$bench/instructions.py" --check "$bench/instructions.tsv"
