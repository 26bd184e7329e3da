// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The texts are known by how they begin, as doc/cpuprofile_fileformat.html and
 * the heap profiler of gperftools and the handlers of net/http/pprof of Go have
 * them.
 */

#include "pp/opimport/opimport_legacy.h"

#include <byteswap.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CONVERT                                                                \
	"convert it with pprof -proto -output=FILE.pb.gz BINARY PROFILE and import that"
#define FETCH "fetch it without ?debug=, or " CONVERT

static const struct legacy_text {
	const char *start, *what, *cure;
} texts[] = {
	{ "heap profile:", "a heap profile as text, of gperftools or Go",
	  FETCH },
	{ "heapz ", "a heap profile as text, of gperftools", CONVERT },
	{ "--- heapz", "a heap profile as text, of gperftools", CONVERT },
	{ "--- growthz", "a heap profile as text, of gperftools", CONVERT },
	{ "--- contention", "a profile of contention as text", FETCH },
	{ "--- mutex:", "a profile of contention as text", FETCH },
	{ "--- threadz", "a list of threads as text, of gperftools", CONVERT },
	{ "goroutine profile:", "a list of goroutines as text", FETCH },
	{ "threadcreate profile:", "a list of threads as text, of Go", FETCH },
	{ "goroutine 1 [", "a list of goroutines as text",
	  "fetch it without ?debug=" },
};

#define NR_TEXTS (sizeof(texts) / sizeof(texts[0]))

static const struct legacy_text *find_text(const char *data)
{
	for (size_t i = 0; i < NR_TEXTS; i++)
		if (!strncmp(data, texts[i].start, strlen(texts[i].start)))
			return &texts[i];
	return NULL;
}

/*
 * A CPU profile of gperftools has words as large as those of its machine, and
 * begins with 0, how many words of the head follow (3), 0 for the version, the
 * period in microseconds, and 0.
 */
static bool is_cpu_profile(const char *data, size_t len)
{
	uint32_t narrow[5];
	uint64_t words[5];

	if (len >= sizeof(words)) {
		memcpy(words, data, sizeof(words));
		if (!words[0] && (words[1] == 3 || words[1] == bswap_64(3)) &&
		    !words[2] && words[3] && !words[4])
			return true;
	}
	if (len < sizeof(narrow))
		return false;
	memcpy(narrow, data, sizeof(narrow));
	return !narrow[0] && (narrow[1] == 3 || narrow[1] == bswap_32(3)) &&
	       !narrow[2] && narrow[3] && !narrow[4];
}

int opimport_refuse_legacy(const char *path, const char *data, size_t len,
			   struct op_diag *diag)
{
	const struct legacy_text *text = find_text(data);

	if (is_cpu_profile(data, len))
		return op_diag_set(
			diag, -EPROTO,
			"%s: is a CPU profile of gperftools; " CONVERT, path);
	if (!text)
		return 0;
	return op_diag_set(diag, -EPROTO, "%s: is %s; %s", path, text->what,
			   text->cure);
}
