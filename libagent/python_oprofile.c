// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An agent for CPython 3.9 to 3.13, which runs all Python functions in one C
 * function, so that stacks have no trace of them. An extension module:
 * sitecustomize.py beside it imports it and calls start().
 *
 * From then on the interpreter calls evaluate_frame() for each Python call (PEP
 * 523: _PyInterpreterState_SetEvalFrameFunc()), and that jumps to a trampoline,
 * a few instructions that call the interpreter's own
 * _PyEval_EvalFrameDefault(). Each function of the program has a trampoline of
 * its own, which libopagent reports with the function's name. So a stack leads
 * through it between the frames of the interpreter, in a process that knows
 * nothing of Python.
 *
 * From 3.12 on CPython makes such trampolines itself if it is asked to. Then
 * programs recurse less deep, as these count as C functions; here they do not.
 *
 * The module is built without the headers of Python, for all these versions at
 * once. From the stable ABI ("Stable ABI Contents" in "The Python/C API") are
 * the layout of PyModuleDef and PyMethodDef and most functions. Not from there,
 * but exported by each of these versions: the functions of PEP 523, of which
 * those for code objects begin with PyUnstable_ since 3.12, and
 * _PyEval_EvalFrameDefault(). struct frame_layout says what is read in frames.
 *
 * All is called by threads that hold the interpreter's lock (the GIL), which
 * all subinterpreters share before 3.12; from then on only the main one has
 * names. So nothing is locked here.
 *
 * Nothing that fails here may hurt the program: a function without a trampoline
 * is run by the interpreter directly, and has no name.
 */

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <search.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libagent/opagent.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)

/* ---- what is used of CPython ----------------------------------------------
 */

typedef struct py_object {
	intptr_t references;
	void *type;
} PyObject;

struct py_method {
	const char *name;
	PyObject *(*function)(PyObject *self, PyObject *arguments);
	int flags;
	const char *doc;
};

struct py_module {
	struct {
		PyObject head;
		PyObject *(*init)(void);
		intptr_t index;
		PyObject *copy;
	} base;
	const char *name, *doc;
	intptr_t size; /* -1: the module has a state that is not per interpreter
			*/
	struct py_method *methods;
	void *slots, *traverse, *clear, *free;
};

#define PY_NO_ARGUMENTS 0x4 /* METH_NOARGS */
#define PY_STABLE_ABI 3 /* PYTHON_ABI_VERSION */

struct py_interpreter;
struct py_thread;
typedef void *const *py_frame_t; /* PyFrameObject, or _PyInterpreterFrame */
typedef PyObject *(*py_evaluate_t)(struct py_thread *thread, py_frame_t frame,
				   int throws);

extern PyObject _Py_NoneStruct, PyCode_Type;
extern PyObject *PyExc_OSError, *PyExc_RuntimeError;
void Py_IncRef(PyObject *object);
void Py_DecRef(PyObject *object);
const char *Py_GetVersion(void);
PyObject *PyModule_Create2(struct py_module *module, int abi);
void PyErr_Fetch(PyObject **type, PyObject **value, PyObject **traceback);
void PyErr_Restore(PyObject *type, PyObject *value, PyObject *traceback);
void PyErr_Clear(void);
PyObject *PyErr_SetFromErrno(PyObject *type);
void PyErr_SetString(PyObject *type, const char *text);
PyObject *PyObject_GetAttrString(PyObject *object, const char *name);
PyObject *PyDict_GetItemString(PyObject *dict, const char *key);
const char *PyUnicode_AsUTF8AndSize(PyObject *text, intptr_t *len);
long PyLong_AsLong(PyObject *number);
struct py_interpreter *PyInterpreterState_Get(void);
struct py_interpreter *PyInterpreterState_Main(void);

py_evaluate_t _PyInterpreterState_GetEvalFrameFunc(struct py_interpreter *);
void _PyInterpreterState_SetEvalFrameFunc(struct py_interpreter *,
					  py_evaluate_t);
PyObject *_PyEval_EvalFrameDefault(struct py_thread *, py_frame_t, int);

typedef intptr_t request_index_t(void (*free_extra)(void *));
typedef int get_extra_t(PyObject *code, intptr_t index, void **extra);
typedef int set_extra_t(PyObject *code, intptr_t index, void *extra);

