// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records change what is known of processes, and each sample is placed by what
 * is known at its moment. A process that has no entry yet is read from /proc,
 * but for records of another time or machine, which tell of all processes.
 *
 * Two times decide when a process is read again. gap_at is the last time that
 * side band was lost: what was read before it cannot be trusted, so such a
 * process is read at its next look-up. An address that is in no known mapping
 * has the process read again too, but at most once a second, and less often the
 * longer that takes, because /proc may not have the address either.
 *
 * Where processes are chosen but CPUs are sampled, only chosen ones have an
 * entry, and records of others change nothing. From the first fork on the side
 * band tells who is a child of whom. When it has lost records, a process that
 * is not known may be such a child: then its parents are looked for in /proc.
 * The first sample of another one has the kernel drop its samples from then on,
 * and those of the processes that it starts; its end undoes that, as its number
 * may be given to a chosen one. Whatever is in doubt is sampled.
 *
 * Each sample of a process that counts is received and either written or
 * counted as lost by one cause. A sample in the kernel needs no mappings.
 */

#include "daemon/source/perf/opd_perf_world.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "daemon/source/opd_proc_maps.h"
#include "daemon/source/untrusted/opd_copied_text.h"
#include "daemon/source/perf/opd_perf_clock.h"
#include "daemon/source/perf/opd_perf_owner.h"
#include "daemon/source/perf/opd_perf_proc.h"
#include "libop/base/op_log.h"

#define SECOND UINT64_C(1000000000)

/* perf_events' number for a task that is being freed. */
#define NO_TASK UINT32_MAX

uint64_t opd_perf_world_clock(const struct opd_perf_world *world)
{
	return world->clock ? world->clock() : world->now;
}

void opd_perf_world_init(struct opd_perf_world *world, const char *proc)
{
	memset(world, 0, sizeof(*world));
	world->proc = proc;
	world->clock = opd_perf_now;
	world->times = 1;
	opd_perf_words_set_depth(&world->words, 0);
	opd_names_init(&world->names, proc, 0, true);
	opd_maps_init(&world->maps);
	opd_jits_init(&world->jits, &world->images);
	opd_foreign_init(&world->binaries);
	opd_returns_init(&world->returns, &world->binaries, proc);
	opd_perf_images_init(&world->images, proc);
	world->images.files.foreign = &world->binaries;
}

void opd_perf_world_release(struct opd_perf_world *world)
{
	opd_perf_stacks_release(&world->stacks);
	opd_names_release(&world->names);
	op_stream_words_release(&world->told);
	opd_jits_release(&world->jits);
	opd_maps_release(&world->maps);
	opd_perf_images_release(&world->images);
	opd_returns_release(&world->returns);
	opd_foreign_release(&world->binaries);
}

void opd_perf_world_tell(struct opd_perf_world *world, unsigned int tells)
{
	opd_names_init(&world->names, world->proc, tells & ~OPD_TELL_OWNERS,
		       true);
	world->tells_owners = tells & OPD_TELL_OWNERS;
	opd_perf_words_set_records(&world->words, tells ? OPD_NAMES_WORDS : 0);
}

/* Of a sample. */
static void count(struct opd_perf_world *world, enum opd_perf_stat stat)
{
	if (__builtin_add_overflow(world->stats[stat], world->times,
				   &world->stats[stat]))
		world->stats[stat] = UINT64_MAX;
}

/* ---- who counts -------------------------------------------------------------
 */

bool opd_perf_world_choose(struct opd_perf_world *world, uint32_t tgid)
{
	struct opd_process *process =
		opd_perf_proc_read(world, opd_perf_proc_tgid(world, tgid));

	if (process)
		process->chosen = true;
	return process;
}

/* Where only chosen processes count, others are known, too: one that is not has
 * a fork that is among the records that were lost. NULL if it is gone already,
 * and for no process. */
static const struct opd_process *known_process(struct opd_perf_world *world,
					       uint32_t tgid)
{
	if (!tgid)
		return NULL;
	return opd_maps_find(&world->maps, tgid)
		       ?: opd_perf_proc_adopt(world, tgid);
}

static bool is_wanted(struct opd_perf_world *world, uint32_t tgid)
{
	const struct opd_process *process;

	if (!world->only_chosen)
		return true;
	process = known_process(world, tgid);
	return process && process->chosen;
}

void opd_perf_world_drop(struct opd_perf_world *world, uint32_t tgid, bool drop)
{
	if (world->filter)
		op_perf_filter_drop(world->filter, tgid, drop);
}

