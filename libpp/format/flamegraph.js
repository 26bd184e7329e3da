"use strict";
/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The flame graph of a call tree, for each page that shows one: flamegraph.html
 * and report.html. It is drawn into the elements of flamegraph_view.html, one
 * canvas with the frames that are in sight, as there may be hundreds of
 * thousands. What is said about a frame has a place of its own with a fixed
 * height, and a click looks up the frame at its own place: so no name, however
 * long, moves a frame away from under the pointer.
 */
const $ = id => document.getElementById(id);

const number = n => Math.round(n).toLocaleString("en");

function percent(part, whole) {
	if (!whole)
		return "0 %";
	const p = 100 * part / whole;

	return (p >= 99.995 || p === 0 ? p.toFixed(0) :
		p >= 0.01 ? p.toFixed(2) : p.toPrecision(1)) + " %";
}

/* The pattern that a reader means: small letters stand for both, and what is
 * no regular expression (yet) is searched as it is. */
function compile(text) {
	const flags = text === text.toLowerCase() ? "i" : "";

	try {
		return new RegExp(text, flags);
	} catch {
		return new RegExp(text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"), flags);
	}
}

/* ---- names ---- */

/* How many characters at @i of @name are the sign of an operator: its angles and
 * parentheses are no brackets. */
function operatorLength(name, i) {
	if (i < 8 || !name.startsWith("operator", i - 8))
		return 0;
	let end = i;

	while (end < name.length && "<>=-()[]".includes(name[end]) && end - i < 3)
		end++;
	if (end - i === 2 && name.startsWith("<<", i) && end < name.length &&
	    !"(< ".includes(name[end]))
		end--; /* "operator<<int>" is operator< of int */
	while (end - i > 1 && name[end - 1] === "(")
		end--;
	return end - i;
}

/* Call @take for each character that may be a bracket. */
function eachBracket(name, take) {
	for (let i = 0; i < name.length; i++) {
		const skipped = operatorLength(name, i);

		if (skipped)
			i += skipped - 1;
		else if ("<>()".includes(name[i]) && !(name[i] === ">" && name[i - 1] === "-"))
			take(name[i], i);
	}
}

/* How deep brackets of the kind @open are in each other; 0 if they do not match. */
function depthOfBrackets(name, open) {
	const close = open === "<" ? ">" : ")";
	let depth = 0, deepest = 0, matches = true;

	eachBracket(name, c => {
		depth += c === open ? 1 : c === close ? -1 : 0;
		deepest = Math.max(deepest, depth);
		matches &&= depth >= 0;
	});
	return matches && !depth ? deepest : 0;
}

/* Dots for what is in brackets @wanted deep. */
function foldBrackets(name, open, wanted) {
	const close = open === "<" ? ">" : ")";
	let result = "", depth = 0, from = 0;

	eachBracket(name, (c, i) => {
		if (c === open && ++depth === wanted) {
			result += name.slice(from, i + 1);
			from = i + 1;
		} else if (c === close && depth-- === wanted) {
			result += i - from > 1 ? "…" : name.slice(from, i);
			from = i;
		}
	});
	return result + name.slice(from);
}

/* Where the last part of a name begins, which is the method. */
function methodOf(name) {
	const ends = []; /* brackets outside of others, from and to */
	let depth = 0, from = 0, found = 0;

	eachBracket(name, (c, i) => {
		if ("<(".includes(c) && !depth++)
			ends.push([from, i]);
		else if (">)".includes(c) && depth && !--depth)
			from = i + 1;
	});
	if (!depth)
		ends.push([from, name.length]);
	for (const [begin, end] of ends) {
		const at = name.slice(begin, end).lastIndexOf("::");

		if (at >= 0 && begin + at + 2 < name.length)
			found = begin + at + 2;
	}
	return found;
}

/* The longest text of @make(n) that @fits, with n up to @most; "" for none. */
function longest(make, most, fits) {
	let low = 0, high = most;

	while (low < high) {
		const middle = (low + high + 1) >> 1;

		if (fits(make(middle)))
			low = middle;
		else
			high = middle - 1;
	}
	return low > 0 ? make(low) : "";
}

/*
 * @name, as short as it must be: template arguments are left out first, then
 * parameters, then what is before the method, and only at last its end. This is
 * what libpp/format/text/text_fit.c does on a terminal.
 */
function fitName(name, fits) {
	for (const open of "<(")
		for (let depth = depthOfBrackets(name, open); depth && !fits(name); depth--)
			name = foldBrackets(name, open, depth);
	if (fits(name))
		return name;
	const at = methodOf(name), method = name.slice(at);

	if (at && fits("…::" + method))
		return longest(n => name.slice(0, n) + "…::" + method, at, fits) ||
			"…::" + method;
	if (at && fits(method))
		return method;
	const bare = method.replace("(…)", "");

	if (fits(bare))
		return bare;
	const end = longest(n => method.slice(0, n).replace(/…$/, "") + "…", method.length, fits);

	return end.length > 2 ? end : "";
}

/* The names of a page: short ones, or the whole ones of the pairs @list. */
function makeNames(list) {
	const whole = new Map();

	for (let i = 0; i < list.length; i += 2)
		whole.set(list[i], list[i + 1]);
	return {
		isWhole: false,
		hasWhole: whole.size > 0,
		wholeOf: name => whole.get(name) ?? name,
		shown(name) { return this.isWhole ? this.wholeOf(name) : name; },
		/* A search finds either. */
		matches: (pattern, name) => pattern.test(name) ||
			(whole.has(name) && pattern.test(whole.get(name))),
	};
}

/*
 * The graph of @data, as format_flamegraph.c writes it. @went(replace) is called
 * when it shows something else, which its toWords() tells; with @replace that
 * is not worth a step back. @names are those of makeNames().
 */
function makeFlameGraph(data, names, went) {
const ROW = 18;
const KINDS = ["root", "app", "library", "kernel", "anon", "gap", "cut", "wait"];
const KIND_TEXTS = {
	root: "application or thread", app: "application", library: "library",
	kernel: "kernel", anon: "memory without a file (JIT)",
	gap: "stacks not whole", cut: "left out", wait: "waiting",
};

/* ---- the tree: arrays by node, a parent before its children ---- */

const nrColumns = data.columns.length;
let nr, parent, frame, depth;
let size; /* with all below it */
let all, self; /* for each column: samples of each node */
let start; /* where it begins, in what widths are */

/* Take a tree: for each node how far back its parent is, frame, own counts. */
function load(nodes) {
	nr = nodes.length / (2 + nrColumns);
	parent = new Uint32Array(nr);
	frame = new Uint32Array(nr);
	depth = new Uint32Array(nr);
	size = new Uint32Array(nr).fill(1);
	start = new Float64Array(nr);
	all = data.columns.map(() => new Float64Array(nr));
	self = data.columns.map(() => new Float64Array(nr));
	for (let i = 0, at = 0; i < nr; i++) {
		parent[i] = i - nodes[at++];
		frame[i] = nodes[at++];
		depth[i] = i ? depth[parent[i]] + 1 : 0;
		for (let c = 0; c < nrColumns; c++)
			all[c][i] = self[c][i] = nodes[at++];
	}
	for (let i = nr - 1; i > 0; i--) {
		size[parent[i]] += size[i];
		for (let c = 0; c < nrColumns; c++)
			all[c][parent[i]] += all[c][i];
	}
}

const nameOf = i => data.frames[frame[i]][0];
const imageOf = i => data.images[data.frames[frame[i]][1]] || "";

/* Threads also run in the functions of the kernel in which others wait. */
function kindOfFrame(f) {
	const kind = KINDS[data.frames[f][2]];

	return kind === "wait" && !data.columns[state.column].waits ? "kernel" : kind;
}

const kindOf = i => kindOfFrame(frame[i]);

/* ---- what is shown ---- */

const state = { column: 0, basis: "later", zoom: 0, search: "", kind: "", icicle: false };
let selected = -1; /* by the keyboard */
let hovered = -1;
let width = null; /* of each node, in samples or shares */
let matches = null; /* by frame; null: no search */
let theme = {};
let drawn = { hidden: 0, height: 0 };

const isDiff = data.diff;
/* In a comparison the old columns are behind the others. */
const nrClasses = isDiff ? nrColumns / 2 : nrColumns;
const oldColumn = () => state.column + nrClasses;

/* The share of a frame of all samples. */
const share = (column, i) => all[column][0] ? all[column][i] / all[column][0] : 0;

function layOut() {
	const now = all[state.column];

	if (!isDiff || state.basis === "later") {
		width = now;
	} else if (state.basis === "earlier") {
		width = all[oldColumn()];
	} else {
		width = new Float64Array(nr);
		for (let i = 0; i < nr; i++)
			width[i] = (share(state.column, i) + share(oldColumn(), i)) / 2;
	}
	const next = new Float64Array(nr);

	for (let i = 0; i < nr; i++) {
		start[i] = i ? next[parent[i]] : 0;
		if (i)
			next[parent[i]] += width[i];
		next[i] = start[i];
	}
}

/* ---- search ---- */

function findMatches() {
	if (!state.search && !state.kind) {
		matches = null;
		return;
	}
	const pattern = state.search ? compile(state.search) : null;

	matches = data.frames.map(([name, image], f) => state.kind ?
		kindOfFrame(f) === state.kind :
		names.matches(pattern, name) || (image >= 0 && pattern.test(data.images[image])));
}

const isMatch = i => matches !== null && matches[frame[i]];

/* Samples of @column in stacks that hold a match, at @zoom. */
function countMatches(zoom, column) {
	for (let i = zoom; ; i = parent[i]) {
		if (isMatch(i))
			return all[column][zoom];
		if (!i)
			break;
	}
	let sum = 0;

	for (let i = zoom + 1; i < zoom + size[zoom];) {
		if (isMatch(i)) {
			sum += all[column][i];
			i += size[i];
		} else {
			i++;
		}
	}
	return sum;
}

/* Own samples of code of @kind are what the legend tells. */
function countKind(kind) {
	let sum = 0;

	for (let i = 0; i < nr; i++)
		if (kindOf(i) === kind)
			sum += kind === "gap" ? topGap(i) : self[state.column][i];
	return sum;
}

function topGap(i) {
	for (let p = i; p; p = parent[p])
		if (p !== i && kindOf(p) === "gap")
			return 0;
	return all[state.column][i];
}

/* ---- colours ---- */

function readTheme() {
	const style = getComputedStyle(document.documentElement);

	theme = {};
	for (const name of [...KINDS, "match", "same", "more", "less", "field",
			    "frame-ink", "soft", "ink", "accent", "line"])
		theme[name] = style.getPropertyValue("--" + name).trim();
}

function channels(colour) {
	const n = parseInt(colour.slice(1), 16);

	return [n >> 16, n >> 8 & 255, n & 255];
}

function mix(a, b, part) {
	const x = channels(a), y = channels(b);
	const z = x.map((v, i) => Math.round(v + (y[i] - v) * part));

	return `rgb(${z.join()})`;
}

/* Neighbours of one kind differ a little, by their names. */
function tint(i) {
	const name = nameOf(i);
	let hash = 0;

	for (let c = 0; c < name.length; c++)
		hash = (hash * 31 + name.charCodeAt(c)) >>> 0;
	return hash % 1000 / 1000;
}

/* How a share changed: -1 (gone) to 1 (new), and whether by chance. */
function change(i) {
	const now = share(state.column, i), old = share(oldColumn(), i);
	const nrNow = all[state.column][0], nrOld = all[oldColumn()][0];
	const larger = Math.max(now, old);
	const measure = data.columns[state.column];

	if (measure.grain) {
		/* Samples of both stand for the same, so they can be compared. */
		const a = all[state.column][i], b = all[oldColumn()][i];

		return { now, old, part: (a - b) / Math.max(a, b, 1),
			 chance: Math.abs(a - b) < 2 * Math.sqrt(measure.grain * (a + b)) };
	}
	const p = (all[state.column][i] + all[oldColumn()][i]) / (nrNow + nrOld);
	const error = Math.sqrt(p * (1 - p) * (1 / nrNow + 1 / nrOld));

	return {
		now, old,
		part: larger ? (now - old) / larger : 0,
		chance: !error || Math.abs(now - old) < 2 * error,
	};
}

function diffColour(i) {
	const c = change(i);
	const strength = c.chance ? 0 : Math.abs(c.part);

	return mix(theme.same, c.part > 0 ? theme.more : theme.less, strength);
}

function colourOf(i) {
	const kind = kindOf(i);

	if (isMatch(i))
		return theme.match;
	if (isDiff && kind !== "cut")
		return diffColour(i);
	if (kind === "root" || kind === "gap" || kind === "cut")
		return theme[kind];
	return mix(theme[kind], "#ffffff", 0.28 * tint(i));
}

/* ---- drawing ---- */

const canvas = $("canvas"), view = $("view"), space = $("space");
const context = canvas.getContext("2d");
const FONT = '12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';

function maxDepth() {
	let max = 0;

	for (let i = state.zoom; i < state.zoom + size[state.zoom]; i++)
		if (width[i] && depth[i] > max)
			max = depth[i];
	return max;
}

/* The top of a row in the whole picture, which has the root at one end. */
function rowTop(row) {
	return state.icicle ? row * ROW : drawn.height - (row + 1) * ROW;
}

function hatch(x, y, w) {
	context.save();
	context.beginPath();
	context.rect(x, y, w, ROW - 1);
	context.clip();
	context.strokeStyle = "rgb(0 0 0 / 22%)";
	context.lineWidth = 2;
	context.beginPath();
	for (let at = x - ROW; at < x + w; at += 7) {
		context.moveTo(at, y + ROW);
		context.lineTo(at + ROW, y);
	}
	context.stroke();
	context.restore();
}

function drawFrame(i, x, w, top) {
	const y = top - view.scrollTop;
	const dim = (matches !== null && !isMatch(i)) || i < state.zoom;

	context.globalAlpha = dim ? 0.45 : 1;
	context.fillStyle = colourOf(i);
	context.fillRect(x, y, Math.max(w - (w > 3 ? 1 : 0.25), 0.5), ROW - 1);
	if (kindOf(i) === "gap" && w > 3)
		hatch(x, y, w - 1);
	if (w > 22) {
		context.globalAlpha = dim ? 0.8 : 1;
		context.fillStyle = theme[dim ? "ink" : "frame-ink"];
		context.fillText(fitName(names.shown(nameOf(i)), text =>
			context.measureText(text).width <= w - 8), x + 4, y + ROW / 2);
	}
	context.globalAlpha = 1;
	if (i === selected) {
		context.strokeStyle = theme.accent;
		context.lineWidth = 2;
		context.strokeRect(x + 1, y + 1, Math.max(w - 3, 2), ROW - 3);
	}
}

/* Neighbours that are too narrow become one run, grey if nothing in it matches. */
function drawRun(run) {
	if (!run)
		return;
	context.fillStyle = run.match ? theme.match : theme.soft;
	context.globalAlpha = run.match ? 1 : 0.35;
	context.fillRect(run.from, run.top - view.scrollTop,
			 Math.max(run.to - run.from, 0.5), ROW - 1);
	context.globalAlpha = 1;
}

function isVisible(top) {
	return top + ROW > view.scrollTop && top < view.scrollTop + view.clientHeight;
}

function drawBelow(zoom, pixels) {
	const scale = width[zoom] ? pixels / width[zoom] : 0;
	const runs = new Map(); /* by row */
	let hidden = 0;

	for (let i = zoom; i < zoom + size[zoom];) {
		const x = (start[i] - start[zoom]) * scale, w = width[i] * scale;
		const top = rowTop(depth[i]);

		if (w >= 1 || i === zoom) {
			if (isVisible(top))
				drawFrame(i, x, w, top);
			i++;
			continue;
		}
		if (w > 0) {
			const run = runs.get(depth[i]);
			let match = false;

			for (let j = i; j < i + size[i]; j++) {
				hidden += width[j] > 0;
				match ||= isMatch(j);
			}
			if (run && run.match === match && x - run.to < 1) {
				run.to = x + w;
			} else {
				if (run && isVisible(run.top))
					drawRun(run);
				runs.set(depth[i], { from: x, to: x + w, top, match });
			}
		}
		i += size[i];
	}
	for (const run of runs.values())
		if (isVisible(run.top))
			drawRun(run);
	drawn.hidden = hidden;
}

function draw() {
	const ratio = window.devicePixelRatio || 1;
	const w = view.clientWidth, h = view.clientHeight;

	if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
		canvas.width = Math.round(w * ratio);
		canvas.height = Math.round(h * ratio);
		canvas.style.width = w + "px";
		canvas.style.height = h + "px";
	}
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, w, h);
	context.font = FONT;
	context.textBaseline = "middle";
	for (let i = state.zoom; i;) {
		i = parent[i];
		if (isVisible(rowTop(depth[i])))
			drawFrame(i, 0, w, rowTop(depth[i]));
	}
	drawBelow(state.zoom, w);
	tellHidden();
}

