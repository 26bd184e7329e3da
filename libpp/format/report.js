/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The page of a report: a table of symbols, what is known of the chosen one, the
 * flame graph, and a summary. There may be 50,000 symbols, so the table has
 * elements only for the rows in sight, and counts are arrays of numbers: those
 * of each symbol are a run of classes and counts, which are added up anew when
 * another event or thread is chosen. Texts become text nodes, never HTML.
 */
const data = JSON.parse($("data").textContent);
const texts = data.texts, symbols = data.symbols;
const nrSymbols = symbols.name.length, nrClasses = data.classes.length;
const isDiff = data.diff;
const names = makeNames(data.whole_names || []);
const graph = data.tree ? makeFlameGraph(data.tree, names, remember) : null;
const isNarrow = matchMedia("(max-width: 620px)"), isRoomy = matchMedia("(min-width: 1200px)");

/* ---- small things ---- */

/* An element with attributes and children; null children are left out. */
function make(tag, attributes, ...children) {
	const element = document.createElement(tag);

	for (const [key, value] of Object.entries(attributes || {})) {
		if (key.startsWith("on"))
			element[key] = value;
		else if (value !== null && value !== false)
			element.setAttribute(key, value === true ? "" : value);
	}
	element.append(...children.filter(c => c !== null && c !== ""));
	return element;
}

const nameAt = i => texts[symbols.name[i]];
const imageAt = i => texts[symbols.image[i]];
const appAt = i => texts[symbols.app[i]];

/* The last part of a path; memory without a file has slashes in brackets. */
function baseName(path) {
	return /^\S*\/[^/]+$/.test(path) ? path.slice(path.lastIndexOf("/") + 1) : path;
}

/* The same or, where others have this last part, as many parts as it takes to
 * tell them apart: gcc-12/cc1 and kernel/cc1. */
const shortNames = {
	read() {
		const groups = new Map();

		this.map = new Map();
		for (const path of new Set([...symbols.image, ...symbols.app].map(i => texts[i])
			.concat(readApps().flatMap(app => [app.name, ...app.images.map(image => image.name)])))) {
			const base = baseName(path);

			if (base !== path)
				groups.set(base, [...groups.get(base) || [], path]);
		}
		for (let group of groups.values())
			for (let nr = 2; group.length > 1; nr++) {
				const ends = group.map(path => path.split("/").slice(-nr).join("/"));
				const counts = new Map();

				for (const end of ends)
					counts.set(end, (counts.get(end) || 0) + 1);
				group.forEach((path, i) => this.map.set(path, ends[i]));
				group = group.filter((path, i) => counts.get(ends[i]) > 1);
			}
	},
};

function shortName(path) {
	if (!shortNames.map)
		shortNames.read();
	return shortNames.map.get(path) ?? baseName(path);
}

/* Two digits behind the point, as they stand in a column. */
function figure(part, whole) {
	const p = whole ? 100 * part / whole : 0;

	return !part ? "0" : p >= 99.995 ? "100" : p >= 0.005 ? p.toFixed(2) : "<0.01";
}

/* 95 % interval of a share, in percent: Wilson's score interval, as
 * libpp/report/interval.c computes it. */
const Z = 1.959963984540054;
function intervalOf(partCount, wholeCount) {
	if (!wholeCount)
		return [0, 100];
	/* Chosen classes are of one event, and have its scale. */
	const by = data.classes.find((one, c) => isChosen[c])?.scale ?? 1;
	const part = partCount / by, whole = wholeCount / by;
	const p = part / whole, scale = 1 / (1 + Z * Z / whole);
	const middle = scale * (p + Z * Z / (2 * whole));
	const half = scale * Z * Math.sqrt(p * (1 - p) / whole + Z * Z / (4 * whole * whole));

	return [part ? 100 * Math.max(0, middle - half) : 0,
		part < whole ? 100 * Math.min(1, middle + half) : 100];
}

function intervalText(part, whole) {
	return intervalOf(part, whole).map(p => p.toFixed(2)).join("–");
}

const signed = p => p === null ? "+∞" : (p > 0 ? "+" : "") + p.toFixed(Math.abs(p) < 1000 ? 1 : 0);

/* ---- counts: for each symbol how many there are, then class and count ---- */

function runsOf(list) {
	if (!list)
		return null;
	const from = new Uint32Array(nrSymbols + 1);

	for (let i = 0, at = 0; i < nrSymbols; i++) {
		from[i] = at;
		at += 1 + 2 * list[at];
		from[i + 1] = at;
	}
	return { list, from };
}

const runs = {
	self: runsOf(symbols.counts), all: runsOf(symbols.all), old: runsOf(symbols.old),
};
const counts = {}; /* of the chosen classes, for each symbol */
const totals = {}; /* likewise, of all symbols */
const most = {}; /* likewise, of the symbol that has most */

/* Add up the counts of a run at @at in @list, of classes that @isChosen. */
function sumRun(list, at, isChosen) {
	let sum = 0;

	for (let end = at + 1 + 2 * list[at++]; at < end; at += 2)
		if (isChosen[list[at]])
			sum += list[at + 1];
	return sum;
}

/* ---- what is chosen ---- */

/* A cgroup that nobody could tell has a name alone. */
for (const one of data.classes)
	one.cgroup = one.cgroup ?? one.cgroup_name;

/* What samples may be kept apart by, as classes have it. Sessions are apart as
 * events are, since each has a total of its own. */
const FACETS = [["tgid", "Process"], ["tid", "Thread"], ["cgroup", "Cgroup"], ["cpu", "CPU"]];
const MAX_OPTIONS = 2000;
const state = {
	view: "symbols", event: 0, search: "", sort: "", up: false, symbol: -1,
	part: "calls", app: "", facets: {},
};
let isChosen = new Uint8Array(nrClasses); /* by class */
let order = new Uint32Array(0); /* symbols that are shown, sorted */
let rank = null; /* of each symbol, by name */

function chooseClasses() {
	for (let c = 0; c < nrClasses; c++)
		isChosen[c] = data.class_event[c] === state.event &&
			FACETS.every(([key]) => !(key in state.facets) ||
				String(data.classes[c][key]) === state.facets[key]);
}

const sumOf = list => !list ? 0 : list.reduce((sum, n, c) => isChosen[c] ? sum + n : sum, 0);

/* The samples of an application, of the chosen classes. */
function sumOfApp(name) {
	let sum = 0;

	for (const app of readApps())
		if (app.name === name)
			sum += app.count;
	return sum;
}

function countSymbols() {
	chooseClasses();
	for (const key of ["self", "all", "old"]) {
		if (!runs[key])
			continue;
		const sums = counts[key] ||= new Float64Array(nrSymbols);
		const { list, from } = runs[key];

		for (let i = 0; i < nrSymbols; i++)
			sums[i] = state.app && appAt(i) !== state.app ? 0 :
				sumRun(list, from[i], isChosen);
		most[key] = sums.reduce((a, b) => Math.max(a, b), 1);
	}
	totals.self = state.app ? sumOfApp(state.app) : sumOf(data.symbol_totals);
	totals.all = state.app ? totals.self : sumOf(data.totals);
	totals.old = sumOf(data.old_symbol_totals);
}

/* The change of symbol @i, as opreport computed it; of a comparison each event
 * is one class. */
function changeOf(i) {
	const c = data.class_event.indexOf(state.event);
	const [percent, low, high, p, significant] =
		symbols.changes.slice(5 * (i * nrClasses + c), 5 * (i * nrClasses + c) + 5);

	return { percent, low, high, p, significant, presence: symbols.presence[i] };
}

/* The measure of a sample of the chosen event; null if both profiles have not the
 * same, or it is not known. */
function measureOf() {
	const measure = data.compared && data.compared[data.class_event.indexOf(state.event)];

	return measure && "samples" in measure ? measure : null;
}

/* By how many samples symbol @i has changed. */
function differenceOf(i) {
	const at = 4 * (i * nrClasses + data.class_event.indexOf(state.event));
	const [samples, low, high, differs] = symbols.differences.slice(at, at + 4);

	return { samples, low, high, differs };
}

