# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What benches of whole machines source after tests/t/lib.sh: their load.

CPUS=$(getconf _NPROCESSORS_ONLN)

# bench_load SECONDS: burns, forks, opens libraries and rests by turns.
bench_load() {
	end=$(($(date +%s) + $1))
	while [ "$(date +%s)" -lt "$end" ]; do
		"$TESTBIN/forkstorm" $((60 * CPUS)) $((2 * CPUS))
		sleep 1
		burners=
		for _ in $(seq "$CPUS"); do
			"$TESTBIN/burnmix" 1 &
			burners="$burners $!"
		done
		# shellcheck disable=SC2086 # numbers
		wait $burners
		sleep 1
		"$TESTBIN/dlburn" 1 "$TESTBIN/libburn_a.so" \
			"$TESTBIN/libburn_b.so"
	done
}