let pending = false;

function redraw() {
	if (pending)
		return;
	pending = true;
	requestAnimationFrame(() => {
		pending = false;
		draw();
	});
}

/* The whole picture gets another height: stay at the root of it. */
function resize() {
	drawn.height = Math.max((maxDepth() + 1) * ROW, view.clientHeight);
	space.style.height = drawn.height + "px";
	view.scrollTop = state.icicle ? 0 : drawn.height;
	redraw();
}

/* ---- words ---- */

/* Samples of a comparison as what they stand for. */
function quantity(count) {
	const { seconds, events } = data.columns[state.column];

	return seconds ? (count * seconds).toFixed(2) + " s" :
		number(count * events);
}

function changeText(i) {
	const c = change(i);

	if (data.columns[state.column].grain)
		return `${quantity(all[oldColumn()][i])} → ${quantity(all[state.column][i])}` +
			(c.chance ? ", which may be chance" : "");
	const points = 100 * (c.now - c.old);

	if (!points)
		return percent(c.now, 1) + " as before";
	return `${percent(c.old, 1)} → ${percent(c.now, 1)} ` +
		`(${points > 0 ? "+" : ""}${points.toFixed(2)} points` +
		(c.chance ? ", which may be chance" : "") + ")";
}

function countText(i) {
	const column = state.column, zoom = state.zoom;
	const count = all[column][i];
	const seconds = data.columns[column].sample_seconds;
	const amount = n => seconds ? (n * seconds).toFixed(3) + " s" : number(n);
	let text = amount(count) + (seconds ? "" : count === 1 ? " sample" : " samples") +
		`, ${percent(count, all[column][0])}`;

	if (zoom && i >= zoom)
		text += ` (${percent(all[column][i], all[column][zoom])} of what is zoomed)`;
	if (self[column][i] && self[column][i] !== count)
		text += `; itself ${amount(self[column][i])}, ${percent(self[column][i], all[column][0])}`;
	return text;
}

