// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pyroscope takes a file of pprof as it is: POST /ingest with the service and
 * labels as name=SERVICE{KEY=VALUE,...}, from= and until= in seconds, and
 * format=pprof (grafana.com/docs/pyroscope, "Server HTTP API"; which characters
 * names may have: api/model/labelset/validate.go of its source).
 *
 * Parca takes JSON with the file in base64: its gRPC call WriteRaw, over HTTP
 * at /api/profiles/writeraw
 * (proto/parca/profilestore/v1alpha1/profilestore.proto and
 * pkg/server/server.go of its source; releases before September 2025 did not
 * answer there, see its pull request 5956). It insists on a label __name__.
 *
 * A request about one profile is always the same, with the same key in
 * Idempotency-Key, so that a server can tell one that comes again because its
 * answer was lost.
 */

#include "pp/oppush/oppush_send.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <nettle/base64.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "libop/files/op_file.h"
#include "libop/base/op_json.h"

#define MAX_PROFILE ((size_t)1 << 30)
#define MAX_TOKEN 8192
#define CONNECT_TIMEOUT_MS 10000
#define NSEC_PER_SEC INT64_C(1000000000)

/* A request in the making. */
struct push_request {
	const struct push_target *target;
	const struct push_spooled *profile;
	CURL *curl;
	struct curl_slist *headers;
	char *url;
	char *body;
	size_t body_len;
	char error[CURL_ERROR_SIZE];
	char answer[160]; /* how the body of the answer begins */
	size_t answer_len;
};

/* ---- what is checked beforehand ---------------------------------------------
 */

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

int push_target_check(const struct push_target *target, struct op_diag *diag)
{
	bool is_plain = starts_with(target->url, "http://");
	const char *host = strstr(target->url, "://");

	if (!is_plain && !starts_with(target->url, "https://"))
		return op_diag_set(
			diag, -EINVAL,
			"%s: is no URL of a server; write http://... or https://...",
			target->url);
	if (memchr(host + 3, '@', strcspn(host + 3, "/")))
		return op_diag_set(
			diag, -EINVAL,
			"--url: a password there is seen by all users of this machine; put a token into a file and name it with --token-file");
	if (target->token_file && is_plain && !target->is_insecure)
		return op_diag_set(
			diag, -EINVAL,
			"--token-file: over http:// all on the way can read the token; use https://, or --insecure");
	return 0;
}

/* ---- the request ------------------------------------------------------------
 */

static int add_header(struct push_request *r, const char *text)
{
	struct curl_slist *headers = curl_slist_append(r->headers, text);

	if (!headers)
		return -ENOMEM;
	r->headers = headers;
	return 0;
}

/* "Authorization: Bearer TOKEN"; the file may be another one each time. */
static int add_token(struct push_request *r, struct op_diag *diag)
{
	const char *path = r->target->token_file;
	char *token = NULL, header[MAX_TOKEN + 32];
	size_t len = 0;
	int err;

	if (!path)
		return 0;
	err = op_file_read(path, MAX_TOKEN, &token, &len, diag);
	if (err)
		return op_diag_set(diag, err, "%s: %s", path, strerror(-err));
	len = strcspn(token, "\r\n");
	if (!len || strspn(token + len, "\r\n") != strlen(token + len))
		err = op_diag_set(
			diag, -EINVAL,
			"%s: has not exactly one line; write the token there, and nothing else",
			path);
	snprintf(header, sizeof(header), "Authorization: Bearer %.*s", (int)len,
		 token);
	explicit_bzero(token, strlen(token));
	free(token);
	if (!err)
		err = add_header(r, header);
	explicit_bzero(header, sizeof(header));
	return err;
}

static int add_headers(struct push_request *r, struct op_diag *diag)
{
	bool is_json = r->target->server == PUSH_PARCA;
	char text[512];
	int err = add_header(r,
			     is_json ? "Content-Type: application/json"
				     : "Content-Type: application/octet-stream")
			  /* No question whether to go on, which some leave
			   * open. */
			  ?: add_header(r, "Expect:");

	snprintf(text, sizeof(text),
		 "Idempotency-Key: %s-%" PRIu64 "-%" PRId64 "-%" PRId64,
		 r->target->name, r->profile->number, r->profile->begin,
		 r->profile->end);
	if (!err)
		err = add_header(r, text);
	if (!err && r->target->tenant) {
		snprintf(text, sizeof(text), "X-Scope-OrgID: %s",
			 r->target->tenant);
		err = add_header(r, text);
	}
	return err ?: add_token(r, diag);
}

