// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An agent for Java: java -agentpath:DIR/libjvmti_oprofile.so. It tells by
 * libopagent of each method that the VM compiles, with its source lines, and of
 * the VM's own stubs.
 *
 * A method is called as class files have it, "Lcom/x/Foo;bar(I)V", which
 * opreport writes as "void com.x.Foo.bar(int)". The VM tells for places in the
 * code which instruction of which method they are of, the innermost of methods
 * that were inlined first; that one's line is taken.
 *
 * Nothing that fails here may hurt the program: what cannot be told is left
 * out.
 */

#include <jvmti.h>
#include <jvmticmlr.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libagent/jvmti_frames.h"
#include "libagent/opagent.h"

#define EXPORT __attribute__((visibility("default")))
#define MAX_NAME 8192

/* The VM hands nothing of ours to its callbacks. */
static op_agent_t agent;

/* ---- methods ----------------------------------------------------------------
 */

/* The facts about one method that the VM is asked for; the VM owns the strings.
 */
struct java_method {
	jmethodID id;
	char *class_name; /* "Lcom/x/Foo;" */
	char *file; /* "Foo.java"; NULL: not known */
	jvmtiLineNumberEntry *lines;
	jint nr_lines;
	char path[MAX_NAME]; /* "com/x/Foo.java" */
};

static void free_of_vm(jvmtiEnv *vm, void *memory)
{
	if (memory)
		(*vm)->Deallocate(vm, memory);
}

static void release_method(jvmtiEnv *vm, struct java_method *method)
{
	free_of_vm(vm, method->class_name);
	free_of_vm(vm, method->file);
	free_of_vm(vm, method->lines);
	memset(method, 0, sizeof(*method));
}

/* The folders of sources are those of packages. */
static void set_source_path(struct java_method *method)
{
	const char *package = method->class_name + 1; /* behind the L */
	const char *slash = strrchr(method->class_name, '/');
	int len = slash ? (int)(slash + 1 - package) : 0;

	snprintf(method->path, sizeof(method->path), "%.*s%s", len, package,
		 method->file);
}

/* Without lines or a file the method has nr_lines 0. */
static void look_at_method(jvmtiEnv *vm, jmethodID id,
			   struct java_method *method)
{
	jclass class = NULL;

	release_method(vm, method);
	method->id = id;
	if ((*vm)->GetMethodDeclaringClass(vm, id, &class) ||
	    (*vm)->GetClassSignature(vm, class, &method->class_name, NULL))
		return;
	if ((*vm)->GetSourceFileName(vm, class, &method->file))
		method->file = NULL;
	if (!method->file ||
	    (*vm)->GetLineNumberTable(vm, id, &method->nr_lines,
				      &method->lines)) {
		method->lines = NULL;
		method->nr_lines = 0;
		return;
	}
	set_source_path(method);
}

/* The line of the instruction at @at; 0: not known. */
static unsigned int line_of_bytecode(const struct java_method *method,
				     jlocation at)
{
	unsigned int line = 0;
	jlocation best = -1;

	for (jint i = 0; i < method->nr_lines; i++) {
		jlocation start = method->lines[i].start_location;

		if (start <= at && start > best) {
			best = start;
			line = (unsigned int)method->lines[i].line_number;
		}
	}
	return line;
}

/* ---- lines ------------------------------------------------------------------
 */

/* Lines that are being gathered for one piece of code. */
struct java_lines {
	jvmtiEnv *vm;
	struct java_method method; /* that was looked at last */
	struct debug_line_info *list;
	size_t nr, room;
};

static bool make_room_for_line(struct java_lines *lines)
{
	size_t room = lines->room ? 2 * lines->room : 64;
	struct debug_line_info *more;

	if (lines->nr < lines->room)
		return true;
	more = reallocarray(lines->list, room, sizeof(*more));
	if (!more)
		return false;
	lines->list = more;
	lines->room = room;
	return true;
}

static void add_java_line(struct java_lines *lines, const void *pc,
			  jmethodID id, jlocation at)
{
	struct debug_line_info *next;
	unsigned int line;

	if (lines->method.id != id)
		look_at_method(lines->vm, id, &lines->method);
	line = line_of_bytecode(&lines->method, at);
	if (!line || !make_room_for_line(lines))
		return;
	next = &lines->list[lines->nr];
	next->vma = (unsigned long)pc;
	next->lineno = line;
	next->filename = strdup(lines->method.path);
	lines->nr += next->filename != NULL;
}

static void add_lines_of_frames(struct java_lines *lines,
				const jvmtiCompiledMethodLoadInlineRecord *info)
{
	for (jint i = 0; i < info->numpcs; i++) {
		const PCStackInfo *place = &info->pcinfo[i];

		if (place->numstackframes > 0)
			add_java_line(lines, place->pc, place->methods[0],
				      place->bcis[0]);
	}
}

/* The frames that HotSpot reports beyond the standard are exact; without them
 * the map is used.
 */
static void gather_lines(struct java_lines *lines, jmethodID id,
			 jint map_length, const jvmtiAddrLocationMap *map,
			 const void *compile_info)
{
	const jvmtiCompiledMethodLoadRecordHeader *record = compile_info;

	for (; record; record = record->next)
		if (record->kind == JVMTI_CMLR_INLINE_INFO)
			add_lines_of_frames(lines, (const void *)record);
	for (jint i = 0; !lines->nr && map && i < map_length; i++)
		add_java_line(lines, map[i].start_address, id, map[i].location);
}

