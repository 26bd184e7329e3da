#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every option of every program of the original profiler, 0.9.9 and 1.4: each
# is run here, and does what it did there or says why it does not.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../opcontrol.sh"

# ---- what the options work on

cat >"$TMP/prog.c" <<'END'
volatile int sink;
__attribute__((noinline)) void hot(int x) { sink += x; }
__attribute__((noinline)) void cold(int x) { sink -= x; }
int main(int argc, char **argv) { (void)argv; hot(argc); cold(argc); return 0; }
END
P=$TMP/prog S=$TMP/s
(cd "$TMP" && ${CC:-cc} -O1 -g -no-pie -Wl,--build-id -o prog prog.c) || exit 1
text=$(readelf -SW "$P" | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\) \([0-9a-f]*\) .*/0x\1 0x\2/p')
for function in hot cold; do
	address=0x$(nm "$P" | sed -n "s/ T $function\$//p")
	echo "$((address - ${text% *} + ${text#* })) $((${#function} * 100 - 250))"
done >"$TMP/pairs"
event=CPU_CLK_UNHALTED.100000.0.all.all
for file in "{root}$P/{dep}/{root}$P/$event.0" "{root}$P/{dep}/{kern}/vmlinux/$event.0"; do
	"$TESTBIN/mkodb" "$S/samples/current/$file" mtime="$P" event=118 \
		count=100000 cpu-type=x86-64/family10 cpu-khz=2400000 <"$TMP/pairs"
done
mkdir "$TMP/lib" "$TMP/operf" "$TMP/one"
cp -R "$S" "$TMP/old"
echo '0x10 1' | "$TESTBIN/mkclassic" "$TMP/classic" event=118 count=100000 big-endian=1
"$TESTBIN/mkclassic" --abi "$TMP/abi" big-endian=1
printf 'stream 1 8\ncpu 0\n' | "$TESTBIN/mkstream" >"$TMP/stream"
running_vmlinux "$TMP/vmlinux"
PATH=$BIN:$PATH # opcontrol, a copy, looks for ophelp there

opreport() { "$BIN/opreport" --session-dir="$S" "$@"; }
opannotate() { "$BIN/opannotate" --session-dir="$S" "$@"; }
oparchive() { rm -rf "$TMP/archive" && "$BIN/oparchive" --session-dir="$S" "$@"; }
opgprof() { (cd "$TMP/one" && "$BIN/opgprof" --session-dir="$S" "$@" "$P" && ls); }
opimport() { rm -f "$TMP/new" && "$BIN/opimport" "$@"; }
ophelp() { "$BIN/ophelp" "$@"; }
opjitconv() { "$BIN/opjitconv" "$@"; }
op_check_perfevents() { "$BIN/op-check-perfevents" "$@"; }
operf() { (cd "$TMP/operf" && "$BIN/operf" "$@"); }
ocount() { "$BIN/ocount" "$@"; }
oprofiled() {
	rm -rf "$TMP/d"
	"$BIN/oprofiled" --session-dir="$TMP/d" --source=file:"$TMP/stream" "$@"
}

# ---- the table: program, option, its letter, exit status, what is said, and
# the arguments, with tabs between