/* Samples as what they stand for, with a sign. */
function quantity(count) {
	const { seconds_per_sample: seconds, events_per_sample: events } = measureOf() || {};
	const sign = count > 0 ? "+" : "";

	return seconds ? sign + (count * seconds).toFixed(Math.max(0, Math.round(-Math.log10(seconds)))) :
		events ? sign + number(count * events) : sign + number(count);
}

const BOTH = 0, NEW = 1, GONE = 2;

function changeText(i) {
	const change = changeOf(i);

	return change.presence === NEW ? "new" : change.presence === GONE ? "gone" :
		signed(change.percent) + " %";
}

function changeInterval(i) {
	const change = changeOf(i);

	return `${signed(change.low)} … ${signed(change.high)}`;
}

/* For sorting: what is new has grown most, and what is gone shrunk. */
function changeValue(i) {
	const change = changeOf(i);

	return change.presence === NEW ? Infinity : change.presence === GONE ? -100 :
		change.percent === null ? Infinity : change.percent;
}

/* ---- applications ---- */

/* Applications with their images and samples of the chosen classes. */
function readApps() {
	const apps = [], list = data.apps;

	for (let at = 0; at < list.length;) {
		const app = { name: texts[list[at++]], images: [] };

		app.count = sumRun(list, at, isChosen);
		at += 1 + 2 * list[at];
		for (let left = list[at++]; left; left--) {
			const name = texts[list[at++]];

			app.images.push({ name, count: sumRun(list, at, isChosen) });
			at += 1 + 2 * list[at];
		}
		apps.push(app);
	}
	return apps;
}

const manyApps = readApps().length > 1;

/* ---- columns ---- */

/* What is shown of a symbol that is gone is what it was. */
const isGone = i => isDiff && symbols.presence[i] === GONE;
const shown = i => isGone(i) ? counts.old[i] : counts.self[i];

const isTimed = isDiff && Boolean(symbols.differences);
const COLUMNS = [
	{ id: "difference", width: "90px", kind: "number", is: () => isTimed,
	  title: isTimed && data.compared.every(m => !m.events_per_sample) ? "Change, s" : "Change",
	  hint: "of its time or events; * is significant after correction for multiple comparisons",
	  text: i => quantity(differenceOf(i).samples) + (differenceOf(i).differs ? " *" : ""),
	  value: i => Math.abs(differenceOf(i).samples) },
	{ id: "difference-interval", title: "95 % interval", width: "120px",
	  kind: "number quiet only-wide", is: () => isTimed,
	  text: i => `${quantity(differenceOf(i).low)} … ${quantity(differenceOf(i).high)}`,
	  value: i => Math.abs(differenceOf(i).samples) },
	{ id: "self", title: "Self %", width: "66px", kind: "number share",
	  text: i => isGone(i) ? "—" : figure(counts.self[i], totals.self),
	  value: i => counts.self[i], part: i => counts.self[i] / most.self },
	{ id: "samples", title: "Samples", width: "74px", kind: "number only-wide",
	  text: i => number(shown(i)), value: shown },
	{ id: "interval", title: "95 % interval", width: "96px", kind: "number quiet only-roomy",
	  is: () => !isDiff, text: i => intervalText(counts.self[i], totals.self),
	  value: i => counts.self[i] },
	{ id: "total", title: "Total %", width: "62px", kind: "number share",
	  is: () => data.has_totals, text: i => figure(counts.all[i], totals.all),
	  value: i => counts.all[i], part: i => counts.all[i] / most.all },
	{ id: "old", title: "Before %", width: "62px", kind: "number",
	  is: () => isDiff, text: i => figure(counts.old[i], totals.old),
	  value: i => counts.old[i] },
	{ id: "change", title: isTimed ? "Share" : "Change", width: "84px", kind: "number",
	  hint: "of its share; * is significant after correction for multiple comparisons",
	  is: () => isDiff, text: i => changeText(i) + (changeOf(i).significant ? " *" : ""),
	  value: changeValue },
	{ id: "change-interval", title: "95 % interval", width: "128px",
	  kind: "number quiet only-wide", is: () => isDiff && !isTimed, text: changeInterval,
	  value: changeValue },
	{ id: "name", title: "Symbol", width: "minmax(0, 4fr)", kind: "name",
	  text: nameAt, isText: true },
	{ id: "image", title: "Image", width: "minmax(0, 1fr)", kind: "quiet only-wide",
	  text: i => shortName(imageAt(i)), isText: true },
	{ id: "app", title: "Application", width: "minmax(0, 1fr)", kind: "quiet only-wide",
	  is: () => manyApps, text: i => shortName(appAt(i)), isText: true },
].filter(column => !column.is || column.is());

const seenColumns = () => COLUMNS.filter(column =>
	!(isNarrow.matches && column.kind.includes("only-")) &&
	!(!isRoomy.matches && column.kind.includes("only-roomy")));
const rowHeight = () => isNarrow.matches ? 42 : 24;
const defaultSort = isTimed ? "difference" : isDiff ? "samples" : "self";

/* ---- sort and search ---- */

function compareTexts(a, b) {
	return a < b ? -1 : a > b ? 1 : 0;
}

function rankNames() {
	const sorted = [...symbols.name.keys()].sort((a, b) =>
		compareTexts(nameAt(a), nameAt(b)) || a - b);

	rank = new Uint32Array(nrSymbols);
	sorted.forEach((i, place) => { rank[i] = place; });
}

function findRows() {
	const pattern = state.search ? compile(state.search) : null;
	const matches = pattern ? texts.map(() => -1) : null; /* by text, once each */
	const test = t => {
		if (matches[t] < 0)
			matches[t] = Number(names.matches(pattern, texts[t]));
		return matches[t];
	};
	const rows = [];

	for (let i = 0; i < nrSymbols; i++)
		if ((counts.self[i] || (counts.all && counts.all[i]) ||
		     (counts.old && counts.old[i])) &&
		    (!pattern || test(symbols.name[i]) || test(symbols.image[i])))
			rows.push(i);
	return Uint32Array.from(rows);
}

function sortRows() {
	const column = COLUMNS.find(c => c.id === (state.sort || defaultSort)) || COLUMNS[0];
	const sign = state.up ? -1 : 1;

	if (!rank)
		rankNames();
	if (column.isText) {
		const words = column.id === "name" ? null :
			Array.from({ length: nrSymbols }, (_, i) => column.text(i));

		order.sort((a, b) => sign * ((words ? compareTexts(words[a], words[b]) : 0) ||
			rank[a] - rank[b]));
		return;
	}
	const values = new Float64Array(nrSymbols);

	for (const i of order)
		values[i] = column.value(i);
	order.sort((a, b) => values[a] === values[b] ? rank[a] - rank[b] :
		sign * (values[a] < values[b] ? 1 : -1));
}

/* ---- the table ---- */

const rows = $("rows"), tall = $("tall");
const pool = []; /* row elements, for as many as are in sight */
const SPARE = 6; /* rows above and below */
const PRINTED = 60;
let isPrinting = false;

function drawHeads() {
	const sorted = state.sort || defaultSort;

	$("table").style.setProperty("--columns", seenColumns().map(c => c.width).join(" "));
	$("heads").replaceChildren(...COLUMNS.map(column => make("span", {
		role: "columnheader", class: column.kind.replace("share", "").replace("name", ""),
		"aria-sort": column.id === sorted ?
			(state.up !== Boolean(column.isText) ? "ascending" : "descending") : null,
	}, make("button", {
		"data-sort": column.id, title: column.hint || null,
		onclick: () => sortBy(column.id),
	}, column.title + (column.id !== sorted ? "" :
		state.up !== Boolean(column.isText) ? " ↑" : " ↓")))));
}

function sortBy(id) {
	const isSame = id === (state.sort || defaultSort);

	show({ sort: id, up: isSame && !state.up });
	rows.scrollTop = 0;
	remember(true);
}