/* @url without a slash at its end, with @path unless it ends with @end. */
static char *server_url(const char *url, const char *path, const char *end)
{
	size_t len = strlen(url), end_len = strlen(end);
	char *all;

	while (len && url[len - 1] == '/')
		len--;
	if (len > end_len && !strncmp(url + len - end_len, end, end_len))
		path = "";
	return asprintf(&all, "%.*s%s", (int)len, url, path) < 0 ? NULL : all;
}

static int make_pyroscope_url(struct push_request *r)
{
	const struct push_target *target = r->target;
	char *name = NULL, *escaped = NULL, *base;
	size_t len;
	FILE *out = open_memstream(&name, &len);
	int done = -1;

	if (!out)
		return -ENOMEM;
	fprintf(out, "%s{", target->name);
	for (size_t i = 0; i < target->nr_labels; i++)
		fprintf(out, "%s%s=%s", i ? "," : "", target->labels[i].key,
			target->labels[i].value);
	fputc('}', out);
	base = server_url(target->url, "/ingest", "/ingest");
	if (!fclose(out) && base)
		escaped = curl_easy_escape(r->curl, name, 0);
	if (escaped)
		done = asprintf(&r->url,
				"%s?name=%s&from=%" PRId64 "&until=%" PRId64
				"&format=pprof&spyName=oprofile",
				base, escaped, r->profile->begin / NSEC_PER_SEC,
				r->profile->end / NSEC_PER_SEC);
	if (done < 0)
		r->url = NULL;
	curl_free(escaped);
	free(base);
	free(name);
	return done < 0 ? -ENOMEM : 0;
}

static void put_json_label(struct op_json *json, const char *key,
			   const char *value)
{
	op_json_open(json, NULL, '{');
	op_json_text(json, "name", key);
	op_json_text(json, "value", value);
	op_json_close(json, '}');
}

static bool has_label(const struct push_target *target, const char *key)
{
	for (size_t i = 0; i < target->nr_labels; i++)
		if (!strcmp(target->labels[i].key, key))
			return true;
	return false;
}

static void put_parca_json(FILE *out, const struct push_target *target,
			   const char *base64)
{
	struct op_json json = { .out = out };

	op_json_open(&json, NULL, '{');
	op_json_text(&json, "tenant", target->tenant ?: "");
	op_json_open(&json, "series", '[');
	op_json_open(&json, NULL, '{');
	op_json_open(&json, "labels", '{');
	op_json_open(&json, "labels", '[');
	if (!has_label(target, "__name__"))
		put_json_label(&json, "__name__", "process_cpu");
	if (!has_label(target, "job"))
		put_json_label(&json, "job", target->name);
	for (size_t i = 0; i < target->nr_labels; i++)
		put_json_label(&json, target->labels[i].key,
			       target->labels[i].value);
	op_json_close(&json, ']');
	op_json_close(&json, '}');
	op_json_open(&json, "samples", '[');
	op_json_open(&json, NULL, '{');
	op_json_text(&json, "raw_profile", base64);
	op_json_close(&json, '}');
	op_json_close(&json, ']');
	op_json_close(&json, '}');
	op_json_close(&json, ']');
	/* Addresses are those of the binaries. */
	op_json_bool(&json, "normalized", true);
	op_json_close(&json, '}');
}

/* Put the file in r->body into JSON. */
static int make_parca_body(struct push_request *r)
{
	size_t len = BASE64_ENCODE_RAW_LENGTH(r->body_len);
	char *base64 = malloc(len + 1), *json = NULL;
	FILE *out = base64 ? open_memstream(&json, &r->body_len) : NULL;
	size_t from = r->body_len;
	int err = out ? 0 : -ENOMEM;

	if (!err) {
		base64_encode_raw(base64, from, (const uint8_t *)r->body);
		base64[len] = '\0';
		put_parca_json(out, r->target, base64);
		err = fclose(out) ? -ENOMEM : 0;
		free(r->body);
		r->body = json;
	}
	free(base64);
	return err;
}

static int make_request(struct push_request *r, const char *path,
			struct op_diag *diag)
{
	int err = op_file_read(path, MAX_PROFILE, &r->body, &r->body_len, diag);

