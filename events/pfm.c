// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of libpfm4. */

#include "events/pfm.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfmon/pfmlib_perf_event.h>

int pfm_start(void)
{
	/* Also PMUs of other machines. */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	return pfm_initialize();
}

bool pfm_is_core(const pfm_pmu_info_t *pmu)
{
	/* The architectural one has the events that the CPU in use has. */
	return pmu->type == PFM_PMU_TYPE_CORE && pmu->nevents &&
	       strcmp(pmu->name, "ix86arch") != 0;
}

bool pfm_find_pmu(const char *name, pfm_pmu_info_t *info)
{
	pfm_pmu_t pmu;

	pfm_for_all_pmus(pmu)
	{
		memset(info, 0, sizeof(*info));
		info->size = sizeof(*info);
		if (!pfm_get_pmu_info(pmu, info) && !strcmp(info->name, name))
			return true;
	}
	return false;
}

/* Of a Pentium 4, what the kernel does not fill in itself. */
#define NETBURST_MASK (0x7ffffe00ull << 32 | 7 << 13)

/* Encode PMU::EVENT@masks; false if libpfm4 cannot, or not in a config. */
static bool encode(const pfm_pmu_info_t *pmu, const char *event,
		   const char *masks, uint64_t *config)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };
	char *text;
	int err;

	if (asprintf(&text, "%s::%s%s", pmu->name, event, masks) < 0)
		return false;
	err = pfm_get_os_event_encoding(text, PFM_PLM0 | PFM_PLM3,
					PFM_OS_PERF_EVENT, &arg);
	free(text);
	if (err || attr.config1 || attr.config2 || attr.type != PERF_TYPE_RAW)
		return false;
	*config = attr.config;
	if (!strncmp(pmu->name, "netburst", 8))
		*config &= NETBURST_MASK;
	return true;
}

static struct pfm_entry *add_entry(struct pfm_event *event, const char *name,
				   const char *desc, uint64_t config)
{
	struct pfm_entry *more =
		reallocarray(event->entries, event->nr + 1, sizeof(*more));
	struct pfm_entry *entry;

	if (!more)
		return NULL;
	event->entries = more;
	entry = &more[event->nr];
	*entry = (struct pfm_entry){ .name = strdup(name),
				     .desc = strdup(desc),
				     .config = config };
	if (!entry->name || !entry->desc) {
		free(entry->name);
		free(entry->desc);
		return NULL;
	}
	event->nr++;
	return entry;
}

static int add_mask(const pfm_pmu_info_t *pmu, struct pfm_event *event,
		    int index, int attr)
{
	pfm_event_attr_info_t info = { .size = sizeof(info) };
	struct pfm_entry *entry;
	char masks[256];
	uint64_t config;

	if (pfm_get_event_attr_info(index, attr, PFM_OS_PERF_EVENT, &info) ||
	    info.type != PFM_ATTR_UMASK || info.equiv)
		return 0;
	snprintf(masks, sizeof(masks), ":%s", info.name);
	if (!encode(pmu, event->name, masks, &config)) {
		event->left_out++;
		return 0;
	}
	entry = add_entry(event, info.name, info.desc, config);
	if (entry)
		entry->is_default = info.is_dfl;
	return entry ? 0 : -1;
}

/* Whether other entries have all bits of entry @i: a name for a sum. */
static bool is_sum(const struct pfm_event *event, size_t i)
{
	uint64_t config = event->entries[i].config, others = 0;

	for (size_t j = 0; j < event->nr; j++)
		if (!(event->entries[j].config & ~config) &&
		    event->entries[j].config != config)
			others |= event->entries[j].config;
	return others == config;
}

/* Whether all masks at once are what their configs or-ed together are. */
static bool can_combine(const pfm_pmu_info_t *pmu,
			const struct pfm_event *event)
{
	char masks[4096] = "";
	uint64_t config, all = 0;
	size_t at = 0, nr = 0;

	for (size_t i = 0; i < event->nr && at < sizeof(masks); i++) {
		if (is_sum(event, i))
			continue;
		at += (size_t)snprintf(masks + at, sizeof(masks) - at, ":%s",
				       event->entries[i].name);
		all |= event->entries[i].config;
		nr++;
	}
	return nr > 1 && encode(pmu, event->name, masks, &config) &&
	       config == all;
}

static bool has_masks(const pfm_event_info_t *info)
{
	pfm_event_attr_info_t attr = { .size = sizeof(attr) };

	for (int i = 0; i < info->nattrs; i++)
		if (!pfm_get_event_attr_info(info->idx, i, PFM_OS_PERF_EVENT,
					     &attr) &&
		    attr.type == PFM_ATTR_UMASK)
			return true;
	return false;
}

static int fill_event(const pfm_pmu_info_t *pmu, struct pfm_event *event,
		      const pfm_event_info_t *info)
{
	uint64_t config;

	event->name = strdup(info->name);
	event->desc = strdup(info->desc ? info->desc : info->name);
	if (!event->name || !event->desc)
		return -1;
	for (int i = 0; i < info->nattrs; i++)
		if (add_mask(pmu, event, info->idx, i))
			return -1;
	if (!has_masks(info)) {
		if (!encode(pmu, event->name, "", &config))
			event->left_out++;
		else if (!add_entry(event, "", "No unit mask", config))
			return -1;
	}
	event->combine = can_combine(pmu, event);
	return 0;
}

static int add_event(struct pfm_table *table, const pfm_pmu_info_t *pmu,
		     int index)
{
	pfm_event_info_t info = { .size = sizeof(info) };
	struct pfm_event *more;

	if (pfm_get_event_info(index, PFM_OS_PERF_EVENT, &info) || info.equiv)
		return 0;
	more = reallocarray(table->events, table->nr + 1, sizeof(*more));
	if (!more)
		return -1;
	table->events = more;
	memset(&more[table->nr], 0, sizeof(*more));
	return fill_event(pmu, &more[table->nr++], &info);
}

struct pfm_table *pfm_table_new(const pfm_pmu_info_t *pmu)
{
	struct pfm_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	for (int i = pmu->first_event; i != -1; i = pfm_get_event_next(i))
		if (add_event(table, pmu, i)) {
			pfm_table_free(table);
			return NULL;
		}
	return table;
}

static void release_event(struct pfm_event *event)
{
	for (size_t i = 0; i < event->nr; i++) {
		free(event->entries[i].name);
		free(event->entries[i].desc);
	}
	free(event->entries);
	free(event->name);
	free(event->desc);
}

void pfm_table_free(struct pfm_table *table)
{
	for (size_t i = 0; table && i < table->nr; i++)
		release_event(&table->events[i]);
	if (table)
		free(table->events);
	free(table);
}
