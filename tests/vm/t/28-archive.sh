#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An archive made on the host, read by another machine with another Debian:
# every report is the same to the byte.
# tier: all
# timeout: 900
# vm-arch: arm64
. "$(dirname "$0")/../../t/lib.sh"

is "the machine" "$(uname -m)" aarch64
is "the program is of another" \
	"$(od -An -tx1 -j18 -N2 "$(find host/archive -name prog -type f)")" " 3e 00"

while read -r name tool args; do
	for archive in archive symbols; do
		case $archive.$name in symbols.annotated) continue ;; esac
		# shellcheck disable=SC2086 # words
		"$BIN/$tool" "archive:host/$archive" $args >got 2>err
		is "$archive: $tool $args: complaints" "$(cat err)" \
			"$(cat "host/$name.err")"
		# XML and annotations repeat the command line.
		for file in got "host/$name.wanted"; do
			sed '/^ title=/d; /^<options /d; /Command line: /d' \
				"$file" >"${file##*/}.same"
		done
		ok "$archive: $tool $args" cmp got.same "$name.wanted.same"
	done
done <host/reports
ok "there were reports" [ "$(wc -l <host/reports)" -ge 8 ]
done_testing