/* Likewise for a sample, which is counted if it is not wanted. */
static bool is_sample_wanted(struct opd_perf_world *world, uint32_t tgid)
{
	const struct opd_process *process;

	if (!world->only_chosen)
		return true;
	process = known_process(world, tgid);
	if (process && process->chosen)
		return true;
	/* A late record is of a number that may be another's by now. */
	if (!tgid ||
	    (process && process->nr_threads && tgid != world->chosen_by_exec))
		opd_perf_world_drop(world, tgid, true);
	count(world,
	      tgid && !process ? OPD_PERF_NO_PROCESS : OPD_PERF_OF_OTHERS);
	return false;
}

/* ---- mappings ---------------------------------------------------------------
 */

uint64_t opd_perf_world_map(struct opd_perf_world *world,
			    struct opd_process *process,
			    const struct opd_map *map,
			    const struct opd_perf_image_id *id)
{
	struct opd_map full = *map;

	if (opd_proc_is_anon(id->name))
		full.cookie = OP_NO_COOKIE;
	else
		full.cookie = opd_perf_image_cookie(&world->images, id);
	opd_jits_see_mapping(&world->jits, process->tgid, id->name, id->ino);
	if (full.cookie == OP_NO_COOKIE)
		full.anon = opd_perf_image_anon(&world->images, id->name);
	/* Without the mapping its samples are lost, and counted. */
	(void)opd_maps_add(process, &full);
	return full.cookie;
}

/* A process that a recording tells of, from its first mapping on. */
static struct opd_process *begin_process(struct opd_perf_world *world,
					 uint32_t tgid)
{
	struct opd_process *process = opd_maps_new(&world->maps, tgid);

	if (process)
		process->fresh = true;
	return process;
}

/* The process of a record; read from /proc when it is new to us. */
static struct opd_process *process_of(struct opd_perf_world *world,
				      uint32_t tgid)
{
	struct opd_process *process = opd_maps_find(&world->maps, tgid);

	if (!process && world->proc)
		process = opd_perf_proc_read(world, tgid);
	else if (!process)
		process = begin_process(world, tgid);
	return process;
}

static struct opd_perf_image_id image_id_of(const struct opd_perf_rec *rec)
{
	struct opd_perf_image_id id = {
		.name = rec->mmap.name,
		.build_id.len = rec->mmap.build_id_len,
		.dev = rec->mmap.dev,
		.ino = rec->mmap.ino,
		.generation = rec->mmap.generation,
		.pid = rec->pid,
		.start = rec->mmap.start,
		.end = rec->mmap.start + rec->mmap.len,
	};

	memcpy(id.build_id.bytes, rec->mmap.build_id, rec->mmap.build_id_len);
	return id;
}

static bool is_exec(const struct opd_perf_rec *rec)
{
	return rec->type == PERF_RECORD_COMM &&
	       rec->misc & PERF_RECORD_MISC_COMM_EXEC;
}

void opd_perf_world_look_ahead(struct opd_perf_world *world,
			       const struct opd_perf_rec *rec)
{
	struct opd_perf_image_id id;

	/* A process that another starts is another's, too. */
	if (rec->type == PERF_RECORD_FORK && rec->pid != rec->task.parent &&
	    world->filter)
		opd_perf_world_drop(world, rec->pid,
				    op_perf_filter_drops(world->filter,
							 rec->task.parent));
	if (is_exec(rec))
		opd_perf_programs_begin(&world->programs, rec->pid, rec->time);
	if ((rec->type != PERF_RECORD_MMAP2 && rec->type != PERF_RECORD_MMAP) ||
	    !rec->mmap.is_code || opd_proc_is_anon(rec->mmap.name))
		return;
	id = image_id_of(rec);
	opd_perf_programs_map(&world->programs, rec->pid, rec->time,
			      opd_perf_image_cookie(&world->images, &id));
}

static void handle_mmap(struct opd_perf_world *world,
			const struct opd_perf_rec *rec)
{
	struct opd_process *process;
	const struct opd_map map = {
		.start = rec->mmap.start,
		.end = rec->mmap.start + rec->mmap.len,
		.offset = rec->mmap.offset,
	};
	struct opd_perf_image_id id;
	uint64_t cookie;

	if (!is_wanted(world, rec->pid))
		return;
	process = process_of(world, rec->pid);
	if (!process || !rec->mmap.is_code)
		return;
	id = image_id_of(rec);
	cookie = opd_perf_world_map(world, process, &map, &id);
	/* The first file after an exec is the program. */
	if (process->fresh && cookie != OP_NO_COOKIE) {
		if (process->app != cookie)
			opd_perf_owner_other_program(process);
		process->app = cookie;
		process->fresh = false;
	}
}

