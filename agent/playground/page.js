"use strict";
// Everything on the page is made by make, which sets text only as text.
const $ = id => document.getElementById(id);
function make(name, attributes = {}, ...children) {
	const element = document.createElement(name);
	for (const [key, value] of Object.entries(attributes)) {
		if (typeof value === "function") element.addEventListener(key, value);
		else if (value === true) element.setAttribute(key, "");
		else if (value !== false && value != null) element.setAttribute(key, value);
	}
	element.append(...children.filter(c => c || c === 0).map(c => c instanceof Node ? c : visible(c)));
	return element;
}
// visible returns text in which characters that are invisible or change the direction of text show their code points.
function visible(text) {
	return String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\p{Cf}]/gu,
		c => "‹U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "›");
}
function pretty(value) {
	return typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "";
}
function line(value) {
	const text = (value === undefined ? "" : JSON.stringify(value)).replace(/\s+/g, " ");
	return text.length > 200 ? text.slice(0, 200) + "…" : text;
}
function took(ns) {
	if (!ns) return "";
	return ns >= 1e9 ? (ns / 1e9).toFixed(1) + " s" : ns >= 1e6 ? Math.round(ns / 1e6) + " ms" : "< 1 ms";
}
// parse keeps all digits of numbers, if the browser can.
const parse = text => JSON.parse(text, (_, value, context) => typeof value === "number" && JSON.rawJSON && context?.source &&
	!Number.isSafeInteger(value) ? JSON.rawJSON(context.source) : value);
const mark = (kind, text) => make("span", { class: "mark " + kind }, text);
const fold = (title, text) => make("details", {}, make("summary", {}, title), make("pre", {}, text));

async function post(path, body) {
	notice("");
	try {
		const response = await fetch(path, {
			method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
		});
		const text = await response.text();
		let result = {};
		try { result = JSON.parse(text); } catch { result.error = text; }
		if (!response.ok) throw new Error(result.error);
		return result;
	} catch (error) {
		notice(error.message);
	}
}
function notice(text) {
	$("connection").textContent = visible(text);
	$("connection").hidden = !text;
}

// The list of runs, and which of them is shown.
let runs = [], shown = null, source = null, lost = false;
const wanted = () => decodeURIComponent(location.hash.slice(1));
function choose() {
	const id = runs.some(r => r.id === wanted()) ? wanted() : runs.at(-1)?.id ?? null;
	if (id !== shown) show(id);
}
function show(id) {
	shown = id;
	view = id && new View();
	$("run").replaceChildren(...view ? [view.root] : []);
	connect();
}
function connect() {
	source?.close();
	source = new EventSource("events" + (shown ? "?run=" + encodeURIComponent(shown) : ""));
	source.addEventListener("runs", e => {
		runs = JSON.parse(e.data) ?? [];
		list();
		if (shown === null || !runs.some(r => r.id === shown)) choose();
		view?.update(runs.find(r => r.id === shown));
	});
	source.addEventListener("message", e => view?.event(parse(e.data)));
	source.addEventListener("open", () => { if (lost) notice(""); lost = false; });
	source.addEventListener("error", () => { lost = true; notice("The playground cannot be reached. Is it still running?"); });
}
const kinds = { running: "note", paused: "warn", done: "good", failed: "bad", interrupted: "warn", "rolled back": "note" };
function state(r) {
	if (r.stopping) return mark("warn", "stopping");
	return mark(kinds[r.state] ?? "note", r.state === "paused" && r.waiting ? "waits for you" : r.state);
}
function list() {
	$("runs").replaceChildren(...runs.toReversed().map(r => make("li", {},
		make("a", { href: "#" + encodeURIComponent(r.id), "aria-current": r.id === shown && "true" },
			make("span", { class: "title" }, r.task.slice(0, 200) || r.id), state(r)))));
	document.querySelector("nav").hidden = runs.length === 0;
}

// View shows a run.
class View {
	constructor() {
		this.head = make("header", { class: "top" });
		this.steps = make("div", { class: "steps" });
		this.waiting = make("div", { class: "waiting" });
		this.end = make("div", { "aria-live": "polite" });
		this.root = make("article", {}, this.head, this.steps, this.waiting, this.end);
		this.known = new Map();
	}