/* Fill @row with symbol order[@at]. */
function fillRow(row, at) {
	const i = order[at], top = at * rowHeight();

	row.style.top = isPrinting ? "" : top + "px";
	row.id = "row-" + i;
	row.dataset.symbol = i;
	row.setAttribute("aria-rowindex", at + 2);
	row.setAttribute("aria-selected", i === state.symbol);
	COLUMNS.forEach((column, c) => {
		const cell = row.children[c], text = column.text(i);

		if (column.id === "name") {
			cell.firstChild.nodeValue = fitCode(names.shown(text), nameRoom);
			cell.lastChild.textContent = shortName(imageAt(i)) +
				(appAt(i) !== imageAt(i) && manyApps ? " · " + shortName(appAt(i)) : "");
			cell.title = names.wholeOf(text);
		} else {
			cell.textContent = text;
			if (column.id === "image")
				cell.title = imageAt(i);
		}
		if (column.part)
			cell.style.setProperty("--part",
				Math.min(100, 100 * column.part(i) || 0).toFixed(1) + "%");
	});
}

/* How many characters of names there is room for in @element, whose font has
 * one width; any number where the page is printed, as lines break there. */
const ruler = document.createElement("canvas").getContext("2d");
function roomIn(element) {
	if (isPrinting || !element)
		return Infinity;
	const style = getComputedStyle(element);

	ruler.font = `12px ${style.getPropertyValue("--mono")}`;
	return Math.floor(element.clientWidth / ruler.measureText("0").width);
}

const fitCode = (name, room) => name.length <= room ? name :
	fitName(name, text => text.length <= room);
let nameRoom = Infinity; /* of the table */

function makeRow() {
	return make("div", { role: "row", class: "row" }, ...COLUMNS.map(column =>
		column.id === "name" ?
			make("span", { role: "gridcell", class: column.kind }, " ", make("small")) :
			make("span", { role: "gridcell", class: column.kind })));
}

function drawRows() {
	const height = rowHeight();
	const seen = Math.ceil(rows.clientHeight / height) + 2 * SPARE;
	const from = isPrinting ? 0 : Math.max(0, Math.floor(rows.scrollTop / height) - SPARE);
	const to = Math.min(order.length, from + (isPrinting ? PRINTED : seen));

	nameRoom = roomIn($("heads").children[COLUMNS.findIndex(c => c.id === "name")]);
	$("table").style.setProperty("--row", height + "px");
	tall.style.height = Math.max(order.length * height, 1) + "px";
	while (pool.length < to - from)
		pool.push(makeRow());
	for (let at = from; at < to; at++)
		fillRow(pool[at - from], at);
	const used = pool.slice(0, to - from);

	if (tall.childElementCount !== used.length || tall.firstElementChild !== used[0])
		tall.replaceChildren(...used);
	if (!order.length)
		tall.replaceChildren(make("p", { class: "empty" }, nrSymbols ?
			"No symbol is found. Escape ends the search." : "There are no symbols."));
	tall.style.minHeight = order.length ? "" : "80px";
	$("table").setAttribute("aria-rowcount", order.length + 1);
	$("table").setAttribute("aria-activedescendant",
		state.symbol >= 0 && $("row-" + state.symbol) ? "row-" + state.symbol : "");
}

function tellFound() {
	$("found").textContent = state.search && state.view !== "graph" ?
		`${number(order.length)} of ${number(nrSymbols)}` : "";
}

/* Bring the chosen symbol into sight. */
function bringRow() {
	const at = order.indexOf(state.symbol), height = rowHeight();

	if (at < 0)
		return;
	if (at * height < rows.scrollTop)
		rows.scrollTop = at * height;
	else if ((at + 1) * height > rows.scrollTop + rows.clientHeight)
		rows.scrollTop = (at + 1) * height - rows.clientHeight;
}

let isPending = false;
rows.addEventListener("scroll", () => {
	if (!isPending)
		requestAnimationFrame(() => { isPending = false; drawRows(); });
	isPending = true;
});
rows.addEventListener("click", event => {
	const row = event.target.closest(".row");

	if (!row)
		return;
	choose(Number(row.dataset.symbol));
	openChosen(true);
});

/* In a narrow window the table and the chosen symbol take turns. */
function openChosen(isOpen) {
	$("symbols").classList.toggle("is-open", isOpen);
}

new ResizeObserver(drawRows).observe(rows);

/* Keys that choose a row, of the table and where nothing has the focus. */
document.addEventListener("keydown", event => {
	const isFree = event.target === document.body && !$("help").open;

	if (state.view !== "symbols" || !(isFree || $("table").contains(event.target)))
		return;
	const at = order.indexOf(state.symbol);
	const page = Math.max(1, Math.floor(rows.clientHeight / rowHeight()) - 1);
	const last = order.length - 1;
	const to = {
		ArrowDown: at + 1, ArrowUp: Math.max(0, at - 1), PageDown: at + page,
		PageUp: at - page, Home: 0, End: last,
	}[event.key];

	if (event.key === "Enter" && event.target.tagName !== "BUTTON" && at >= 0) {
		openChosen(true);
		$("part").focus();
	}
	if (to === undefined || event.ctrlKey || event.metaKey || event.altKey || last < 0)
		return;
	event.preventDefault();
	$("table").focus({ preventScroll: true });
	choose(order[Math.min(last, Math.max(0, to))]);
});

/* ---- callers and callees ---- */

/* Frames of the call tree by name and image. */
const framesOf = new Map();

if (data.tree)
	data.tree.frames.forEach(([name, image], f) => {
		const key = name + "\0" + (image >= 0 ? data.tree.images[image] : "");

		framesOf.set(key, [...framesOf.get(key) || [], f]);
	});

const symbolsOf = new Map(); /* their numbers, likewise */
for (let i = 0; i < nrSymbols; i++) {
	const key = nameAt(i) + "\0" + imageAt(i), known = symbolsOf.get(key);

	if (known)
		known.push(i);
	else
		symbolsOf.set(key, [i]);
}

/* The frames of symbol @s. Code without symbols is called by its image in
 * brackets there, and by its image in tables. */
function framesOfSymbol(s) {
	const name = nameAt(s), image = imageAt(s);

	return new Set(framesOf.get(name + "\0" + image) || (name === image &&
		framesOf.get(`[${baseName(image)}]\0${image}`)) || []);
}

/* The symbol of a frame: of the application @app, if it is in several. */
function symbolOfFrame(name, image, app) {
	const known = symbolsOf.get(name + "\0" + image) ||
		(name.startsWith("[") && symbolsOf.get(image + "\0" + image));

	return !known ? -1 : (app && known.find(i => appAt(i) === app)) ?? known[0];
}

function rootOf(i) {
	while (graph.depth[i] > 1)
		i = graph.parent[i];
	return i;
}

/*
 * Who calls symbol @s, and whom it calls, in stacks of its application. A stack
 * counts once for each pair, however often one calls the other in it.
 */
function findNeighbours(s) {
	const frames = framesOfSymbol(s);
	const all = graph.all[graph.state.column], self = graph.self[graph.state.column];
	const nrFrames = data.tree.frames.length;
	const callers = new Float64Array(nrFrames), callees = new Float64Array(nrFrames);
	const callerEnd = new Uint32Array(nrFrames), calleeEnd = new Uint32Array(nrFrames);
	let total = 0, own = 0, end = 0, isOther = false;

	for (let i = 1; i < graph.nr; i++) {
		const f = graph.frame[i], p = graph.parent[i], pf = graph.frame[p];

		if (graph.depth[i] === 1)
			isOther = manyApps && graph.kindOf(i) === "root" &&
				graph.imageOf(i) && graph.imageOf(i) !== appAt(s);
		if (isOther)
			continue;
		if (frames.has(f)) {
			own += self[i];
			if (i >= end) {
				total += all[i];
				end = i + graph.size[i];
			}
			if (p && i >= callerEnd[pf]) {
				callers[pf] += all[i];
				callerEnd[pf] = i + graph.size[i];
			}
		}
		if (frames.has(pf) && i >= calleeEnd[f]) {
			callees[f] += all[i];
			calleeEnd[f] = i + graph.size[i];
		}
	}
	const list = sums => [...sums.keys()].filter(f => sums[f])
		.sort((a, b) => sums[b] - sums[a] || a - b)
		.map(f => ({ name: data.tree.frames[f][0],
			     image: data.tree.images[data.tree.frames[f][1]] || "",
			     kind: data.tree.frames[f][2], count: sums[f] }));

	return { total, own, callers: list(callers), callees: list(callees) };
}