function describe(i) {
	const lines = [countText(i)];
	const image = imageOf(i);

	if (isDiff)
		lines.push((data.columns[state.column].grain ? "" : "share ") + changeText(i));
	if (i)
		lines.push((kindOf(i) === "wait" ? `waiting for: ${data.frames[frame[i]][3]}; kernel` :
			KIND_TEXTS[kindOf(i)]) + (image ? ": " + image : ""));
	return lines;
}

function fill(element, i) {
	const name = document.createElement("b");

	name.textContent = names.shown(nameOf(i));
	element.replaceChildren(name);
	element.append((element.id === "tip" ? "" : " — ") +
		describe(i).join(element.id === "tip" ? "\n" : "; "));
}

function tellFrame() {
	const i = hovered >= 0 ? hovered : selected >= 0 ? selected : state.zoom;

	fill($("details"), i);
}

function tellHidden() {
	const note = $("hidden");

	note.textContent = !drawn.hidden ? "" :
		`${number(drawn.hidden)} frames are narrower than a pixel ` +
		"and drawn in grey; zoom in to see them.";
}

function tellMatches() {
	const column = state.column;

	if (matches === null) {
		$("match").textContent = "";
		return;
	}
	const sum = countMatches(state.zoom, column);

	$("match").textContent = "matched " + percent(sum, all[column][state.zoom]) +
		(isDiff ? ", before " + percent(countMatches(state.zoom, oldColumn()),
			all[oldColumn()][state.zoom]) : "");
}