	// update shows the state of the run.
	update(r) {
		const text = JSON.stringify(r);
		if (!r || text === this.last) return;
		this.last = text;
		document.title = (r.state === "paused" && r.waiting ? "● " : "") + document.querySelector("h1").textContent;
		const running = r.state === "running", resumable = ["paused", "failed", "interrupted"].includes(r.state);
		const focused = this.head.contains(document.activeElement);
		this.head.replaceChildren(
			make("h2", {}, "Task ", state(r)), make("p", { class: "said" }, r.task),
			make("div", { class: "actions" },
				running && make("button", { id: "stop", click: () => post(`runs/${encodeURIComponent(r.id)}/stop`, {}) },
					r.stopping ? "Stop now" : "Stop"),
				resumable && !r.waiting && make("button", { id: "resume", class: "main", click: () => resume(r, {}) }, "Resume"),
				r.report && make("a", { class: "button", href: `runs/${encodeURIComponent(r.id)}/report`, download: r.id + ".html" },
					"Save report")));
		if (focused) this.head.querySelector("button, a")?.focus();
		const ids = r.hash + JSON.stringify(r.waiting ?? []);
		if (ids !== this.ids) { // otherwise, what was typed stays
			this.ids = ids;
			this.waiting.replaceChildren(...r.waiting ? [decide(r)] : []);
		}
		this.end.replaceChildren(...[
			r.answer && make("section", { class: "card answer" }, make("h2", {}, "Answer"), make("p", { class: "said" }, r.answer)),
			r.error && make("section", { class: "card failure" }, make("h2", {}, "Error"), make("p", { class: "said" }, r.error)),
			r.state === "paused" && !r.waiting && make("p", { class: "dim" }, "The run is paused. Nothing is lost: resume it."),
		].filter(Boolean));
	}

	// step returns the step that an event belongs to.
	step(d) {
		const key = d.run + "/" + d.step;
		let s = this.known.get(key);
		if (!s) {
			s = { marks: make("span", { class: "marks" }), body: make("div"), calls: make("ol", { class: "calls" }),
				live: make("div", { class: "live said" }), after: make("div"), known: new Map(), texts: new Map() };
			const name = d.parent ? `${d.name || d.module} · step ${d.step}` : `Step ${d.step}`;
			s.meta = make("span", { class: "meta" }, "asking the model …");
			s.root = make("section", { class: "card step" }, make("header", {}, make("h3", {}, name), s.marks, s.meta),
				s.live, s.body, s.calls, s.after);
			this.known.set(key, s);
			this.steps.append(s.root);
		}
		return s;
	}

	event(e) {
		const near = innerHeight + scrollY > document.documentElement.scrollHeight - 120;
		const d = e.data;
		if (e.event === "reset") {
			this.known.clear();
			this.steps.replaceChildren();
		} else if (d.step && this[e.event]) {
			this[e.event](this.step(d), d, e);
		}
		if (near) scrollTo(0, document.documentElement.scrollHeight);
	}
	ModelRequest(s, d) {
		if (d.extract) s.marks.append(mark("warn", "asked for an answer without further steps"));
	}
	TextDelta(s, d) {
		const key = d.thinking ? "thinking" : d.field ?? "";
		let text = s.texts.get(key);
		if (!text) {
			text = make("p", { class: d.thinking ? "dim" : "" });
			s.texts.set(key, text);
			s.live.append(text);
		}
		text.append(visible(d.text));
	}
	ModelResponse(s, d, e) {
		s.texts.clear();
		s.live.replaceChildren();
		s.reply = d.text;
		const u = d.usage ?? {};
		s.meta.replaceChildren([d.model, took(d.duration_ns), u.input_tokens && `${u.input_tokens} + ${u.output_tokens} tokens`,
			u.hits && "from the record"].filter(Boolean).join(" · "));
		if (d.thinking) s.body.append(fold("Thinking", d.thinking));
		if (e.error) s.after.append(finding("bad", e.error));
		else if (d.text) s.live.append(make("p", {}, d.text));
	}
	ReplyRejected(s, d) {
		s.marks.append(mark("bad", "reply rejected"));
		s.after.append(finding("warn", d.observation));
	}
	ProgramStart(s, d) {
		s.live.replaceChildren();
		if (d.reasoning) s.body.append(make("p", { class: "said" }, d.reasoning));
		s.body.append(make("div", { class: "code" },
			...d.code.replace(/\n+$/, "").split("\n").map(text => make("div", { class: "line" }, make("code", {}, text || " ")))));
	}
	ToolCallStart(s, d) {
		const status = make("span", { class: "took" }, "…");
		const call = { status, root: make("details"), marks: make("span", { class: "marks" }), result: make("div") };
		call.root.append(make("summary", {}, make("span", { class: "what" }, make("code", {}, d.call.tool),
			make("span", { class: "preview" }, " " + line(d.call.args))), call.marks, status),
			make("h4", {}, "Arguments"), make("pre", {}, pretty(d.call.args)), call.result);
		const next = [...s.known].filter(([id]) => id > d.call.id).sort(([a], [b]) => a - b)[0]?.[1].item ?? null;
		s.calls.insertBefore(call.item = make("li", {}, call.root), next);
		s.known.set(d.call.id, call);
	}
	ToolCallEnd(s, d) {
		if (!s.known.has(d.call.id)) this.ToolCallStart(s, d);
		const { status, marks, result } = s.known.get(d.call.id), c = d.call;
		status.textContent = took(c.duration_ns);
		marks.replaceChildren(...[
			c.decision && mark(c.decision.startsWith("approved") ? "good" : "warn", c.decision),
			c.recorded && mark("note", "from the record"),
			c.pending && mark("warn", "not ended"), c.error && mark("bad", c.error.kind)].filter(Boolean));
		result.replaceChildren(make("h4", {}, c.error ? "Error" : "Result"),
			make("pre", {}, c.error ? c.error.message : c.pending ? "none yet" : pretty(c.result)));
	}
	ProgramEnd(s, d) {
		const o = d.outcome ?? {}, f = o.failure;
		for (const [name, out] of [["Console", o.stdout], ["Errors on the console", o.stderr]]) {
			if (out?.text) s.after.append(make("h4", {}, name), make("pre", {}, out.text + (out.tail ? "\n…\n" + out.tail : "")));
		}
		if (o.submitted) s.marks.append(mark("good", "submitted"));
		else if (!f && o.value !== undefined) s.after.append(make("h4", {}, "Value"), make("pre", {}, pretty(o.value)));
		for (const w of o.warnings ?? []) s.after.append(finding("warn", at(w)));
		if (f?.kind === "stopped") return s.marks.append(mark("warn", "stopped"));
		if (!f) return;
		s.marks.append(mark("bad", String(f.kind).replaceAll("_", " ")));
		for (const one of f.findings ?? [f]) s.after.append(finding("bad", at(one)));
	}
}
const finding = (kind, text) => make("p", { class: "finding said " + kind }, text);
const at = f => (f.line ? `line ${f.line}: ` : "") + f.message + (f.hint ? "\n" + f.hint : "");