const MAX_CALLS = 200;

function drawCall(call, total) {
	const to = call.kind ? symbolOfFrame(call.name, call.image, appAt(state.symbol)) : -1;

	return make("button", {
		class: "call", disabled: to < 0, title: `${names.wholeOf(call.name)}\n${call.image}`,
		onclick: () => { choose(to); bringRow(); },
	},
	make("span", { class: "number share",
		style: `--part: ${(100 * call.count / total).toFixed(1)}%` },
	     figure(call.count, total)),
	make("span", { class: "number quiet" }, number(call.count)),
	make("span", { class: "name" }, names.shown(call.name)));
}

/* The list is on the page now, so that there is a width to fit names into. */
function fitCalls(part) {
	const cells = [...part.querySelectorAll(".call .name")], room = roomIn(cells[0]);

	for (const cell of cells)
		cell.textContent = fitCode(cell.textContent, room);
}

function drawCalls(part) {
	if (!graph) {
		part.append(make("p", { class: "empty" }, NO_STACKS));
		return;
	}
	const found = findNeighbours(state.symbol);
	const list = (title, calls, own) => [
		make("h3", {}, title),
		...own ? [drawCall({ name: "(its own code)", count: own }, found.total)] : [],
		...calls.slice(0, MAX_CALLS).map(call => drawCall(call, found.total)),
		...calls.length > MAX_CALLS ? [make("p", { class: "quiet" },
			`and ${number(calls.length - MAX_CALLS)} more`)] : [],
		...!calls.length && !own ? [make("p", { class: "quiet" }, "none")] : [],
	];

	if (!found.total) {
		part.append(make("p", { class: "empty" }, "No stack that is shown has this function."));
		return;
	}
	part.append(make("div", { class: "calls" },
		make("p", { class: "quiet" }, `${number(found.total)} ${found.total === 1 ? "sample" : "samples"} ` +
			`${isDiff ? "of the later profile " : ""}${found.total === 1 ? "has" : "have"} it on the stack` +
			(symbols.vma[state.symbol] === "inlined" ? " (estimated, as it is inlined):" : ":")),
		...list("Callers", found.callers, 0), ...list("Callees", found.callees, found.own)));
	fitCalls(part);
}

/* ---- source and assembly ---- */

/* The code of symbol @s, if it is among that of the hottest. */
function codeOf(s) {
	const same = data.code ? data.code.symbols.filter(c =>
		texts[c.name] === nameAt(s) && texts[c.image] === imageAt(s)) : [];

	return same.find(c => c.vma === symbols.vma[s]) || same[0] || null;
}

/* The samples of the chosen event in each of the runs @runs; null: there are no
 * such runs. */
function eventCounts(runs) {
	const only = new Uint8Array(data.events.length), counts = [];

	only[state.event] = 1;
	for (let at = 0; runs && at < runs.length; at += 1 + 2 * runs[at])
		counts.push(sumRun(runs, at, only));
	return runs ? counts : null;
}

/* Its instructions, with the samples of the chosen event, and those that pass. */
function instructionsOf(code) {
	const counts = eventCounts(code.counts), passed = eventCounts(code.totals);
	let address = BigInt("0x" + code.start);

	return code.text.map((text, n) => {
		address += BigInt(code.step[n]);
		return { address, text: texts[text], file: code.place[2 * n],
			 line: code.place[2 * n + 1], count: counts[n],
			 passed: passed && passed[n] };
	});
}

/* How warm a line is: lightness grows with its part of the hottest one. */
function warmth(count, most) {
	return count ? (0.06 + 0.5 * Math.sqrt(count / most)).toFixed(3) : "0";
}

/* @passed samples are in what the line calls, too; null: that is not known. */
function drawLine(label, count, total, most, text, passed) {
	return make("div", { class: "line" + (count ? " warm" : ""),
			     style: count ? `--warmth: ${warmth(count, most)}` : null,
			     "data-count": count || null, "data-weight": passed || count || null },
		make("span", {}, label),
		make("span", { class: "share", title: count ? `${number(count)} samples` : null },
		     count ? figure(count, total) : ""),
		...passed === null ? [] : [make("span", { class: "share",
			title: passed ? `${number(passed)} samples in it and in what it calls` : null },
			passed ? figure(passed, eventCounts(data.code.all)[0]) : "")],
		make("span", {}, text));
}

/* The titles of its columns, where there are two of figures. */
const lineTitles = code => !code.totals ? [] : [make("div", { class: "line titles" },
	make("span", {}), make("span", { class: "share" }, "self %"),
	make("span", { class: "share" }, "total %"), make("span", {}))];
const codeClass = code => "code" + (code.totals ? " has-totals" : "");

const whyNoCode = s => !data.code ? "This page has no code." :
	!symbols.vma[s] ? "The functions of this binary are not known, so there is no code to show." :
	`This page has the code of functions with at least ${data.code.threshold} % of ` +
	`the samples${data.code.more ? `, of the ${data.code.max} hottest` : ""}.`;

function drawAssembly(part, code) {
	const list = instructionsOf(code);
	const total = list.reduce((sum, insn) => sum + insn.count, 0);
	const most = Math.max(...list.map(insn => insn.count), 1);
	const digits = list[list.length - 1].address.toString(16).length;
	const box = make("div", { class: codeClass(code) + " assembly",
				  style: `--digits: ${digits}` }, ...lineTitles(code));
	let file = -1, line = -1, next = null;

	for (const [n, insn] of list.entries()) {
		if (next !== null && code.cut && n && insn.address - next > 15n)
			box.append(make("div", { class: "gap" }, "⋯"));
		next = insn.address;
		if (insn.line && (insn.file !== file || insn.line !== line)) {
			({ file, line } = insn);
			box.append(make("div", { class: "from" },
				`${baseName(data.code.files[file][0])}:${line}  ` +
				(sourceLines(file).get(line) || "").trim()));
		}
		box.append(drawLine(insn.address.toString(16), insn.count, total, most,
			insn.text, insn.passed));
	}
	part.append(box);
}

/* The lines of a file that are in the page, by number. */
const readFiles = new Map();
function sourceLines(file) {
	if (!readFiles.has(file)) {
		const lines = new Map();

		for (const [from, ...run] of data.code.files[file].slice(2))
			run.forEach((text, n) => lines.set(from + n, text));
		readFiles.set(file, lines);
	}
	return readFiles.get(file);
}

/* Lines around @lines, which have instructions, that are shown with them. */
const AROUND = 4, BETWEEN = 40;

function linesToShow(file, counts) {
	const known = sourceLines(file), wanted = [...counts.keys()].sort((a, b) => a - b);
	const result = [];
	let last = 0;

	for (const line of wanted) {
		const from = last && line - last <= BETWEEN ? last + 1 :
			Math.max(line - AROUND, last ? last + AROUND + 1 : 1, 1);

		for (let at = last + 1; last && at < from && at <= last + AROUND; at++)
			if (known.has(at))
				result.push(at);
		for (let at = from; at <= line; at++)
			if (known.has(at) || at === line)
				result.push(at);
		last = line;
	}
	for (let at = last + 1; at <= last + AROUND; at++)
		if (known.has(at))
			result.push(at);
	return result;
}