function tellZoom() {
	$("reset").disabled = !state.zoom;
	$("zoomed").textContent = state.zoom ? "zoomed: " + names.shown(nameOf(state.zoom)) : "";
	$("icicle").setAttribute("aria-pressed", state.icicle);
}

function addLegend(text, colour, kind) {
	const item = document.createElement(kind ? "button" : "span");
	const chip = document.createElement("span");

	chip.className = kind === "gap" ? "chip hatched" : "chip";
	chip.style.backgroundColor = colour;
	item.append(chip, text);
	if (kind) {
		item.setAttribute("aria-pressed", state.kind === kind);
		item.title = "Highlight these";
		item.onclick = () => go({ kind: state.kind === kind ? "" : kind, search: "" });
	} else {
		item.style.cssText = "display: inline-flex; gap: 6px; align-items: center";
	}
	$("legend").append(item);
}

function tellLegend() {
	const total = all[state.column][0];

	$("legend").replaceChildren();
	if (isDiff) {
		const { grain, seconds } = data.columns[state.column];
		const [more, less] = !grain ? ["larger share", "smaller share"] :
			seconds ? ["more time", "less time"] : ["more events", "fewer events"];

		addLegend(more + " than before", "var(--more)");
		addLegend(less, "var(--less)");
		addLegend("no change beyond chance", "var(--same)");
		return;
	}
	for (const kind of ["app", "library", "kernel", "wait", "anon", "gap", "cut"]) {
		const sum = countKind(kind);

		if (sum || ["app", "library", "kernel"].includes(kind))
			addLegend(`${KIND_TEXTS[kind]} ${percent(sum, total)}`,
				  `var(--${kind})`, kind);
	}
}

