#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A disk that loses its power 20,000 times: tests/unit/libop/session/test_power_cut.c, with a
# history and without. With the other unit tests it does so 240 times.
# tier: all
# timeout: 3600
# sanitized: no
. "$(dirname "$0")/../lib.sh"

ok "10,000 power cuts, and 10,000 of a history" env POWER_CUTS=10000 "$O/tests/unit/libop/session/test_power_cut"
diag "$(grep ' cuts; ' "$test_log")"
done_testing