function drawSource(part, code) {
	const files = new Map(), passed = new Map(), passing = eventCounts(code.line_totals);
	let total = 0, most = 1;

	for (const insn of instructionsOf(code)) {
		total += insn.count;
		if (!insn.line)
			continue;
		if (!files.has(insn.file))
			files.set(insn.file, new Map());
		const lines = files.get(insn.file);
		const sum = (lines.get(insn.line) || 0) + insn.count;

		lines.set(insn.line, sum);
		most = Math.max(most, sum);
	}
	(passing || []).forEach((count, n) => {
		const [file, line] = code.lines.slice(2 * n);

		if (!count)
			return;
		if (!files.has(file))
			files.set(file, new Map());
		files.get(file).set(line, files.get(file).get(line) || 0);
		passed.set(`${file}:${line}`, count);
	});
	if (!files.size) {
		part.append(make("p", { class: "empty" },
			"The source lines are not known: compile with -g or install the debug symbols."));
		return;
	}
	const weight = lines => [...lines.values()].reduce((a, b) => a + b, 0);
	const mostPassed = ([file, lines]) => [...lines.keys()].reduce((found, line) =>
		Math.max(found, passed.get(`${file}:${line}`) || 0), 0);
	/* Its own lines come before those of what was inlined there. */
	const sorted = [...files].sort((a, b) => mostPassed(b) - mostPassed(a) ||
		weight(b[1]) - weight(a[1]) || a[0] - b[0]);
	const box = make("div", { class: codeClass(code) }, ...lineTitles(code));

	for (const [file, lines] of sorted) {
		const [name, isMissing] = data.code.files[file];
		let last = 0;

		box.append(make("div", { class: "file" }, `${name} · ${figure(weight(lines), total)} %` +
			(isMissing ? " · the file was not there when the page was made" : "")));
		for (const line of linesToShow(file, lines)) {
			if (last && line > last + 1)
				box.append(make("div", { class: "gap" }, "⋯"));
			last = line;
			box.append(drawLine(line, lines.get(line) || 0, total, most,
				sourceLines(file).get(line) || "",
				passing && (passed.get(`${file}:${line}`) || 0)));
		}
	}
	part.append(box);
}

/* To the next line with samples, hottest first. */
function nextHot() {
	const hot = [...$("part").querySelectorAll(".line.warm")]
		.map((line, n) => [line, Number(line.dataset.count), n])
		.sort((a, b) => b[1] - a[1] || a[2] - b[2]).map(([line]) => line);
	const at = hot.findIndex(line => line.classList.contains("at"));
	const to = hot[(at + 1) % hot.length];

	if (!to)
		return;
	if (at >= 0)
		hot[at].classList.remove("at");
	to.classList.add("at");
	to.scrollIntoView({ block: "center", inline: "nearest" });
}

/* ---- the chosen symbol ---- */

const PARTS = [["calls", "Callers & callees"], ["source", "Source"], ["assembly", "Assembly"]];

function drawFigures(s) {
	const box = make("div", { class: "figures" });
	const add = (title, count, total) => box.append(make("div", {},
		make("p", {}, make("b", {}, figure(count, total) + " %"), " " + title),
		make("span", { title: "samples and 95 % interval" },
			`${number(count)} samples, ${intervalText(count, total)} %`)));

	if (!isGone(s))
		add("itself", counts.self[s], totals.self);
	if (counts.all)
		add("with callees", counts.all[s], totals.all);
	if (isDiff) {
		const change = changeOf(s);

		if (change.presence !== NEW)
			add("before", counts.old[s], totals.old);
		if (isTimed && measureOf()) {
			const { samples, low, high, differs } = differenceOf(s);
			const unit = measureOf().seconds_per_sample ? " s" : "";

			box.append(make("div", {},
				make("p", {}, make("b", {}, quantity(samples) + unit),
					` change, ${quantity(low)} … ${quantity(high)}`),
				make("span", {}, differs ?
					"significant after correction for multiple comparisons" : "may be chance")));
		}
		box.append(make("div", {},
			make("p", {}, make("b", {}, changeText(s)),
				change.presence === BOTH ? ` change of its share, ${changeInterval(s)} %` : ""),
			make("span", {}, change.significant ? "significant after correction for multiple comparisons" :
				"may be chance", ` (p = ${change.p.toPrecision(2)})`)));
	}
	return box;
}

function drawPart() {
	const part = $("part");

	part.replaceChildren();
	part.scrollTop = 0;
	for (const button of document.querySelectorAll("[data-part]"))
		button.setAttribute("aria-selected", button.dataset.part === state.part);
	if (state.part === "calls") {
		drawCalls(part);
		return;
	}
	const code = codeOf(state.symbol);

	if (!code || code.problem || !code.text.length)
		part.append(make("p", { class: "empty" }, !code ? whyNoCode(state.symbol) :
			code.problem ? `Its code is not shown: ${code.problem}.` :
				"None of its code is in the binary."));
	else if (state.part === "source")
		drawSource(part, code);
	else
		drawAssembly(part, code);
	const hottest = [...part.querySelectorAll(".line[data-weight]")].reduce((a, b) =>
		!a || Number(b.dataset.weight) > Number(a.dataset.weight) ? b : a, null);

	if (hottest && hottest.offsetTop > part.offsetTop + part.clientHeight - 60)
		part.scrollTop = hottest.offsetTop - part.offsetTop - part.clientHeight / 2;
	if (code && code.text.length)
		part.prepend(make("p", { class: "calls quiet" },
			(code.vma === "inlined" ? "This function was inlined; the instructions are those of its inlined copies that have samples. " :
				code.cut ? "This function is large; only instructions near samples are shown. " : "") +
			"Percentages are relative to this code, including functions inlined into it, in all programs and threads" +
			(isDiff ? ", of the later profile." : ".") +
			(code.totals ? " Total is the share of all samples in a line and in what it calls." : "")));
}

function showPart(part) {
	show({ part });
	remember(true);
}

function drawChosen() {
	const s = state.symbol, box = $("chosen");

	if (s < 0) {
		box.replaceChildren(make("p", { class: "empty" },
			"Choose a symbol to see its callers, callees and code."));
		return;
	}
	const node = graph ? widestNode(s) : -1;

	box.replaceChildren(
		make("div", { class: "about" },
			make("button", { class: "back", onclick: () => openChosen(false) }, "← Symbols"),
			make("h2", { tabindex: 0 }, names.shown(nameAt(s))),
			make("p", { class: "where" }, imageAt(s) +
				(appAt(s) !== imageAt(s) ? " in " + appAt(s) : "") +
				(symbols.vma[s] === "inlined" ? " · inlined" :
					symbols.vma[s] ? " · 0x" + symbols.vma[s] : "")),
			drawFigures(s)),
		make("div", { class: "parts", role: "tablist", "aria-label": "Of this symbol" },
			...PARTS.map(([id, title]) => make("button", {
				role: "tab", "data-part": id, title: id[0], "aria-controls": "part",
				onclick: () => showPart(id) }, title)),
			make("button", { class: "in-graph", title: "f", disabled: node < 0,
				onclick: showInGraph }, "In the flame graph")),
		make("div", { id: "part", role: "tabpanel", tabindex: 0 }));
	drawPart();
}

function choose(s) {
	show({ symbol: s });
	bringRow();
	remember(true);
}

/* ---- the flame graph ---- */

const NO_STACKS = "The samples have no stacks, so callers are not known; " +
	"profile with operf --callgraph or opcontrol --callgraph.";

/* The widest node of symbol @s; -1 if it is in no stack. */
function widestNode(s) {
	const frames = framesOfSymbol(s);
	const all = graph.all[graph.state.column];
	let best = -1;

	for (let i = 1; frames.size && i < graph.nr; i++)
		if (frames.has(graph.frame[i]) && all[i] && (best < 0 || all[i] > all[best]) &&
		    !(manyApps && graph.imageOf(rootOf(i)) &&
		      graph.imageOf(rootOf(i)) !== appAt(s)))
			best = i;
	return best;
}

function showInGraph() {
	const node = state.symbol >= 0 && graph ? widestNode(state.symbol) : -1;

	if (node < 0)
		return;
	show({ view: "graph" });
	graph.go({ zoom: node });
	remember();
}

/* The frame that is pointed at, or zoomed, as a symbol. */
function openSymbol() {
	const i = graph ? graph.current() : 0;
	const root = i ? graph.imageOf(rootOf(i)) : "";
	const s = i ? symbolOfFrame(graph.nameOf(i), graph.imageOf(i), root) : -1;

	if (s < 0)
		return;
	show({ view: "symbols", symbol: s });
	openChosen(true);
	bringRow();
	remember();
}

const ROOT = 0; /* the kind of frames that stand for applications and threads */

/* Whether the stacks of root frame @f are shown. */
function keepsRoot([, image, kind, tgid, tid]) {
	const { facets } = state;

	return kind !== ROOT ||
		((!state.app || data.tree.images[image] === state.app) &&
		 (facets.tgid === undefined || String(tgid) === facets.tgid) &&
		 (facets.tid === undefined || String(tid) === facets.tid));
}

