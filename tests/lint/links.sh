#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Links of README, of the pages of doc/ and of manual pages lead somewhere, in the
# pages as they are and in the HTML that is made of them.

. "$(dirname "$0")/lib"
need python3 python3

is "links lead somewhere, see tests/lint/links.py" "$(tests/lint/links.py .)" ""
is "the manual's index leads to each chapter" \
	"$(grep -oE '\]\([a-z-]+\.md\)' doc/manual/index.md | tr -d ']()' | sort)" \
	"$(find doc/manual -name '*.md' ! -name index.md -printf '%f\n' | sort)"

# What is wrong is found.
mkdir -p "$TMP/doc/man"
cat >"$TMP/README.md" <<'END'
# A page
[right](doc/a.md#two-words) [no file](doc/b.md) [no heading](doc/a.md#three)
![no picture](doc/c.png) [here](#a-page) `[code](no)` [away](https://a.example/b)
END
# shellcheck disable=SC2016 # backticks
printf '# Two words\n```text\n# three\n[in a block](no)\n```\n' >"$TMP/doc/a.md"
printf '.Xr operf 1\n.Xr less 1\n.Xr other 1\n' >"$TMP/doc/man/operf.1"
is "links to nowhere are found" "$(tests/lint/links.py "$TMP" | sed 's/; see.*//')" \
	"README.md: doc/b.md: no such file
README.md: doc/a.md#three: no such heading
README.md: doc/c.png: no such file
doc/man/operf.1: .Xr other 1: no such page here"

# ---- as HTML -------------------------------------------------------------------

for tool in lowdown mandoc; do
	command -v $tool >/dev/null || {
		skip "the pages as HTML" "no $tool; run utils/install-deps check"
		done_testing
	}
done
ok "make manual" env O="$TMP/build" utils/manual
html=$TMP/build/html
is "each page is there" \
	"$(cd "$html" && find . -name '*.html' | sed 's/\.html$//' | sort)" \
	"$(find . -path './build*' -prune -o \( -path './README.md' -o -path './doc/*.md' \
		-o -path './doc/man/*.[1-8]' \) -print | sed 's/\.md$//' | sort)"
# Each link and anchor, by page.
find "$html" -name '*.html' | while read -r page; do
	grep -oE '(href|src)="[^"]*"' "$page" | sed 's/^[^"]*"//; s/"$//' |
		grep -vE '^[a-z]+:' | while read -r link; do
		file=${link%%#*} anchor=
		case $link in *'#'*) anchor=${link#*#} ;; esac
		target=$page
		[ -z "$file" ] || target=${page%/*}/$file
		[ -e "$target" ] || echo "${page#"$html/"}: $link: no such file"
		[ -z "$anchor" ] || grep -qF "id=\"$anchor\"" "$target" ||
			echo "${page#"$html/"}: $link: no such anchor"
	done
done >"$TMP/wrong"
is "their links lead somewhere" "$(cat "$TMP/wrong")" ""
done_testing