/* ---- processes --------------------------------------------------------------
 */

static void handle_exec(struct opd_perf_world *world,
			const struct opd_perf_rec *rec)
{
	bool is_choice = rec->pid == world->chosen_by_exec;
	struct opd_process *process;

	if (!is_choice && !is_wanted(world, rec->pid))
		return;
	process = opd_maps_find(&world->maps, rec->pid);
	opd_jits_exit(&world->jits, rec->pid);
	if (!process)
		process = opd_maps_new(&world->maps, rec->pid);
	if (!process)
		return;
	if (is_choice) {
		process->chosen = true;
		world->chosen_by_exec = 0;
	}
	opd_maps_exec(process);
	process->app =
		opd_perf_programs_take(&world->programs, rec->pid, rec->time);
	opd_perf_owner_exec(world, process);
	process->read_at = rec->time; /* what follows is all there is */
}

/* A thread has another name, after an exec or as it wants. */
static void handle_comm(struct opd_perf_world *world,
			const struct opd_perf_rec *rec)
{
	if (is_wanted(world, rec->pid) || rec->pid == world->chosen_by_exec)
		opd_names_named(&world->names, rec->pid, rec->tid,
				rec->comm.name, is_exec(rec));
}

/* perf itself tells of a process that runs already with PERF_RECORD_FORK and
 * this flag, and then of all its mappings. */
static void fork_process(struct opd_perf_world *world,
			 const struct opd_perf_rec *rec)
{
	const struct opd_process *parent;
	struct opd_process *child;

	if (rec->misc & PERF_RECORD_MISC_FORK_EXEC) {
		begin_process(world, rec->pid);
		return;
	}
	child = opd_maps_fork(&world->maps, rec->pid, rec->task.parent);
	parent = opd_maps_find(&world->maps, rec->task.parent);
	if (child)
		opd_perf_owner_fork(&child->owner,
				    parent && parent->owner.since >=
							    world->gap_at
					    ? &parent->owner
					    : NULL,
				    rec->time);
	opd_jits_fork(&world->jits, rec->task.parent, rec->pid, rec->time);
}

/* Whether what happened to a thread at @time is not in what /proc has told. */
static bool is_after_look(const struct opd_process *process, uint64_t time)
{
	return !process->threads_at || process->threads_at < time;
}

/* What a process that does not count starts does not count either. Its number
 * may have been that of one that did. */
static void fork_other(struct opd_perf_world *world,
		       const struct opd_perf_rec *rec)
{
	struct opd_process *parent;

	if (rec->pid != rec->task.parent) {
		(void)opd_maps_new(&world->maps, rec->pid);
		return;
	}
	parent = opd_maps_find(&world->maps, rec->pid);
	if (parent && is_after_look(parent, rec->time))
		parent->nr_threads++;
}

static void handle_fork(struct opd_perf_world *world,
			const struct opd_perf_rec *rec)
{
	struct opd_process *parent;

	if (!is_wanted(world, rec->task.parent)) {
		fork_other(world, rec);
		return;
	}
	parent = process_of(world, rec->task.parent);
	opd_names_forked(&world->names, rec->pid, rec->tid, rec->task.parent,
			 rec->task.parent_tid);
	if (rec->pid != rec->task.parent)
		fork_process(world, rec);
	else if (parent && is_after_look(parent, rec->time))
		parent->nr_threads++;
}

static void handle_exit(struct opd_perf_world *world,
			const struct opd_perf_rec *rec)
{
	const struct opd_process *process =
		opd_maps_find(&world->maps, rec->pid);

	if (process && is_after_look(process, rec->time))
		opd_maps_exit(&world->maps, rec->pid);
	if (!process || !process->nr_threads) {
		opd_jits_exit(&world->jits, rec->pid);
		opd_perf_world_drop(world, rec->pid, false);
	}
}

/*
 * Code that is removed stays known, because samples in it may come late; new
 * code at its addresses replaces it.
 */
static void handle_ksymbol(struct opd_perf_world *world,
			   const struct opd_perf_rec *rec)
{
	uint64_t start = rec->ksymbol.addr;

	if (opd_perf_makes_code(rec))
		opd_perf_words_code(&world->words, rec->ksymbol.name, start,
				    start + rec->ksymbol.len);
}