/* For each root frame the one that stands for its application, however its
 * stacks are kept apart by threads: those of all threads are then one. */
function findAppFrames() {
	const frames = data.tree.frames, known = new Map();

	return frames.map(([, image, kind, tgid], f) => {
		if (kind !== ROOT || tgid === undefined)
			return f;
		if (!known.has(image)) {
			known.set(image, frames.length);
			frames.push([baseName(data.tree.images[image]), image, ROOT]);
		}
		return known.get(image);
	});
}

const appFrames = data.tree ? findAppFrames() : [];

/*
 * The tree of the stacks that are chosen, with those of the threads of one
 * application put together, as the nodes of a flame graph. Nodes that become one
 * are found by parent and frame; children are in the order of their names.
 */
function chooseNodes() {
	const { frames, nodes, columns } = data.tree;
	const nr = columns.length, width = 2 + nr;
	const to = new Uint32Array(nodes.length / width); /* of each node, its place in: */
	const merged = [{ frame: nodes[1], counts: nodes.slice(2, width), children: null }];
	const result = [];

	for (let i = 1, at = width, skip = 0; at < nodes.length; i++, at += width) {
		const up = to[i - nodes[at]], isTop = nodes[at] === i;
		const f = isTop ? appFrames[nodes[at + 1]] : nodes[at + 1];

		if (isTop)
			skip = !keepsRoot(frames[nodes[at + 1]]);
		if (skip)
			continue;
		const known = (merged[up].children ||= new Map()).get(f);

		to[i] = known ?? merged.length;
		if (known === undefined) {
			merged[up].children.set(f, merged.length);
			merged.push({ frame: f, counts: nodes.slice(at + 2, at + width), children: null });
		} else {
			for (let c = 0; c < nr; c++)
				merged[known].counts[c] += nodes[at + 2 + c];
		}
	}
	const stack = [[0, 0]]; /* nodes to write, with the places of their parents */

	for (let place = 0; stack.length; place++) {
		const [n, up] = stack.pop();
		const { frame, counts, children } = merged[n];

		result.push(place - up, frame, ...counts);
		for (const child of [...children ? children.values() : []].sort((a, b) =>
			compareTexts(frames[merged[b].frame][0], frames[merged[a].frame][0])))
			stack.push([child, place]);
	}
	return result;
}

const isApart = appFrames.some((to, f) => to !== f);

function filterGraph() {
	const isAll = !state.app && !("tgid" in state.facets) && !("tid" in state.facets);

	graph.replace(isAll && !isApart ? data.tree.nodes : chooseNodes());
}

function tellGraphNotes() {
	const column = graph.state.column;
	const lines = data.tree.columns[column].notes.slice();

	if (isDiff)
		lines.push(...data.tree.columns[column + graph.nrClasses].notes
			.map(t => "Earlier profile: " + t));
	for (const [key, title, all] of [["cgroup", "cgroup", "cgroups"], ["cpu", "CPU", "CPUs"]])
		if (key in state.facets)
			lines.push(`Stacks are not kept apart by ${title}: these are of all ${all}.`);
	$("graph-notes").replaceChildren(...lines.map(text => make("p", {}, text)));
}

function showGraph() {
	if (!graph) {
		$("graph-none").hidden = false;
		$("graph-none").replaceChildren(make("p", { class: "empty" }, NO_STACKS));
		for (const id of ["tools", "legend", "view", "details"])
			$(id).hidden = true;
		return;
	}
	graph.show({
		column: Math.max(0, data.events[state.event].column),
		search: state.search,
	});
	$("basis").value = graph.state.basis;
	tellGraphNotes();
}

/* ---- the summary ---- */

function card(title, ...children) {
	return make("section", { class: "card" }, make("h2", {}, title), ...children);
}

function pairs(list) {
	return make("dl", {}, ...list.flatMap(([term, text]) =>
		[make("dt", {}, term), make("dd", {}, text)]));
}

const words = name => name.replace(/_/g, " ");

/* A time of the profile, which may be of another place than its reader. */
const timeText = seconds => new Date(1000 * seconds).toISOString().slice(0, 16).replace("T", " ") + " UTC";

function accountCard(account, written, title) {
	const whole = account.taken || 1;
	const causes = Object.entries(account.causes).filter(([, n]) => n);
	const part = (n, colour) => make("i", { style: `width: ${100 * n / whole}%; background: ${colour}` });
	const stacks = account.stacks;

	return card(title,
		make("div", { class: "meter", role: "img",
			"aria-label": `${percent(account.stored, whole)} stored` },
			part(account.stored, "var(--accent)"),
			...account.lost ? [part(account.lost, "var(--lost)")] : []),
		pairs([
			["Taken", number(account.taken)],
			["Stored", `${number(account.stored)} (${percent(account.stored, whole)})`],
			["Lost", `${number(account.lost)} (${percent(account.lost, whole)})`],
			...causes.map(([name, n]) => ["· " + words(name), number(n)]),
			...account.pending ? [["Pending", number(account.pending)]] : [],
			...written ? [["Stored last", timeText(written)]] : [],
			["Source", account.source],
			...account.cost ? [["Cost of profiling", `${account.cost.percent.toFixed(2)} % of all CPUs`]] : [],
			...!stacks ? [] : [["Stacks", ["whole", "guessed", "truncated", "other_stack", "no_unwind_data", "no_memory", "broken", "not_stored"]
				.filter(what => stacks[what] || what === "whole")
				.map(what => `${number(stacks[what] || 0)} ${words(what)}`).join(", ")]],
		]));
}

/* The run, as far as the session knows it. */
function runCard(run, title) {
	const seconds = ns => (ns / 1e9).toFixed(2) + " s";

	return card(title, pairs([
		...run.command ? [["Command", run.command]] : [],
		...run.wall_ns ? [["Time", seconds(run.wall_ns)]] : [],
		...run.cpu_ns ? [["CPU time", seconds(run.cpu_ns)]] : [],
		...run.host ? [["Host", run.host]] : [],
		...run.user ? [["User", run.user]] : [],
		...run.kernel ? [["Kernel", "Linux " + run.kernel]] : [],
		...run.start ? [["Started", timeText(run.start)]] : [],
		...run.note ? [["Note", run.note]] : [],
	]));
}

const runCards = () => [
	...data.account && data.account.run ? [runCard(data.account.run,
		isDiff ? "What ran (later session)" : "What ran")] : [],
	...data.old_account && data.old_account.run ? [runCard(data.old_account.run,
		"What ran (earlier session)")] : [],
];

function appsCard() {
	const total = state.app ? totals.self : sumOf(data.totals);
	const apps = readApps().filter(app => app.count && (!state.app || app.name === state.app))
		.sort((a, b) => b.count - a.count);
	const row = (thing, kind, whole) => make("tr", { class: kind },
		make("td", { class: "number" }, figure(thing.count, whole) + " %"),
		make("td", { class: "number" }, number(thing.count)),
		make("td", { title: thing.name }, kind ? shortName(thing.name) : thing.name));
	const shownApps = apps.slice(0, 100);
	const box = card("Applications and their images", make("table", {},
		make("thead", {}, make("tr", {}, make("th", { class: "number" }, "Share"),
			make("th", { class: "number" }, "Samples"), make("th", {}, "Name"))),
		make("tbody", {}, ...shownApps.flatMap(app => [row(app, "", total),
			...app.images.filter(image => image.count).sort((a, b) => b.count - a.count)
				.slice(0, 12).map(image => row(image, "inner", total))]))));

	if (apps.length > shownApps.length)
		box.append(make("p", { class: "quiet" },
			`and ${number(apps.length - shownApps.length)} more`));
	box.classList.add("wide");
	return box;
}

/* Both sides of a comparison may have the same. */
const allWarnings = () => [...new Set([...data.warnings, ...data.code_warnings])];

/* Warnings that say the same of different things are one, as opreport prints
 * them. */
function warningsCard(warnings) {
	const groups = new Map();

	for (const text of warnings) {
		const cause = text.slice(Math.max(0, text.indexOf(": ")));

		groups.set(cause, [...groups.get(cause) || [], text]);
	}
	const box = card("Warnings", make("ul", {}, ...[...groups].flatMap(([, [first, ...others]]) =>
		others.length < 2 ? [first, ...others].map(text => make("li", {}, text)) :
			[make("li", {}, make("details", {},
				make("summary", {}, `${first} (and ${others.length} more likewise)`),
				...others.map(text => make("div", { class: "quiet" }, text))))])));

	box.classList.add("wide");
	return box;
}