static void tell_lines(jvmtiEnv *vm, const void *code, jmethodID id,
		       jint map_length, const jvmtiAddrLocationMap *map,
		       const void *compile_info)
{
	struct java_lines lines = { .vm = vm };

	gather_lines(&lines, id, map_length, map, compile_info);
	op_write_debug_line_info(agent, code, lines.nr, lines.list);
	for (size_t i = 0; i < lines.nr; i++)
		free((char *)lines.list[i].filename);
	free(lines.list);
	release_method(vm, &lines.method);
}

/* ---- what the VM tells ------------------------------------------------------
 */

static void name_method(jvmtiEnv *vm, jmethodID id, char name[MAX_NAME])
{
	char *class_name = NULL, *own = NULL, *types = NULL;
	jclass class = NULL;

	snprintf(name, MAX_NAME, "(unknown method)");
	if (!(*vm)->GetMethodDeclaringClass(vm, id, &class) &&
	    !(*vm)->GetClassSignature(vm, class, &class_name, NULL) &&
	    !(*vm)->GetMethodName(vm, id, &own, &types, NULL))
		snprintf(name, MAX_NAME, "%s%s%s", class_name, own, types);
	free_of_vm(vm, class_name);
	free_of_vm(vm, own);
	free_of_vm(vm, types);
}

static void JNICALL on_method_load(jvmtiEnv *vm, jmethodID id, jint size,
				   const void *code, jint map_length,
				   const jvmtiAddrLocationMap *map,
				   const void *compile_info)
{
	uint8_t frames[JAVA_FRAMES_BYTES];
	char name[MAX_NAME];
	size_t frames_len = 0;

	if (size <= 0)
		return;
	name_method(vm, id, name);
	tell_lines(vm, code, id, map_length, map, compile_info);
#ifdef __x86_64__
	frames_len = java_frames(code, (size_t)size, frames);
#endif
	op_write_native_code_frames(agent, name, (uintptr_t)code, code,
				    (unsigned int)size, frames, frames_len);
}

static void JNICALL on_method_unload(jvmtiEnv *vm, jmethodID id,
				     const void *code)
{
	(void)vm;
	(void)id;
	op_unload_native_code(agent, (uintptr_t)code);
}

static void JNICALL on_dynamic_code(jvmtiEnv *vm, const char *name,
				    const void *code, jint size)
{
	(void)vm;
	if (size > 0)
		op_write_native_code(agent, name, (uintptr_t)code, code,
				     (unsigned int)size);
}

/* ---- life -------------------------------------------------------------------
 */

static int ask_for_events(jvmtiEnv *vm)
{
	static const jvmtiEvent events[] = {
		JVMTI_EVENT_COMPILED_METHOD_LOAD,
		JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
		JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
	};
	const jvmtiCapabilities wanted = {
		.can_generate_compiled_method_load_events = 1,
		.can_get_source_file_name = 1,
		.can_get_line_numbers = 1,
	};
	const jvmtiEventCallbacks callbacks = {
		.CompiledMethodLoad = on_method_load,
		.CompiledMethodUnload = on_method_unload,
		.DynamicCodeGenerated = on_dynamic_code,
	};

	if ((*vm)->AddCapabilities(vm, &wanted) ||
	    (*vm)->SetEventCallbacks(vm, &callbacks, sizeof(callbacks)))
		return -1;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if ((*vm)->SetEventNotificationMode(vm, JVMTI_ENABLE, events[i],
						    NULL))
			return -1;
	return 0;
}

/*
 * operf gives the agent to all JVMs of a command as "optional": a VM that has
 * no use for it starts without. The VM may have been given the agent twice.
 */
static jint start_agent(JavaVM *java, const char *options, jvmtiEnv **vm)
{
	jint refused = JNI_ERR;

	if (options && !strcmp(options, "version")) {
		fprintf(stderr, "jvmti_oprofile: libopagent %d.%d\n",
			op_major_version(), op_minor_version());
		return JNI_ERR;
	}
	if (agent)
		return JNI_OK;
	if (options && !strcmp(options, "optional"))
		refused = JNI_OK;
	else if (options && *options) {
		fprintf(stderr,
			"jvmti_oprofile: %s: no such option; \"version\" is the only one\n",
			options);
		return JNI_ERR;
	}
	if ((*java)->GetEnv(java, (void **)vm, JVMTI_VERSION_1_1) != JNI_OK) {
		fprintf(stderr, "jvmti_oprofile: this VM has no JVMTI 1.1\n");
		return refused;
	}
	agent = op_open_agent();
	if (!agent) {
		perror("jvmti_oprofile: cannot write the dump; set JITDUMPDIR to a folder for it");
		return refused;
	}
	if (!ask_for_events(*vm))
		return JNI_OK;
	fprintf(stderr,
		"jvmti_oprofile: the VM does not report the code that it compiles\n");
	return refused;
}

EXPORT JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *java, char *options,
					   void *reserved)
{
	jvmtiEnv *vm = NULL;

	(void)reserved;
	return start_agent(java, options, &vm);
}

/* Into a VM that runs: what it has compiled so far is told now. */
EXPORT JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *java, char *options,
					     void *reserved)
{
	jvmtiEnv *vm = NULL;
	jint err;

	(void)reserved;
	if (agent)
		return JNI_OK;
	err = start_agent(java, options, &vm);
	if (err || !agent)
		return err;
	(*vm)->GenerateEvents(vm, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	(*vm)->GenerateEvents(vm, JVMTI_EVENT_COMPILED_METHOD_LOAD);
	return JNI_OK;
}

/* Threads of the VM may still tell of code, so the dump stays open. */
EXPORT JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *java)
{
	(void)java;
}