void opd_perf_world_side(struct opd_perf_world *world,
			 const struct opd_perf_rec *rec)
{
	world->now = rec->time;
	switch (rec->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		handle_mmap(world, rec);
		break;
	case PERF_RECORD_COMM:
		handle_comm(world, rec);
		if (is_exec(rec))
			handle_exec(world, rec);
		break;
	case PERF_RECORD_FORK:
		handle_fork(world, rec);
		break;
	case PERF_RECORD_EXIT:
		handle_exit(world, rec);
		break;
	case PERF_RECORD_KSYMBOL:
		handle_ksymbol(world, rec);
		break;
	case PERF_RECORD_LOST:
		world->stats[OPD_PERF_SIDE_LOST] += rec->lost.nr;
		world->gap_at = rec->time;
		break;
	}
}

/* ---- samples ----------------------------------------------------------------
 */

/* Whether the mappings of @process were read so long ago that it may be done
 * again, for an address that is in none. */
static bool may_read_again(const struct opd_perf_world *world,
			   const struct opd_process *process)
{
	return world->now - process->read_at >=
	       SECOND + OPD_PERF_PROC_SHARE * process->read_took;
}

static const struct opd_map *find_told_map(struct opd_perf_world *world,
					   struct opd_process **process,
					   uint32_t tgid, uint64_t addr)
{
	const struct opd_map *map = NULL;

	if (!world->proc)
		return *process ? opd_maps_lookup(*process, addr) : NULL;
	if (*process && (*process)->read_at >= world->gap_at) {
		map = opd_maps_lookup(*process, addr);
		/* perf_events does not report mremap(2), for example. */
		if (map || !may_read_again(world, *process))
			return map;
	}
	*process = opd_perf_proc_read(world, tgid);
	return *process ? opd_maps_lookup(*process, addr) : NULL;
}

/*
 * If the anonymous memory that holds @addr is text that was copied, map the
 * file there instead. A look takes as long as a look at /proc, so that there is
 * one for each such memory, which programs may make without end.
 */
static void look_for_copied_text(struct opd_perf_world *world,
				 struct opd_process *process,
				 const struct opd_map *map, uint64_t addr)
{
	uint64_t begun = opd_perf_world_clock(world), end;
	struct opd_map found = *map;
	struct unwinder_map copy;

	if (opd_copied_text_find(&world->binaries, &world->images, world->proc,
				 process->tgid, addr, &copy))
		found = (struct opd_map){
			.start = copy.start,
			.end = copy.end,
			.offset = copy.offset,
			.cookie = copy.cookie,
		};
	else
		found.was_looked_at = true;
	end = opd_perf_world_clock(world);
	process->copied_at =
		opd_perf_proc_may_look(process->copied_at, end, end - begun);
	(void)opd_maps_add(process, &found);
}

const struct opd_map *opd_perf_world_find_map(struct opd_perf_world *world,
					      struct opd_process **process,
					      uint32_t tgid, uint64_t addr)
{
	const struct opd_map *map = find_told_map(world, process, tgid, addr);

	if (!map || map->cookie != OP_NO_COOKIE || map->was_looked_at ||
	    !world->proc || opd_perf_world_clock(world) < (*process)->copied_at)
		return map;
	look_for_copied_text(world, *process, map, addr);
	return opd_maps_lookup(*process, addr);
}

uint64_t opd_perf_world_place(struct opd_perf_world *world,
			      const struct opd_map *map, uint64_t addr,
			      struct opd_perf_place *place)
{
	uint64_t offset = addr - map->start;

	place->cookie = map->cookie;
	place->anon = map->anon;
	place->start = map->start;
	place->end = map->end;
	if (map->cookie != OP_NO_COOKIE) {
		offset += map->offset;
		if (!opd_perf_image_is_memory(&world->images, map->cookie))
			return offset;
	}
	if (opd_jits_find(&world->jits, place->tgid, addr, world->now,
			  &place->cookie, &offset))
		place->anon = NULL;
	return offset;
}

/* What the stream's reader does not know of the task of a sample. */
static void tell_task(struct opd_perf_world *world,
		      const struct opd_perf_place *place)
{
	opd_names_tell(&world->names, place->tgid, place->tid, place->app,
		       opd_perf_image_path(&world->images, place->app),
		       &world->told);
	if (world->told.nr)
		opd_perf_words_records(&world->words, world->told.words,
				       world->told.nr);
	world->told.nr = 0;
}