function drawSummary() {
	const isFolded = line => (data.folded || []).some(name => line.startsWith(`${name}: `));
	const lines = (data.counted || "").split("\n")
		.filter(line => line && !/^(Samples|Stacks|Builds|Run)/.test(line));
	const counted = lines.filter(line => !isFolded(line));
	const isHidden = line => line.startsWith("Hidden: ");
	const warnings = allWarnings();
	const builds = data.builds;

	$("summary").replaceChildren(make("div", { class: "cards" },
		...runCards(),
		card("Recording", pairs([
			["CPU", (counted[0] || "").replace(/^CPU: /, "")],
			...counted.slice(1).filter(line => !isHidden(line)).map(line =>
				[/^(Threads|Waited) /.test(line) ? "Time" : "Event", line]),
			...counted.filter(isHidden).map(line => ["Hidden", line.replace(/^Hidden: /, "")]),
			["Samples", number(sumOf(data.totals)) + (data.events.length > 1 ?
				` of ${data.events[state.event].name}` : "")],
			...isDiff ? [["Before", number(sumOf(data.old_totals))]] : [],
			["Symbols", number(nrSymbols)],
			...data.classes.filter((one, c) => isChosen[c] && one.scale).slice(0, 1).map(one =>
				["Time counted", `${one.time_counted_percent.toFixed(1)} %: counts are scaled by ` +
					`${one.scale.toPrecision(4)}, intervals widened`]),
			...builds.length ? [["Builds added up", Array.from({ length: builds.length / 2 },
				(_, n) => `${builds[2 * n + 1]} of ${baseName(builds[2 * n])}`).join(", ")]] : [],
			...lines.filter(isFolded).map(line => ["Frames", line]),
			...data.command ? [["Report made by", data.command]] : [],
		])),
		...data.account ? [accountCard(data.account, data.account_written, isDiff ?
			"Where the samples went (later session)" : "Where the samples went")] :
			[card("Where the samples went", make("p", {}, "The session has no account of its samples."))],
		...data.old_account ? [accountCard(data.old_account, data.old_account_written,
			"Where the samples went (earlier session)")] : [],
		card("How far to trust a share", make("p", {},
			"Samples are random draws of what the machine did, so a share of few samples is uncertain. " +
			"The 95 % interval holds the true share in 19 of 20 such profiles; two shares whose intervals overlap may well be equal." +
			(isDiff ? " A change marked * is significant after correction for multiple comparisons; others may be chance." : ""))),
		...warnings.length ? [warningsCard(warnings)] : [], appsCard()));
}

/* ---- event and filters ---- */

/* The classes' values of @key, with their samples; most first. */
function valuesOf(key) {
	const sums = new Map();

	data.classes.forEach((one, c) => {
		if (data.class_event[c] === state.event && one[key] !== undefined)
			sums.set(String(one[key]), (sums.get(String(one[key])) || 0) + data.totals[c]);
	});
	return [...sums].sort((a, b) => b[1] - a[1] || Number(a[0]) - Number(b[0]));
}

/* @isSet: something is left out. */
function addFilter(title, id, options, value, isSet, chosen) {
	const list = make("select", { id: "filter-" + id, class: isSet ? "is-set" : null });

	for (const [key, text] of options)
		list.add(new Option(text, key, false, key === value));
	list.onchange = () => { chosen(list.value); remember(); };
	$("filters").append(make("label", {}, title + " ", list));
}

function drawFilters() {
	const focus = document.activeElement && document.activeElement.id;

	$("filters").replaceChildren();
	if (data.events.length > 1)
		addFilter("Event", "event", data.events.map((event, n) => [String(n), event.name]),
			String(state.event), "", value => show({ event: Number(value) }));
	if (manyApps || state.app)
		addFilter("Application", "app", [["", "all"], ...readApps()
			.sort((a, b) => b.count - a.count).slice(0, MAX_OPTIONS)
			.map(app => [app.name, shortName(app.name)])], state.app, state.app,
			value => show({ app: value }));
	for (const [key, title] of FACETS) {
		const values = valuesOf(key);
		const total = values.reduce((sum, [, n]) => sum + n, 0);

		if (values.length < 2 && !(key in state.facets))
			continue;
		addFilter(title, key, [["", "all"], ...values.slice(0, MAX_OPTIONS).map(([value, n]) =>
			[value, `${labelOf(key, value)} · ${percent(n, total)}`])], state.facets[key] ?? "",
			key in state.facets, value => {
				const facets = { ...state.facets };

				delete facets[key];
				if (value)
					facets[key] = value;
				show({ facets });
			});
	}
	if (focus && focus.startsWith("filter-") && $(focus))
		$(focus).focus();
}

/* The application with most samples of each class. */
let classApps = null;

function findClassApps() {
	const most = new Float64Array(nrClasses), list = data.apps;

	classApps = new Array(nrClasses).fill("");
	const take = (at, name) => {
		for (let end = at + 1 + 2 * list[at++]; at < end; at += 2)
			if (list[at + 1] > most[list[at]]) {
				most[list[at]] = list[at + 1];
				classApps[list[at]] = name;
			}
		return at;
	};

	for (let at = 0; at < list.length;) {
		const name = baseName(texts[list[at++]]);

		at = take(at, name);
		for (let left = list[at++]; left; left--)
			at += 2 + 2 * list[at + 1];
	}
}

/* What the process, or the thread, of class @c is called. Without a recorded name
 * a process is called by its application, where there are several of these. */
function taskNameOf(c, key) {
	const { process, thread, tgid, tid } = data.classes[c];
	const name = process ?? (manyApps || thread ? classApps[c] : "");

	return key === "tgid" || tid === tgid || !(process || thread) ? name :
		`${name}/${thread ?? "?"}`;
}

/* A cgroup by what people call it, unless another is called so, too. */
function cgroupNameOf(c) {
	const { cgroup, cgroup_name: name } = data.classes[c];

	return data.classes.some(one => one.cgroup_name === name && one.cgroup !== cgroup) ?
		cgroup : name;
}

function labelOf(key, value) {
	const c = data.classes.findIndex(one => String(one[key]) === value);

	if (key === "cpu" || c < 0)
		return value;
	if (key === "cgroup")
		return cgroupNameOf(c);
	if (!classApps)
		findClassApps();
	const name = taskNameOf(c, key);

	return name ? `${name} ${value}` : value;
}

/* ---- going somewhere ---- */

const VIEWS = ["symbols", "graph", "summary"];

/* Show what @to changes of the state. */
function show(to) {
	const isNew = key => key in to && to[key] !== state[key];
	const recount = isNew("event") || isNew("app") || isNew("facets");
	const refind = recount || isNew("search");
	const redraw = refind || isNew("sort") || isNew("up") || isNew("symbol") || isNew("view");

	if (recount)
		readFiles.clear();
	Object.assign(state, to);
	for (const view of VIEWS) {
		$(view).hidden = view !== state.view;
		$("tab-" + view).setAttribute("aria-selected", view === state.view);
		$("tab-" + view).tabIndex = view === state.view ? 0 : -1;
	}
	if (recount)
		countSymbols();
	if (recount)
		drawFilters();
	if (refind)
		order = findRows();
	if (refind || isNew("sort") || "sort" in to || "up" in to)
		sortRows();
	if ("sort" in to || "up" in to)
		drawHeads();
	if (redraw || "sort" in to)
		drawRows();
	if (graph && recount)
		filterGraph();
	if (state.view === "graph")
		showGraph();
	if (state.view === "summary")
		drawSummary();
	if (recount || "symbol" in to)
		drawChosen();
	else if ("part" in to && state.symbol >= 0)
		drawPart();
	if (document.activeElement !== $("search"))
		$("search").value = state.search;
	tellFound();
	tellAbout();
}