/* ---- going somewhere ---- */

/* What is shown, in words of a URL. */
function toWords(words) {
	if (state.zoom)
		words.set("zoom", state.zoom);
	if (state.search)
		words.set("search", state.search);
	if (state.kind)
		words.set("kind", state.kind);
	if (state.icicle)
		words.set("view", "icicle");
	if (state.column)
		words.set("column", state.column);
	if (state.basis !== "later")
		words.set("widths", state.basis);
}

function fromWords(words) {
	const inRange = (text, end) => {
		const n = Number(text);

		return Number.isInteger(n) && n >= 0 && n < end ? n : 0;
	};

	return {
		zoom: inRange(words.get("zoom"), nr),
		search: words.get("search") || "",
		kind: KINDS.includes(words.get("kind")) ? words.get("kind") : "",
		icicle: words.get("view") === "icicle",
		column: inRange(words.get("column"), nrClasses),
		basis: ["earlier", "both"].includes(words.get("widths")) ?
			words.get("widths") : "later",
	};
}

function show(to) {
	Object.assign(state, to);
	layOut();
	findMatches();
	resize();
	tellLegend();
	tellZoom();
	tellMatches();
	tellFrame();
}

/* Show what @to changes of the state, and tell the page that. */
function go(to, replace) {
	if (Object.keys(to).every(key => state[key] === to[key]))
		return;
	show(to);
	went(replace);
}