rows() {
	cat <<'END'
opreport	verbose	V	0	hot	-l --verbose=all
opreport	session-dir	-	0	hot	-l --session-dir="$TMP/old"
opreport	image-path	p	0	hot	-l --image-path="$TMP/lib"
opreport	root	R	0	prog could not be found|hot|no symbols	-l --root="$TMP/lib"
opreport	version	v	0	opreport: oprofile	--version
opreport	help	?	0	--callgraph	--help
opreport	usage	-	0	callgraph	--usage
opreport	threshold	t	0	^150 .* cold	-l --threshold=30
opreport	symbols	l	0	^150 .* cold	--symbols
opreport	callgraph	c	0	cold	--callgraph
opreport	details	d	0	^  0*40[0-9a-f]+ 150	--details
opreport	output-file	o	0	^150 .* cold	-l --output-file="$TMP/out" && cat "$TMP/out"
opreport	sort	s	0	hot	-l --sort=sample,image,app-name,symbol,debug,vma
opreport	reverse-sort	r	0	hot	-l --reverse-sort
opreport	merge	m	0	hot	-l --merge=cpu,lib,tid,tgid,unitmask
opreport	exclude-dependent	x	0	100\.000 +prog	--exclude-dependent
opreport	exclude-symbols	e	0	hot	-l --exclude-symbols=cold
opreport	include-symbols	i	0	cold	-l --include-symbols=cold
opreport	demangle	D	0	hot	-l --demangle=smart
opreport	debug-info	g	0	prog\.c:3	-l --debug-info
opreport	no-header	n	0	^150 .* cold	-l --no-header
opreport	show-address	w	0	^0*40[0-9a-f]+ 150	-l --show-address
opreport	long-filenames	f	0	/prog +cold	-l --long-filenames
opreport	accumulated	a	0	cum\. samples	-l --accumulated
opreport	global-percent	%	0	50\.0000	--global-percent
opreport	xml	X	0	<profile 	--xml
opannotate	verbose	V	0	cold	-s --verbose=all
opannotate	session-dir	-	0	cold	-s --session-dir="$TMP/old"
opannotate	image-path	p	0	cold	-s --image-path="$TMP/lib"
opannotate	root	R	[01]	prog	-s --root="$TMP/lib"
opannotate	version	v	0	opannotate: oprofile	--version
opannotate	help	?	0	--source	--help
opannotate	usage	-	0	source	--usage
opannotate	threshold	t	0	cold	-s --threshold=30
opannotate	source	s	0	sink -= x	--source
opannotate	assembly	a	0	[[:blank:]]ret	--assembly
opannotate	output-dir	o	0	prog\.c	-s --output-dir="$TMP/a" && find "$TMP/a"
opannotate	search-dirs	d	0	sink	-s --search-dirs="$TMP/lib"
opannotate	base-dirs	b	0	sink	-s --search-dirs="$TMP" --base-dirs="$TMP/x"
opannotate	include-file	-	0	sink	-s --include-file='*prog.c'
opannotate	exclude-file	-	[01]	.	-s --exclude-file='*prog.c'
opannotate	include-symbols	i	0	sink	-s --include-symbols=cold
opannotate	exclude-symbols	e	0	sink	-s --exclude-symbols=cold
opannotate	objdump-params	-	0	[[:blank:]]ret	-a --objdump-params='-M intel'
opannotate	exclude-dependent	x	0	sink	-s --exclude-dependent
opannotate	merge	m	0	sink	-s --merge=cpu,tid,tgid,unitmask
opannotate	demangle	D	0	sink	-s --demangle=none
oparchive	verbose	V	0	prog	-l --verbose=all
oparchive	session-dir	-	0	prog	-l --session-dir="$TMP/old"
oparchive	image-path	p	0	prog	-l --image-path="$TMP/lib"
oparchive	root	R	[01]	prog	-l --root="$TMP/lib"
oparchive	version	v	0	oparchive: oprofile	--version
oparchive	help	?	0	--list-files	--help
oparchive	usage	-	0	list-files	--usage
oparchive	output-directory	o	0	prog	--output-directory="$TMP/archive" && find "$TMP/archive"
oparchive	list-files	l	0	prog	--list-files
oparchive	exclude-dependent	x	0	prog	-l --exclude-dependent
opgprof	verbose	V	0	gmon\.out	--verbose=all
opgprof	session-dir	-	0	gmon\.out	--session-dir="$TMP/old"
opgprof	image-path	p	0	gmon\.out	--image-path="$TMP/lib"
opgprof	root	R	[01]	prog	--root="$TMP/lib"
opgprof	version	v	0	opgprof: oprofile	--version
opgprof	help	?	0	--output-filename	--help
opgprof	usage	-	0	output-filename	--usage
opgprof	threshold	t	0	gmon\.out	--threshold=30
opgprof	output-filename	o	0	^other	--output-filename=other
opimport	abi	a	0	^$	--abi="$TMP/abi" -o "$TMP/new" "$TMP/classic"
opimport	output	o	0	^$	-a "$TMP/abi" --output="$TMP/new" "$TMP/classic"
opimport	force	f	0	^$	--force -a "$TMP/abi" -o "$TMP/new" "$TMP/classic"
opimport	verbose	V	0	.	--verbose -a "$TMP/abi" -o "$TMP/new" "$TMP/classic"
opimport	version	v	0	opimport: oprofile	--version
opimport	help	?	0	--abi	--help
opimport	usage	-	0	abi	--usage
ophelp	cpu-type	c	0	DATA_CACHE_MISSES	--cpu-type=x86-64/family10
ophelp	check-events	e	0	^0 1 ?$	-c x86-64/family10 --check-events CPU_CLK_UNHALTED:100000 DATA_CACHE_MISSES:5000
ophelp	ignore-count	i	0	^0 ?$	-c x86-64/family10 --ignore-count -e CPU_CLK_UNHALTED
ophelp	unit-mask	u	0	^0$	-c x86-64/family10 --unit-mask CPU_CLK_UNHALTED:100000
ophelp	extra-mask	E	0	^0$	-c x86-64/family10 --extra-mask CPU_CLK_UNHALTED:100000
ophelp	get-cpu-type	r	0	AMD64 family10	-c x86-64/family10 --get-cpu-type
ophelp	get-default-event	d	0	CPU_CLK_UNHALTED:100000:0:1:1	-c x86-64/family10 --get-default-event
ophelp	callgraph	-	1	below the minimum	-c x86-64/family10 --callgraph=1 -e CPU_CLK_UNHALTED:600
ophelp	xml	X	0	<help_event	-c x86-64/family10 --xml
ophelp	version	v	0	ophelp: oprofile	--version
ophelp	help	?	0	--check-events	--help
ophelp	usage	-	0	check-events	--usage
opjitconv	session-dir	s	0	nothing is left to convert	--session-dir="$TMP" 1 2
opjitconv	debug	d	0	nothing is left to convert	--debug "$TMP" 1 2
opjitconv	delete-jitdumps	j	0	nothing is left to convert	--delete-jitdumps "$TMP" 1 2
opjitconv	non-root	n	0	nothing is left to convert	--non-root "$TMP" 1 2
opjitconv	help	h	0	--session-dir	--help
op_check_perfevents	help	h	0	--verbose	--help
op_check_perfevents	verbose	v	PERF	WHY	--verbose
oprofiled	session-dir	-	0	^$	--session-dir="$TMP/d"
oprofiled	vmlinux	k	0	^$	--vmlinux="$TMP/vmlinux"
oprofiled	no-vmlinux	-	0	^$	--no-vmlinux
oprofiled	kernel-range	r	0	--kernel-range: ignored: the daemon reads	--kernel-range=ffffffff81000000,ffffffff82000000
oprofiled	xen-image	-	0	--xen-image: ignored: .* hypervisor	--xen-image=/boot/xen
oprofiled	xen-range	-	0	--xen-range: ignored: .* hypervisor	--xen-range=1,2
oprofiled	image	-	0	^$	--image="$P"
oprofiled	separate-lib	-	0	^$	--separate-lib=1
oprofiled	separate-kernel	-	0	^$	--separate-kernel=1
oprofiled	separate-thread	-	0	^$	--separate-thread=1
oprofiled	separate-cpu	-	0	^$	--separate-cpu=1
oprofiled	events	e	0	^$	--events=CPU_CLK_UNHALTED:118:0:100000:0:1:1,
oprofiled	ext-feature	x	0	^$	--ext-feature=ibs:op:IBS_OP_ALL:250000:0
oprofiled	verbose	V	0	^$	--verbose=all
oprofiled	version	v	0	oprofiled: oprofile	--version
oprofiled	help	?	0	--vmlinux	--help
oprofiled	usage	-	0	vmlinux	--usage
opcontrol	help	?	0	--start	--help
opcontrol	version	v	0	opcontrol: oprofile	--version
opcontrol	list-events	l	0	events|timer	--list-events
opcontrol	init	-	0	^$	--init
opcontrol	setup	-	0	^$	--setup --separate=none --session-dir="$session"
opcontrol	status	-	0	Daemon not running	--status
opcontrol	start-daemon	-	0	Daemon started	--start-daemon
opcontrol	start	s	0	Profiler running	--start
opcontrol	dump	d	0	^$	--dump
opcontrol	stop	t	0	Stopping profiling	--stop
opcontrol	save	-	0	Signalling daemon... done	--save=kept
opcontrol	reset	-	0	Signalling daemon... done	--reset
opcontrol	shutdown	h	0	Killing daemon	--shutdown
opcontrol	verbose	V	0	Profiler running	--start --verbose=all
opcontrol	deinit	-	0	Killing daemon	--deinit
opcontrol	event	e	0	^$	--event=default
opcontrol	separate	p	0	^$	--separate=lib,kernel,thread,cpu
opcontrol	callgraph	c	0	^$	--callgraph=16
opcontrol	session-dir	-	0	^$	--session-dir="$session"
opcontrol	image	i	0	^$	--image=all
opcontrol	vmlinux	-	0	^$	--vmlinux="$TMP/vmlinux"
opcontrol	no-vmlinux	-	0	^$	--no-vmlinux
opcontrol	kernel-range	-	0	--kernel-range=1,2: ignored: the daemon reads	--kernel-range=1,2
opcontrol	buffer-size	-	0	^$	--buffer-size=65536
opcontrol	buffer-watershed	-	0	^$	--buffer-watershed=16384
opcontrol	cpu-buffer-size	-	0	^$	--cpu-buffer-size=4096
opcontrol	xen	-	0	--xen=/boot/xen: ignored: .* hypervisor	--xen=/boot/xen
opcontrol	active-domains	-	0	--active-domains=1: ignored: .* hypervisor	--active-domains=1
opcontrol	s390hwsampbufsize	-	0	--s390hwsampbufsize=2: ignored: .*cpum_sfb_size	--s390hwsampbufsize=2
operf	system-wide	s	125	--pid and --system-wide: give one	--system-wide --pid 1
operf	pid	p	125	--pid=0: not the number of a process	--pid=0
operf	events	e	0	sample	--events cpu-clock:1000000 true
operf	callgraph	g	0	sample	-g true
operf	separate-thread	t	0	sample	--separate-thread true
operf	separate-cpu	c	0	sample	--separate-cpu true
operf	session-dir	d	0	sample	--session-dir="$TMP/operf" true
operf	vmlinux	k	0	sample	--vmlinux="$TMP/vmlinux" true
operf	append	a	0	sample	--append true
operf	lazy-conversion	l	0	sample	--lazy-conversion true
operf	verbose	V	0	sample	--verbose=debug,record,convert,misc,sfile,arcs,all true
operf	version	v	0	operf: oprofile	--version
operf	help	h	0	--system-wide	--help
operf	usage	u	0	system-wide	--usage
ocount	events	e	0	cpu-clock	--events=cpu-clock true
ocount	system-wide	s	125	--system-wide and .*--cpu-list	--system-wide --cpu-list=0
ocount	cpu-list	C	125	--cpu-list=x	--cpu-list=x
ocount	process-list	p	125	--process-list=x|x: not	--process-list=x
ocount	thread-list	r	125	--thread-list=x|x: not	--thread-list=x
ocount	separate-cpu	c	125	--separate-cpu	--separate-cpu true
ocount	separate-thread	t	125	--separate-thread	--separate-thread true
ocount	brief-format	b	0	^cpu-clock,[0-9]+,	--brief-format -e cpu-clock true
ocount	time-interval	i	0	cpu-clock	--time-interval=100:1 -e cpu-clock true
ocount	output-file	f	0	cpu-clock	--output-file="$TMP/counts" -e cpu-clock true && cat "$TMP/counts"
ocount	verbose	V	0	cpu-clock	--verbose -e cpu-clock true
ocount	version	v	0	ocount: oprofile	--version
ocount	help	?	0	--events	--help
ocount	usage	-	0	events	--usage
END
}