function tellAbout() {
	const account = data.account;
	const run = account && account.run || {};

	$("about").textContent = data.change ? data.change.split("\n")[state.event] || data.change : [
		run.command ? run.command.slice(0, 60) + (run.command.length > 60 ? "…" : "") : "",
		run.host || "", data.cpu.title, data.events.length === 1 ? data.events[0].name : "",
		`${number(totals.self)} samples`,
		account ? (account.lost ? `${percent(account.lost, account.taken)} lost` : "none lost") : "",
	].filter(text => text).join(" · ");
}

function toHash() {
	const to = new URLSearchParams();

	for (const key of ["view", "search", "sort", "app", "part"])
		if (state[key] && state[key] !== { view: "symbols", part: "calls" }[key])
			to.set(key, state[key]);
	if (state.event)
		to.set("event", state.event);
	if (state.up)
		to.set("up", 1);
	if (names.isWhole)
		to.set("names", "full");
	if (state.symbol >= 0)
		to.set("symbol", state.symbol);
	for (const [key, value] of Object.entries(state.facets))
		to.set(key, value);
	if (graph && state.view === "graph") {
		const own = new URLSearchParams();

		graph.toWords(own);
		for (const key of ["zoom", "kind", "widths"])
			if (own.has(key))
				to.set(key, own.get(key));
		if (own.get("view"))
			to.set("icicle", 1);
	}
	return to.toString();
}

function remember(replace) {
	const to = "#" + toHash();

	if (graph && state.search !== graph.state.search && state.view === "graph") {
		state.search = graph.state.search;
		$("search").value = state.search;
	}
	if (graph)
		tellOpen();
	if (to !== location.hash && (to !== "#" || location.hash))
		history[replace ? "replaceState" : "pushState"](null, "", to);
}

function tellOpen() {
	const i = graph.state.zoom;

	$("open").disabled = !i || symbolOfFrame(graph.nameOf(i), graph.imageOf(i), "") < 0;
}

function restore() {
	const from = new URLSearchParams(location.hash.slice(1));
	const inRange = (key, end, without) => {
		const n = Number(from.get(key) ?? "x");

		return Number.isInteger(n) && n >= 0 && n < end ? n : without;
	};
	const one = (key, list, without) => list.includes(from.get(key)) ? from.get(key) : without;
	const facets = {};

	showNames(from.get("names") === "full");
	for (const [key] of FACETS)
		if (data.classes.some(c => String(c[key]) === from.get(key)))
			facets[key] = from.get(key);
	show({
		view: one("view", VIEWS, "symbols"), event: inRange("event", data.events.length, 0),
		search: from.get("search") || "", sort: one("sort", COLUMNS.map(c => c.id), ""),
		up: from.has("up"), symbol: inRange("symbol", nrSymbols, -1),
		part: one("part", PARTS.map(([id]) => id), "calls"),
		app: readApps().some(app => app.name === from.get("app")) ? from.get("app") : "",
		facets,
	});
	if (state.symbol < 0 && order.length && !isNarrow.matches)
		show({ symbol: order[0] });
	bringRow();
	if (graph) {
		const words = new URLSearchParams(from);

		words.delete("view");
		if (from.has("icicle"))
			words.set("view", "icicle");
		const { zoom, kind, icicle, basis } = graph.fromWords(words);

		graph.show({ zoom, kind, icicle, basis });
		$("basis").value = basis;
		tellOpen();
	}
}

/* Show names in whole, or short. */
function showNames(isWhole) {
	if (!names.hasWhole || names.isWhole === isWhole)
		return;
	names.isWhole = isWhole;
	$("names").setAttribute("aria-pressed", isWhole);
	drawRows();
	drawChosen();
	if (graph)
		graph.rename();
}

function switchNames() {
	showNames(!names.isWhole);
	remember(true);
}

/* ---- keys ---- */

function toView(view) {
	show({ view });
	remember();
	if (view === "graph" && graph)
		$("view").focus({ preventScroll: true });
	if (view === "symbols")
		$("table").focus({ preventScroll: true });
}

function stepBack() {
	if (state.view === "graph" && graph && !state.search) {
		graph.leave();
	} else if (state.search) {
		show({ search: "" });
		$("search").value = "";
		remember(true);
	}
	openChosen(false);
	if (document.activeElement === $("search") || $("chosen").contains(document.activeElement))
		(state.view === "graph" ? $("view") : $("table")).focus({ preventScroll: true });
}

const KEYS = {
	"/": () => { $("search").focus(); $("search").select(); },
	"?": () => $("help").showModal(),
	"1": () => toView("symbols"),
	"2": () => toView("graph"),
	"3": () => toView("summary"),
	c: () => state.symbol >= 0 && showPart("calls"),
	s: () => state.symbol >= 0 && showPart("source"),
	a: () => state.symbol >= 0 && showPart("assembly"),
	n: () => state.view === "symbols" && nextHot(),
	f: showInGraph,
	o: openSymbol,
	i: () => graph && state.view === "graph" && graph.go({ icicle: !graph.state.icicle }),
	m: switchNames,
	t: switchTheme,
};

document.addEventListener("keydown", event => {
	const typing = event.target === $("search") || event.target.tagName === "SELECT";

	if ($("help").open || event.ctrlKey || event.metaKey || event.altKey)
		return;
	if (event.key === "Escape") {
		stepBack();
	} else if (event.target === $("search") && ["Enter", "ArrowDown"].includes(event.key)) {
		if (state.view === "symbols" && order.length)
			choose(order[0]);
		(state.view === "graph" ? $("view") : $("table")).focus({ preventScroll: true });
		event.preventDefault();
	} else if (!typing && Object.hasOwn(KEYS, event.key)) {
		KEYS[event.key]();
		event.preventDefault();
	}
});

/* In a list of tabs, arrows go to the next one. */
document.addEventListener("keydown", event => {
	const tab = event.target.closest('[role="tab"]');

	if (!tab || !["ArrowLeft", "ArrowRight"].includes(event.key))
		return;
	const tabs = [...tab.parentElement.querySelectorAll('[role="tab"]')];
	const to = tabs[(tabs.indexOf(tab) + (event.key === "ArrowLeft" ? tabs.length - 1 : 1)) % tabs.length];

	to.focus();
	event.preventDefault();
});

/* ---- light and dark ---- */

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function switchTheme() {
	const root = document.documentElement;
	const isDark = root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches;

	root.dataset.theme = isDark ? "light" : "dark";
	if (graph)
		graph.recolour();
}

/* ---- the beginning ---- */

document.title = $("title").textContent = data.title;
$("theme").onclick = switchTheme;
$("names").hidden = !names.hasWhole;
$("names").onclick = switchNames;
$("help-button").onclick = () => $("help").showModal();
$("open").onclick = openSymbol;
$("basis-label").hidden = !isDiff;
$("basis").onchange = () => graph.go({ basis: $("basis").value });
for (const view of VIEWS)
	$("tab-" + view).onclick = () => toView(view);
if (data.warnings.length) {
	const nr = new Set(data.warnings).size; /* those of sources are in the summary */

	$("warned").hidden = false;
	$("warned").append(make("span", {}, nr === 1 ? "1 warning:" : nr + " warnings:"),
		make("button", { onclick: () => toView("summary") }, data.warnings[0]));
}
$("search").addEventListener("input", () => {
	show({ search: $("search").value });
	rows.scrollTop = 0;
	remember(true);
});
window.addEventListener("popstate", restore);
window.addEventListener("hashchange", restore);
prefersDark.addEventListener("change", () => graph && graph.recolour());
for (const query of [isNarrow, isRoomy])
	query.addEventListener("change", () => { drawHeads(); drawRows(); });
/* On paper, the first rows, in light colours. */
let themeOnScreen;
window.addEventListener("beforeprint", () => {
	themeOnScreen = document.documentElement.dataset.theme;
	document.documentElement.dataset.theme = "light";
	isPrinting = true;
	drawRows();
});
window.addEventListener("afterprint", () => {
	if (themeOnScreen)
		document.documentElement.dataset.theme = themeOnScreen;
	else
		delete document.documentElement.dataset.theme;
	isPrinting = false;
	drawRows();
});

countSymbols();
if (graph && isApart)
	filterGraph();
drawFilters();
order = findRows();
sortRows();
drawHeads();
restore();
