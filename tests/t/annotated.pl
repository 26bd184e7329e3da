# SPDX-License-Identifier: GPL-2.0-or-later
#
#	perl annotated.pl <ANNOTATED
#
# What opannotate --source says, one fact a line: "FILE:LINE COUNT" for each
# line with samples, "FILE COUNT" for each file, "NAME total COUNT" for each
# function. Line 0 is what is credited to it.
use strict;
use warnings;

my ($file, $line);
while (my $text = <STDIN>) {
	chomp $text;
	if ($text =~ /^ \* Total samples for file : "(.*)"$/) {
		$file = $1;
		$line = undef;
	} elsif (defined $file && !defined $line && $text =~ /^ \* +(\d+) /) {
		print "$file $1\n";
	} elsif (defined $file && $text eq ' */') {
		$line = -2;
	} elsif ($text =~ m{^/\* $}) {
		$line = undef;
	} elsif (defined $line) {
		$line++;
		print "$file:0 $1\n" if $line == 0 && $text =~ /^<credited to line zero> +(\d+) +[\d.e-]+ :$/;
		print "$file:$line $1\n" if $line > 0 && $text =~ /^ *(\d+) +[\d.e-]+ :/;
	}
	print "$1 total $2\n" if $text =~ m{ /\* (\S.*?) total: +(\d+) +[\d.e-]+ \*/$};
}