/* One step out: the search first, then the zoom. */
function leave() {
	selected = -1;
	if (state.search || state.kind)
		go({ search: "", kind: "" });
	else
		go({ zoom: 0 });
	redraw();
}

/* ---- the pointer ---- */

/* The frame at a point of the view; -1 for none. */
function frameAt(x, y) {
	const at = y + view.scrollTop;
	const level = Math.floor((state.icicle ? at : drawn.height - at) / ROW);

	if (level < 0)
		return -1;
	if (level < depth[state.zoom]) {
		let i = state.zoom;

		while (depth[i] > level)
			i = parent[i];
		return i;
	}
	const zoom = state.zoom, scale = view.clientWidth / width[zoom];
	let i = width[zoom] ? zoom : nr;

	while (i < zoom + size[zoom]) {
		const from = (start[i] - start[zoom]) * scale, to = from + width[i] * scale;

		if (x < from || x >= to || to - from < 1) {
			i += size[i];
		} else if (depth[i] === level) {
			return i;
		} else {
			i++;
		}
	}
	return -1;
}

function placeTip(x, y) {
	const tip = $("tip"), box = tip.getBoundingClientRect();
	const left = Math.min(x + 14, innerWidth - box.width - 8);
	const below = y + 18 + box.height < innerHeight;

	tip.style.left = Math.max(left, 8) + "px";
	tip.style.top = (below ? y + 18 : y - box.height - 10) + "px";
}