	if (err)
		return op_diag_set(diag, err, "%s: %s", path, strerror(-err));
	if (r->target->server == PUSH_PYROSCOPE)
		return make_pyroscope_url(r);
	r->url = server_url(r->target->url, "/api/profiles/writeraw",
			    "/writeraw");
	return r->url ? make_parca_body(r) : -ENOMEM;
}

/* ---- the answer -------------------------------------------------------------
 */

static size_t keep_answer(char *bytes, size_t size, size_t nr, void *arg)
{
	struct push_request *r = arg;
	size_t len = size * nr, room = sizeof(r->answer) - 1 - r->answer_len;

	if (room > len)
		room = len;
	memcpy(r->answer + r->answer_len, bytes, room);
	r->answer_len += room;
	r->answer[r->answer_len] = '\0';
	return len;
}

static int ask_whether_over(void *arg, curl_off_t a, curl_off_t b, curl_off_t c,
			    curl_off_t d)
{
	const struct push_request *r = arg;

	(void)a, (void)b, (void)c, (void)d;
	return r->target->is_over();
}

static CURLcode set_options(struct push_request *r)
{
	const struct push_target *target = r->target;
	CURL *c = r->curl;
	CURLcode code = CURLE_OK;

#define SET(option, value)                                                     \
	do {                                                                   \
		if (code == CURLE_OK)                                          \
			code = curl_easy_setopt(c, option, value);             \
	} while (0)
	SET(CURLOPT_URL, r->url);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_USERAGENT, "oppush/" PACKAGE_VERSION);
	SET(CURLOPT_HTTPHEADER, r->headers);
	SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_len);
	SET(CURLOPT_POSTFIELDS, r->body);
	SET(CURLOPT_TIMEOUT_MS, target->timeout_ms);
	SET(CURLOPT_CONNECTTIMEOUT_MS, target->timeout_ms < CONNECT_TIMEOUT_MS
					       ? target->timeout_ms
					       : CONNECT_TIMEOUT_MS);
	SET(CURLOPT_ERRORBUFFER, r->error);
	SET(CURLOPT_WRITEFUNCTION, keep_answer);
	SET(CURLOPT_WRITEDATA, r);
	if (target->ca_file)
		SET(CURLOPT_CAINFO, target->ca_file);
	if (target->is_insecure) {
		SET(CURLOPT_SSL_VERIFYPEER, 0L);
		SET(CURLOPT_SSL_VERIFYHOST, 0L);
	}
	if (target->is_over) {
		SET(CURLOPT_NOPROGRESS, 0L);
		SET(CURLOPT_XFERINFOFUNCTION, ask_whether_over);
		SET(CURLOPT_XFERINFODATA, r);
	}
#undef SET
	return code;
}

static void read_answer(struct push_request *r, CURLcode code,
			struct push_answer *answer)
{
	curl_off_t retry_after = 0;
	const char *why = *r->error ? r->error : curl_easy_strerror(code);

	curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &answer->status);
	curl_easy_getinfo(r->curl, CURLINFO_RETRY_AFTER, &retry_after);
	answer->retry_after_s = retry_after > 0 ? (uint64_t)retry_after : 0;
	r->answer[strcspn(r->answer, "\r\n")] = '\0';
	if (answer->status)
		snprintf(answer->text, sizeof(answer->text),
			 "the server answers %ld%s%s", answer->status,
			 *r->answer ? ": " : "", r->answer);
	else
		snprintf(answer->text, sizeof(answer->text), "%s", why);
}

int push_send(const struct push_target *target, const struct push_spool *spool,
	      const struct push_spooled *profile, struct push_answer *answer,
	      struct op_diag *diag)
{
	struct push_request r = {
		.target = target,
		.profile = profile,
		.curl = curl_easy_init(),
	};
	char path[PATH_MAX];
	CURLcode code = CURLE_OUT_OF_MEMORY;
	int err = r.curl ? 0 : -ENOMEM;

	memset(answer, 0, sizeof(*answer));
	push_spool_path(spool, profile->name, path);
	if (!err)
		err = make_request(&r, path, diag) ?: add_headers(&r, diag);
	if (!err) {
		code = set_options(&r);
		if (code == CURLE_OK)
			code = curl_easy_perform(r.curl);
		read_answer(&r, code, answer);
	}
	curl_slist_free_all(r.headers);
	curl_easy_cleanup(r.curl);
	free(r.url);
	free(r.body);
	return err;
}