// resume continues a run with decisions.
function resume(r, decisions) {
	return post(`runs/${encodeURIComponent(r.id)}/resume`, { hash: r.hash ?? "", decisions });
}

// decide returns a card for each call that waits. The run goes on once all of them are decided on.
function decide(r) {
	const decisions = {}, cards = r.waiting.map(w => card(w, r.waiting.length > 1, decision => {
		decisions[w.id] = decision;
		if (Object.keys(decisions).length === r.waiting.length) return resume(r, decisions);
	}));
	return make("section", { "aria-label": "Calls that wait for a decision", "aria-live": "polite" }, ...cards);
}
function card(w, several, done) {
	const args = w.args, id = "w" + w.id; // as text, so that no digit is lost
	const problem = make("p", { class: "finding bad", hidden: true, role: "alert" });
	const edit = make("textarea", { id: id + "-value", rows: Math.min(12, args.split("\n").length + 1), spellcheck: "false" });
	const reason = make("input", { id: id + "-reason", autocomplete: "off" });
	const root = make("fieldset", { class: "card decision" },
		make("legend", {}, w.unknown ? "Was this call done?" : "Allow this call?"),
		make("p", {}, make("code", { class: "tool" }, w.tool), " ", w.destructive && mark("bad", "cannot be undone")),
		w.line && make("p", { class: "dim" }, make("code", {}, `line ${w.line}: ${w.source ?? ""}`)));
	const button = (text, kind, decision, edited) => make("button", { type: "button", class: kind, click: async () => {
		problem.hidden = true;
		try {
			if (edited) JSON.parse(edit.value);
		} catch (error) {
			problem.textContent = "This is not JSON: " + error.message;
			problem.hidden = false;
			return edit.focus();
		}
		if (several) root.prepend(make("p", { class: "dim" }, `“${text}” was chosen. The run goes on after the other decisions.`));
		root.disabled = true;
		await done(decision());
		if (!several) root.disabled = false;
	} }, text);
	if (w.unknown) {
		edit.value = "null";
		root.append(make("p", {}, "It was made, but its outcome is unknown. Find out whether it was done."), make("pre", {}, args),
			make("label", { for: edit.id }, "Its result as JSON, if it was done"), edit, problem,
			make("div", { class: "actions" },
				button("It was done", "main", () => ({ outcome: "ok", result: edit.value }), true),
				button("It was not done", "", () => ({ outcome: "rejected" }))),
			make("p", { class: "dim" }, "If it was not done, it is made now."));
		return root;
	}
	edit.value = args;
	root.append(make("label", { for: edit.id }, "Arguments, which you can change"), edit, problem,
		make("label", { for: reason.id }, "Reason for a refusal, for the agent"), reason,
		make("div", { class: "actions" },
			button("Approve", "main", () => ({ approved: true, args: edit.value === args ? "" : edit.value }), true),
			button("Refuse", "danger", () => ({ approved: false, reason: reason.value }))));
	return root;
}

$("form").addEventListener("submit", async e => {
	e.preventDefault();
	const started = await post("runs", { task: $("task").value });
	if (started) location.hash = started.id;
});
$("task").addEventListener("keydown", e => {
	if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) $("form").requestSubmit();
});
addEventListener("hashchange", () => { choose(); list(); view?.update(runs.find(r => r.id === shown)); });
let view = null;
connect();