/* The frame that a mouse is on. */
function frameOf(event) {
	const box = view.getBoundingClientRect();

	return frameAt(event.clientX - box.left - view.clientLeft,
		       event.clientY - box.top - view.clientTop);
}

view.addEventListener("mousemove", event => {
	const i = frameOf(event);

	if (i !== hovered) {
		hovered = i;
		tellFrame();
		if (i >= 0)
			fill($("tip"), i);
	}
	view.style.cursor = i >= 0 ? "pointer" : "";
	$("tip").hidden = i < 0;
	if (i >= 0)
		placeTip(event.clientX, event.clientY);
});
view.addEventListener("mouseleave", () => {
	hovered = -1;
	$("tip").hidden = true;
	tellFrame();
});
view.addEventListener("click", event => {
	const i = frameOf(event);

	if (i < 0)
		return;
	selected = hovered = -1;
	$("tip").hidden = true;
	go({ zoom: i });
	tellFrame();
});
view.addEventListener("scroll", redraw);

/* ---- keys ---- */

/* The nearest sibling in direction @step that is seen, or @i. */
function sibling(i, step) {
	let best = i;

	if (i <= state.zoom)
		return i;
	for (let j = parent[i] + 1; j < parent[i] + size[parent[i]]; j += size[j]) {
		if (!width[j])
			continue;
		if (step < 0 && j < i)
			best = j;
		if (step > 0 && j > i)
			return j;
	}
	return best;
}

/* The widest child, or @i. */
function child(i) {
	let best = i;

	for (let j = i + 1; j < i + size[i]; j += size[j])
		if (width[j] && (best === i || width[j] > width[best]))
			best = j;
	return best;
}

/* The child of @i on the way to what is zoomed. */
function towardZoom(i) {
	let at = state.zoom;

	while (parent[at] !== i)
		at = parent[at];
	return at;
}

function step(key) {
	const from = selected >= 0 ? selected : state.zoom;
	const outward = state.icicle ? "ArrowUp" : "ArrowDown";

	if (key === "ArrowLeft" || key === "ArrowRight")
		return sibling(from, key === "ArrowLeft" ? -1 : 1);
	if (key === outward)
		return parent[from];
	return from < state.zoom ? towardZoom(from) : child(from);
}

function select(i) {
	const top = rowTop(depth[i]);

	selected = i;
	hovered = -1;
	$("tip").hidden = true;
	if (top < view.scrollTop)
		view.scrollTop = top;
	else if (top + ROW > view.scrollTop + view.clientHeight)
		view.scrollTop = top + ROW - view.clientHeight;
	tellFrame();
	redraw();
}

view.addEventListener("keydown", event => {
	if (event.key.startsWith("Arrow")) {
		select(step(event.key));
		event.preventDefault();
	} else if (event.key === "Enter" && selected >= 0) {
		go({ zoom: selected });
	}
});
/* ---- the beginning ---- */

$("reset").addEventListener("click", () => go({ zoom: 0 }));
$("icicle").addEventListener("click", () => go({ icicle: !state.icicle }));
new ResizeObserver(() => { resize(); }).observe(view);

function recolour() {
	readTheme();
	tellLegend();
	redraw();
}

/* Show another tree of the same frames and columns. */
function replace(nodes) {
	load(nodes);
	selected = hovered = -1;
	show({ zoom: 0 });
}

load(data.nodes);
readTheme();
return {
	state, nrClasses, nameOf, imageOf, kindOf,
	/* The tree as it is: by node, all and self by column first. */
	get nr() { return nr; },
	get parent() { return parent; },
	get frame() { return frame; },
	get size() { return size; },
	get depth() { return depth; },
	get all() { return all; },
	get self() { return self; },
	show, go, leave, replace, toWords, fromWords, recolour,
	/* Texts outside the picture have other names now. */
	rename() { tellZoom(); tellFrame(); redraw(); },
	/* The frame that is pointed at, selected by keys, or zoomed. */
	current: () => hovered >= 0 ? hovered : selected >= 0 ? selected : state.zoom,
};
}