/* The sample, with its callers if they are wanted. */
static void write_sample(struct opd_perf_world *world,
			 struct opd_process *process,
			 const struct opd_perf_place *place, uint64_t pc,
			 const struct opd_perf_rec *rec, uint32_t counter)
{
	if (world->names.tells)
		tell_task(world, place);
	if (!world->stacks.depth) {
		opd_perf_words_sample(&world->words, place, pc, counter);
		return;
	}
	opd_perf_words_trace(&world->words, place, pc, counter);
	opd_perf_stack_callers(world, process, place, rec);
}

static void place_user(struct opd_perf_world *world,
		       struct opd_perf_place *place,
		       const struct opd_perf_rec *rec, uint32_t counter)
{
	struct opd_process *process = opd_maps_find(&world->maps, place->tgid);
	uint64_t pc = rec->sample.ip;
	const struct opd_map *map =
		opd_perf_world_find_map(world, &process, place->tgid, pc);

	if (!process) {
		count(world, OPD_PERF_NO_MM);
		return;
	}
	if (!map) {
		count(world, OPD_PERF_NO_MAPPING);
		return;
	}
	place->app = process->app;
	place->owner = opd_perf_owner_of(world, process);
	pc = opd_perf_world_place(world, map, pc, place);
	if (pc == OP_ESCAPE) {
		count(world, OPD_PERF_INVALID_EIP);
		return;
	}
	write_sample(world, process, place, pc, rec, counter);
}

static void place_kernel(struct opd_perf_world *world,
			 struct opd_perf_place *place,
			 const struct opd_perf_rec *rec, uint32_t counter)
{
	struct opd_process *process = opd_maps_find(&world->maps, place->tgid);

	place->kernel = true;
	place->app = process ? process->app : OP_NO_COOKIE;
	place->owner = opd_perf_owner_of(world, process);
	write_sample(world, process, place, rec->sample.ip, rec, counter);
}

void opd_perf_world_sample(struct opd_perf_world *world,
			   const struct opd_perf_rec *rec, uint32_t cpu,
			   uint32_t counter)
{
	struct opd_perf_place place = {
		.cpu = cpu,
		.tgid = rec->pid == NO_TASK ? 0 : rec->pid,
		.tid = rec->tid == NO_TASK ? 0 : rec->tid,
		.owner = OP_NO_OWNER,
		.weight = rec->sample.weight,
		.times = world->times,
		.lowered = world->lowered,
	};

	world->now = rec->time;
	if (!is_sample_wanted(world, place.tgid))
		return;
	count(world, OPD_PERF_RECEIVED);
	/* No address is so high, and in the stream it means something else. */
	if (rec->sample.ip == OP_ESCAPE) {
		count(world, OPD_PERF_INVALID_EIP);
		return;
	}
	switch (rec->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_USER:
		place_user(world, &place, rec, counter);
		break;
	case PERF_RECORD_MISC_KERNEL:
		place_kernel(world, &place, rec, counter);
		break;
	default: /* a guest's or a hypervisor's addresses are not ours */
		count(world, OPD_PERF_INVALID_EIP);
		break;
	}
}

/* ---- statistics -------------------------------------------------------------
 */

static const char *const stat_names[] = {
#define X(constant, name) #name,
	OPD_PERF_STATS(X)
#undef X
};

/* Where all forks were told, processes that nobody knows were there before. */
static bool is_cause(const uint64_t *stats, enum opd_perf_stat stat)
{
	if (stat == OPD_PERF_NO_PROCESS)
		return stats[OPD_PERF_SIDE_LOST];
	return stat >= OPD_PERF_NO_MAPPING && stat <= OPD_PERF_THROTTLED;
}

int opd_perf_world_account(const struct opd_perf_world *world,
			   struct op_ledger *ledger)
{
	const uint64_t *stats = world->stats;
	int err = 0;

	for (unsigned int i = 0; !err && i < OPD_PERF_NR_STATS; i++)
		if (is_cause(stats, i) && stats[i])
			err = op_ledger_lose(ledger, stat_names[i], stats[i]);
	ledger->taken = stats[OPD_PERF_RECEIVED] + stats[OPD_PERF_OVERFLOW] +
			stats[OPD_PERF_THROTTLED];
	if (is_cause(stats, OPD_PERF_NO_PROCESS))
		ledger->taken += stats[OPD_PERF_NO_PROCESS];
	return err;
}

void opd_perf_world_log(const struct opd_perf_world *world, struct op_log *log)
{
	for (unsigned int i = 0; i < OPD_PERF_NR_STATS; i++)
		op_log_plain(log, "Nr. %s: %" PRIu64, stat_names[i],
			     world->stats[i]);
	op_log_plain(log, "Nr. images: %zu", world->images.nr);
}