perf=0 why='^$'
op_check_perfevents --verbose 2>/dev/null || perf=$? why='op-check-perfevents: cpu-cycles: .*errno'

# program_help PROGRAM: kept, as each of its options looks there
program_help() {
	[ -e "$TMP/help.$1" ] || "$1" --help >"$TMP/help.$1" 2>&1
	cat "$TMP/help.$1"
}

tab=$(printf '\t')
while IFS=$tab read -r program option letter wanted ere args; do
	[ "$wanted" != PERF ] || wanted=$perf ere=$why
	got=$(eval "$program $args" 2>&1)
	like "$program --$option" "$? $(echo "$got" | tr '\n' '\r')" "^$wanted "
	like "$program --$option: its answer" "$got" "$ere"
	[ "$letter" = - ] || like "$program -$letter is --$option" \
		"$(program_help "$program")" "^ *-[$letter],? "
done <<END
$(rows)
END
like "ocount -h is --help" "$(ocount -h)" '--events='
like "ocount -u is --usage" "$(ocount -u)" '--events='
is "options of the original" "$(rows | cut -f 1-2 | sort -u | wc -l)" 166
is "each is run" "$(rows | awk -F '\t' 'index($6, "--" $2) == 0 { print $1, $2 }')" \
	"operf callgraph"

done_testing
