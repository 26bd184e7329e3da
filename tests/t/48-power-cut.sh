#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A disk that loses its power 10,000 times: tests/unit/test_power_cut.c, which
# does so 200 times with the other unit tests.
# tier: all
# timeout: 3600
# sanitized: no
. "$(dirname "$0")/lib.sh"

ok "10,000 power cuts" env POWER_CUTS=10000 "$O/tests/unit/test_power_cut"
diag "$(grep ' cuts; ' "$test_log")"
done_testing