/* Each is NULL where the interpreter has the other name. */
extern request_index_t _PyEval_RequestCodeExtraIndex __attribute__((weak));
extern request_index_t PyUnstable_Eval_RequestCodeExtraIndex
	__attribute__((weak));
extern get_extra_t _PyCode_GetExtra __attribute__((weak));
extern get_extra_t PyUnstable_Code_GetExtra __attribute__((weak));
extern set_extra_t _PyCode_SetExtra __attribute__((weak));
extern set_extra_t PyUnstable_Code_SetExtra __attribute__((weak));

PyObject *PyInit_python_oprofile(void);

/*
 * Words of a frame. 3.12 and 3.13 have the members f_code (f_executable),
 * previous, f_funcobj and f_globals first, 3.11 has f_func, f_globals,
 * f_builtins, f_locals and f_code (Include/internal/pycore_frame.h). Before
 * that a frame is an object of variable size, three words, with f_back, f_code,
 * f_builtins and f_globals next (Include/cpython/frameobject.h).
 */
static const struct frame_layout {
	const char *version;
	unsigned int code, globals;
	const char *name; /* attribute of a code object */
	bool inlines; /* calls of Python functions, unless there is a hook */
	bool has_many_locks; /* a subinterpreter may have one of its own */
	/* Bytes of a stack that calls by trampolines may use. Each of them
	 * counts twice against the limit of C calls, 1500 in 3.12 and 10000
	 * in 3.13; half of that is left to the program. */
	size_t most_stack;
} layouts[] = {
	{ "3.9.", 4, 6, "co_name", false, false, SIZE_MAX },
	{ "3.10.", 4, 6, "co_name", false, false, SIZE_MAX },
	{ "3.11.", 4, 1, "co_qualname", true, false, SIZE_MAX },
	{ "3.12.", 0, 3, "co_qualname", true, true, 128 << 10 },
	{ "3.13.", 0, 3, "co_qualname", true, true, 1 << 20 },
};

/* The interpreter gives its callbacks nothing of ours. */
static const struct frame_layout *layout;
static unsigned int code_word; /* of layout, which is read for each call */
static request_index_t *request_index;
static get_extra_t *get_extra;
static set_extra_t *set_extra;
static op_agent_t agent;
static intptr_t extra_index = -1;

/* ---- trampolines ------------------------------------------------------------
 */

#define TRAMPOLINE 32 /* bytes from one to the next */
#define TRAMPOLINE_CODE 18 /* bytes of code */
#define POOL 2048 /* trampolines */
#define MAX_POOLS 128

/* All trampolines are alike; the address of the function is in the middle. */
static const uint8_t trampoline_head[] = {
	0x55, /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp,%rbp */
	0x48, 0xb8, /* movabs $FUNCTION,%rax */
};
static const uint8_t trampoline_tail[] = {
	0xff, 0xd0, /* call *%rax */
	0x5d, /* pop %rbp */
	0xc3, /* ret */
};

/* The .eh_frame of a trampoline, 24 bytes behind its start (DWARF 5, 6.4.1). */
static const uint8_t trampoline_frames[] = {
	/* CIE: version 1, "zR", code 1, data -8, return address in r16;
	 * addresses are signed 32-bit offsets from where they stand */
	20,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	1,
	'z',
	'R',
	0,
	1,
	0x78,
	16,
	1,
	0x1b,
	0x0c,
	7,
	8, /* CFA = rsp + 8 */
	0x90,
	1, /* return address at CFA - 8 */
	0,
	0,
	/* FDE: 18 bytes of code from 56 bytes before the address */
	28,
	0,
	0,
	0,
	28,
	0,
	0,
	0,
	0xc8,
	0xff,
	0xff,
	0xff,
	TRAMPOLINE_CODE,
	0,
	0,
	0,
	0,
	0x41,
	0x0e,
	16,
	0x86,
	2, /* after push: CFA = rsp + 16, rbp at CFA - 16 */
	0x43,
	0x0d,
	6, /* after mov: CFA = rbp + 16 */
	0x4d,
	0x0c,
	7,
	8,
	0xc6, /* after pop: CFA = rsp + 8 */
	0,
	0,
	0,
	0,
	0,
	0,
};

static uint8_t *pools[MAX_POOLS];
static size_t nr_trampolines;

static void fill_pool(uint8_t *pool)
{
	const py_evaluate_t function = _PyEval_EvalFrameDefault;

	for (size_t i = 0; i < POOL; i++) {
		uint8_t *at = pool + i * TRAMPOLINE;

		at = mempcpy(at, trampoline_head, sizeof(trampoline_head));
		at = mempcpy(at, &function, sizeof(function));
		memcpy(at, trampoline_tail, sizeof(trampoline_tail));
	}
}

/*
 * Map the bytes of @memory, a page or more, a second time, as code that nobody
 * can write, where memory of a process may not become code: the policies of
 * SELinux and systemd that forbid that let files be mapped. NULL if they do
 * not.
 */
static void *map_file_of_code(const void *memory, size_t len)
{
	int fd = memfd_create("python_oprofile", MFD_CLOEXEC);
	void *code = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (pwrite(fd, memory, len, 0) == (ssize_t)len)
		code = mmap(NULL, len, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			    0);
	close(fd);
	return code == MAP_FAILED ? NULL : code;
}

/* Memory is never code and writable at the same time. */
static uint8_t *make_pool(void)
{
	const size_t len = POOL * TRAMPOLINE;
	void *code, *memory = mmap(NULL, len, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	fill_pool(memory);
	if (!mprotect(memory, len, PROT_READ | PROT_EXEC))
		return memory;
	code = map_file_of_code(memory, len);
	munmap(memory, len);
	return code;
}

static uint8_t *trampoline_at(size_t number)
{
	return pools[number / POOL] + number % POOL * TRAMPOLINE;
}

/* NULL when there are too many, or no memory. */
static uint8_t *add_trampoline(void)
{
	uint8_t **pool;

	if (nr_trampolines == MAX_POOLS * POOL)
		return NULL;
	pool = &pools[nr_trampolines / POOL];
	if (!*pool)
		*pool = make_pool();
	return *pool ? trampoline_at(nr_trampolines++) : NULL;
}

/* ---- functions --------------------------------------------------------------
 */

/*
 * A program may make the same function again and again, by eval(), say. All
 * code objects of the same name, file and line have one trampoline, which is
 * never freed.
 */
struct python_function {
	uint8_t *trampoline;
	unsigned int line; /* of its "def" */
	char *name; /* MODULE.FUNCTION */
	char *file; /* "" where there is none */
};

static struct python_function **functions; /* in the order of trampolines */
static size_t functions_room;
static void *functions_tree; /* of tsearch(3) */
static pid_t reported_by; /* the process that all were reported by */

static int compare_functions(const void *a, const void *b)
{
	const struct python_function *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return strcmp(x->name, y->name) ?: strcmp(x->file, y->file);
}

static void report_function(const struct python_function *function)
{
	const struct debug_line_info line = {
		.vma = (uintptr_t)function->trampoline,
		.lineno = function->line,
		.filename = function->file,
	};

	if (*function->file)
		op_write_debug_line_info(agent, function->trampoline, 1, &line);
	op_write_native_code_frames(agent, function->name,
				    (uintptr_t)function->trampoline,
				    function->trampoline, TRAMPOLINE_CODE,
				    trampoline_frames,
				    sizeof(trampoline_frames));
}

/* The dump of a child of fork(2) begins empty, and hides that of its parent. */
static void report_new_function(const struct python_function *function)
{
	pid_t own = getpid();

	if (own == reported_by) {
		report_function(function);
		return;
	}
	reported_by = own;
	for (size_t i = 0; i < nr_trampolines; i++)
		report_function(functions[i]);
}

static bool make_room_for_function(void)
{
	size_t room = functions_room ? 2 * functions_room : 256;
	struct python_function **more;

	if (nr_trampolines < functions_room)
		return true;
	more = reallocarray(functions, room, sizeof(*more));
	if (!more)
		return false;
	functions = more;
	functions_room = room;
	return true;
}

/* A trampoline for @wanted, whose texts are the caller's; NULL: none can be
 * had. */
static uint8_t *find_trampoline(const struct python_function *wanted)
{
	struct python_function *function, **found;

	found = tfind(wanted, &functions_tree, compare_functions);
	if (found)
		return (*found)->trampoline;
	function = malloc(sizeof(*function));
	if (!function)
		return NULL;
	*function = *wanted;
	function->name = strdup(wanted->name);
	function->file = strdup(wanted->file);
	if (function->name && function->file && make_room_for_function() &&
	    tsearch(function, &functions_tree, compare_functions)) {
		function->trampoline = add_trampoline();
		if (function->trampoline) {
			functions[nr_trampolines - 1] = function;
			report_new_function(function);
			return function->trampoline;
		}
		tdelete(function, &functions_tree, compare_functions);
	}
	free(function->name);
	free(function->file);
	free(function);
	return NULL;
}

/* ---- names ------------------------------------------------------------------
 */

/* A reference to the text of an attribute; "" for what is no text. */
struct python_text {
	PyObject *owner;
	const char *text;
};

static struct python_text text_of(PyObject *object)
{
	struct python_text text = { object, NULL };

	if (object)
		text.text = PyUnicode_AsUTF8AndSize(object, NULL);
	text.text = text.text ?: "";
	return text;
}

static void release_text(struct python_text *text)
{
	if (text->owner)
		Py_DecRef(text->owner);
}

static struct python_text module_name(PyObject *globals)
{
	PyObject *name = PyDict_GetItemString(globals, "__name__");

	if (name)
		Py_IncRef(name);
	return text_of(name);
}

/*
 * The program itself is the module "__main__", and "__mp_main__" in processes
 * that multiprocessing starts: the name of its file says more, and is the same
 * in both. Put that, or the module's name, in @name.
 */
static void print_module(char *name, size_t len, const char *module,
			 const char *file)
{
	const char *base = strrchr(file, '/') ?: file - 1;
	size_t stem = strcspn(++base, ".");

	if ((strcmp(module, "__main__") && strcmp(module, "__mp_main__")) ||
	    !stem || *file == '<')
		snprintf(name, len, "%s", module);
	else
		snprintf(name, len, "%.*s", (int)stem, base);
}

/*
 * Put the path of @file in @path: it may begin at the folder that the program
 * was started in, where most are still. What is no file, like "<string>", has
 * none.
 */
static void find_source(char path[PATH_MAX], const char *file)
{
	char found[PATH_MAX];

	*path = '\0';
	if (*file == '/')
		snprintf(path, PATH_MAX, "%s", file);
	else if (*file && *file != '<' && realpath(file, found))
		memcpy(path, found, sizeof(found));
}

static uint8_t *name_code(py_frame_t frame)
{
	PyObject *code = frame[code_word];
	PyObject *line = PyObject_GetAttrString(code, "co_firstlineno");
	struct python_text module = module_name(frame[layout->globals]);
	struct python_text name =
		text_of(PyObject_GetAttrString(code, layout->name));
	struct python_text file =
		text_of(PyObject_GetAttrString(code, "co_filename"));
	char stem[256], whole[1024], path[PATH_MAX];
	struct python_function wanted = {
		.line = line ? (unsigned int)PyLong_AsLong(line) : 0,
		.name = whole,
		.file = path,
	};
	uint8_t *trampoline;

	find_source(path, file.text);
	print_module(stem, sizeof(stem), module.text, file.text);
	snprintf(whole, sizeof(whole), "%s%s%s", stem, *stem ? "." : "",
		 *name.text ? name.text : "?");
	/* A text may have any character but 0. */
	for (char *at = whole; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = '?';
	trampoline = find_trampoline(&wanted);
	if (line)
		Py_DecRef(line);
	release_text(&file);
	release_text(&name);
	release_text(&module);
	return trampoline;
}

/* ---- code objects -----------------------------------------------------------
 */

/* An entry is kept with each code object as long as that lives. */
struct code_extra {
	PyObject *code;
	py_evaluate_t evaluate; /* its trampoline */
};

/* The code objects that ran last, by their address: it takes a third of the
 * time of asking the interpreter. */
#define RECENT 4096

static struct code_extra recent[RECENT];

static struct code_extra *recent_slot(const PyObject *code)
{
	return &recent[(uintptr_t)code / 16 % RECENT];
}

/* A code object is freed, and others may have its address soon. */
static void free_extra(void *extra)
{
	struct code_extra *own = extra;

	if (!own)
		return;
	if (recent_slot(own->code)->code == own->code)
		recent_slot(own->code)->code = NULL;
	free(own);
}

/* The exception that is on its way into a generator must be the same
 * afterwards. */
static void prepare_code(py_frame_t frame, struct code_extra *extra)
{
	PyObject *type, *value, *traceback;
	uint8_t *trampoline;

	PyErr_Fetch(&type, &value, &traceback);
	trampoline = name_code(frame);
	if (trampoline)
		extra->evaluate = (py_evaluate_t)trampoline;
	if (set_extra(extra->code, extra_index, extra)) {
		free(extra);
		PyErr_Clear();
	}
	PyErr_Restore(type, value, traceback);
}

static py_evaluate_t evaluator_of(py_frame_t frame)
{
	PyObject *code = frame[code_word];
	struct code_extra *extra = NULL;
	void *known = NULL;
	py_evaluate_t evaluate = _PyEval_EvalFrameDefault;

	if (!code || code->type != &PyCode_Type)
		return evaluate;
	if (!get_extra(code, extra_index, &known) && !known) {
		extra = malloc(sizeof(*extra));
		if (!extra)
			return evaluate;
		*extra = (struct code_extra){ code, evaluate };
		prepare_code(frame, extra);
		known = NULL;
		get_extra(code, extra_index, &known);
	}
	extra = known;
	if (!extra)
		return evaluate;
	*recent_slot(code) = *extra;
	return extra->evaluate;
}

/* ---- the hook ---------------------------------------------------------------
 */

/* Interpreters that call us. */
#define MAX_INTERPRETERS 64

static struct hooked_interpreter {
	struct py_interpreter *state;
	unsigned int nr_deep; /* run_deep() that have not returned */
} hooked[MAX_INTERPRETERS];

/* Addresses below it are in the part of the thread's stack that is not used for
 * calls of trampolines. */
static __thread uintptr_t lowest __attribute__((tls_model("initial-exec"))) =
	UINTPTR_MAX;

/* The trampoline of what has no names, as its calls are too deep. */
static py_evaluate_t evaluate_deep = _PyEval_EvalFrameDefault;

static PyObject *evaluate_frame(struct py_thread *thread, py_frame_t frame,
				int throws);

static struct hooked_interpreter *
find_hooked(const struct py_interpreter *state)
{
	for (size_t i = 0; i < MAX_INTERPRETERS; i++)
		if (hooked[i].state == state)
			return &hooked[i];
	return NULL;
}

/*
 * Trampolines may use a quarter of the stack: the program may need as much as
 * it does without us. What is not known is taken for no room.
 */
static void find_lowest(void)
{
	pthread_attr_t attr;
	void *start = NULL;
	size_t len = 0;

	lowest = UINTPTR_MAX - 1;
	if (pthread_getattr_np(pthread_self(), &attr))
		return;
	if (!pthread_attr_getstack(&attr, &start, &len))
		lowest = (uintptr_t)start + len -
			 (len / 4 < layout->most_stack ? len / 4
						       : layout->most_stack);
	pthread_attr_destroy(&attr);
}

/*
 * From 3.11 on CPython runs a Python function that another one calls without
 * using stack, unless there is a hook: programs recurse much deeper than the
 * stack has room for. So deep in the stack the interpreter has no hook, for as
 * long as what began there runs.
 */
static PyObject *run_deep(struct py_thread *thread, py_frame_t frame,
			  int throws)
{
	struct py_interpreter *state = PyInterpreterState_Get();
	struct hooked_interpreter *own = find_hooked(state);
	PyObject *result;

	if (!layout->inlines || !own)
		return _PyEval_EvalFrameDefault(thread, frame, throws);
	if (!own->nr_deep++)
		_PyInterpreterState_SetEvalFrameFunc(state,
						     _PyEval_EvalFrameDefault);
	result = evaluate_deep(thread, frame, throws);
	/* Another tool may have set a hook of its own. */
	if (!--own->nr_deep && _PyInterpreterState_GetEvalFrameFunc(state) ==
				       _PyEval_EvalFrameDefault)
		_PyInterpreterState_SetEvalFrameFunc(state, evaluate_frame);
	return result;
}

__attribute__((noinline)) static PyObject *
evaluate_unusual(struct py_thread *thread, py_frame_t frame, int throws)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (lowest == UINTPTR_MAX)
		find_lowest();
	if (here < lowest)
		return run_deep(thread, frame, throws);
	return evaluator_of(frame)(thread, frame, throws);
}

/* Calls in the place of the return use no stack of ours. */
static PyObject *evaluate_frame(struct py_thread *thread, py_frame_t frame,
				int throws)
{
	const struct code_extra *extra = recent_slot(frame[code_word]);

	if (LIKELY((uintptr_t)__builtin_frame_address(0) >= lowest &&
		   extra->code == frame[code_word]))
		return extra->evaluate(thread, frame, throws);
	return evaluate_unusual(thread, frame, throws);
}

/* ---- life -------------------------------------------------------------------
 */

static PyObject *refuse(const char *why)
{
	PyErr_SetString(PyExc_RuntimeError, why);
	return NULL;
}

/* The number under which code objects have what belongs to us is one for all
 * interpreters, which count alike. */
static void make_deep_trampoline(void)
{
	const struct python_function deep = {
		.name = "[Python calls too deep for names]",
		.file = "",
	};
	uint8_t *trampoline = find_trampoline(&deep);

	if (trampoline)
		evaluate_deep = (py_evaluate_t)trampoline;
}

static PyObject *start_python_agent(PyObject *self, PyObject *arguments)
{
	struct py_interpreter *state = PyInterpreterState_Get();
	struct hooked_interpreter *own =
		find_hooked(state) ?: find_hooked(NULL);
	intptr_t index;

	(void)self;
	(void)arguments;
	if (!own ||
	    (layout->has_many_locks && state != PyInterpreterState_Main()))
		return refuse("no names in this interpreter");
	if (_PyInterpreterState_GetEvalFrameFunc(state) !=
	    _PyEval_EvalFrameDefault)
		return refuse("the interpreter has a hook already");
	if (!agent)
		agent = op_open_agent();
	if (!agent)
		return PyErr_SetFromErrno(PyExc_OSError);
	index = request_index(free_extra);
	if (index < 0 || (extra_index >= 0 && index != extra_index))
		return refuse(
			"code objects have no room for what belongs to the agent");
	extra_index = index;
	if (!reported_by) {
		reported_by = getpid();
		make_deep_trampoline();
	}
	*own = (struct hooked_interpreter){ .state = state };
	_PyInterpreterState_SetEvalFrameFunc(state, evaluate_frame);
	Py_IncRef(&_Py_NoneStruct);
	return &_Py_NoneStruct;
}

static struct py_method methods[] = {
	{ "start", start_python_agent, PY_NO_ARGUMENTS,
	  "Name Python functions to profilers from now on." },
	{ NULL },
};

static struct py_module module = {
	.base.head.references = 1,
	.name = "python_oprofile",
	.size = -1,
	.methods = methods,
};

static void choose_layout(const char *version)
{
	/* Objects of the build without a lock begin with other words. */
	if (strstr(version, "free-threading"))
		return;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (!strncmp(version, layouts[i].version,
			     strlen(layouts[i].version)))
			layout = &layouts[i];
}

__attribute__((visibility("default"))) PyObject *PyInit_python_oprofile(void)
{
	choose_layout(Py_GetVersion());
	request_index = _PyEval_RequestCodeExtraIndex
				?: PyUnstable_Eval_RequestCodeExtraIndex;
	get_extra = _PyCode_GetExtra ?: PyUnstable_Code_GetExtra;
	set_extra = _PyCode_SetExtra ?: PyUnstable_Code_SetExtra;
	if (!layout || !request_index || !get_extra || !set_extra)
		return refuse("made for Python 3.9 to 3.13");
	code_word = layout->code;
	return PyModule_Create2(&module, PY_STABLE_ABI);
}
