"use strict";
// Everything on the page is made by make, which sets text only as text.
function make(name, attributes, ...children) {
	const element = document.createElement(name);
	for (const [key, value] of Object.entries(attributes)) {
		if (typeof value === "function") element.addEventListener(key, value);
		else if (value) element.setAttribute(key, value === true ? "" : value);
	}
	element.append(...children.filter(Boolean).map(c => c instanceof Node ? c : visible(c)));
	return element;
}
// visible shows characters that are invisible or change the direction of text as their code points.
function visible(text) {
	return String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\p{Cf}]/gu,
		c => "‹U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "›");
}
// parse keeps all digits of numbers, if the browser can.
const parse = text => JSON.parse(text, (_, value, context) => typeof value === "number" && JSON.rawJSON &&
	context?.source && !Number.isSafeInteger(value) ? JSON.rawJSON(context.source) : value);
const $ = id => document.getElementById(id);
const pretty = value => typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "undefined";
const took = ns => ns >= 1e9 ? (ns / 1e9).toFixed(1) + " s" : ns ? Math.ceil(ns / 1e6) + " ms" : "";
const mark = (kind, text) => make("span", { class: "mark " + kind }, text);
const said = (text, kind = "") => make("p", { class: "said " + kind }, text);
const titled = (title, text) => [make("h4", {}, title), make("pre", {}, text)];
const path = (r, what) => `runs/${encodeURIComponent(r.id)}/${what}`;

function notice(text) {
	$("notice").textContent = visible(text);
	$("notice").hidden = !text;
}
async function post(path, body) {
	notice("");
	try {
		const headers = { "Content-Type": "application/json" };
		const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
		const result = await response.json();
		if (response.ok) return result;
		notice(result.error);
	} catch (error) {
		notice(error.message);
	}
}
const resume = (r, decisions) => post(path(r, "resume"), { hash: r.hash ?? "", decisions });

// The runs, and the one that is shown: that of the URL, or the newest.
let runs = [], shown = null, source = null, view = null, lost = false;
function refresh() {
	const wanted = decodeURIComponent(location.hash.slice(1));
	const r = runs.find(r => r.id === wanted) ?? runs.find(r => r.id === shown) ?? runs.at(-1);
	if (r && r.id !== shown) {
		shown = r.id;
		view = new View();
		$("run").replaceChildren(view.root);
		connect();
	}
	view?.update(r);
	$("runs").replaceChildren(...runs.toReversed().map(r => make("li", {},
		make("a", { href: "#" + encodeURIComponent(r.id), "aria-current": r.id === shown && "true" },
			make("span", { class: "title" }, r.task.slice(0, 200) || r.id), state(r)))));
}
function connect() {
	source?.close();
	source = new EventSource("events?run=" + encodeURIComponent(shown ?? ""));
	source.addEventListener("runs", e => { runs = parse(e.data) ?? []; refresh(); });
	source.addEventListener("message", e => view?.event(parse(e.data)));
	source.addEventListener("open", () => lost && notice("", lost = false));
	source.addEventListener("error", () => notice("The playground does not answer. Is it still running?", lost = true));
}
function state(r) {
	if (r.stopping) return mark("warn", "stopping");
	const kinds = { paused: "warn", interrupted: "warn", done: "good", failed: "bad" };
	return mark(kinds[r.state] ?? "", r.waiting ? "waits for you" : r.state);
}

// showArgs shows the arguments of a call and, if they are others than before, both.
function showArgs(call, args) {
	const text = pretty(args), changed = call.requested !== undefined;
	call.preview.textContent = visible(" " + (JSON.stringify(args) ?? "").slice(0, 200));
	call.args.replaceChildren(...changed ? titled("Arguments as requested", call.requested) : [],
		...titled(changed ? "Arguments as performed" : "Arguments", text));
	call.requested ??= text;
}

// View shows a run: its methods that are named after events show these events.
class View {
	constructor() {
		this.head = make("header", {});
		this.steps = make("div", {});
		this.waiting = make("div", { "aria-live": "polite" });
		this.end = make("div", { "aria-live": "polite" });
		this.root = make("article", {}, this.head, this.steps, this.waiting, this.end);
		this.known = new Map();
	}

	// update shows the state of the run. What was typed stays if the calls that wait are the same.
	update(r) {
		const text = JSON.stringify(r), waits = r.hash + JSON.stringify(r.waiting);
		if (text === this.last) return;
		this.last = text;
		const focused = this.head.contains(document.activeElement);
		const again = ["paused", "failed", "interrupted"].includes(r.state) && !r.waiting;
		this.head.replaceChildren(make("h2", {}, "Task ", state(r)), said(r.task), make("div", { class: "actions" },
			r.state === "running" && make("button", { id: "stop", click: () => post(path(r, "stop"), {}) },
				r.stopping ? "Stop now" : "Stop"),
			again && make("button", { id: "resume", class: "main", click: () => resume(r, {}) }, "Resume"),
			r.report && make("a", { class: "button", href: path(r, "report"), download: true }, "Save report")));
		if (focused) this.head.querySelector("button, a")?.focus();
		if (waits !== this.waits) this.waiting.replaceChildren(...decide(r));
		this.waits = waits;
		this.end.replaceChildren(...["answer", "error"].filter(name => r[name]).map(name =>
			make("section", { class: "card " + name }, make("h2", {}, name), said(r[name]))));
	}

	// step returns the step that an event belongs to.
	step(d) {
		const key = d.run + "/" + d.step;
		if (!this.known.has(key)) {
			const s = { calls: new Map(), texts: new Map() };
			for (const part of ["marks", "meta", "live", "program", "list", "after"]) {
				s[part] = make("div", { class: part });
			}
			s.meta.append("asking the model …");
			const name = d.parent ? `${d.name || d.module} · step ${d.step}` : `Step ${d.step}`;
			this.steps.append(make("section", { class: "card step" },
				make("header", {}, make("h3", {}, name), s.marks, s.meta), s.live, s.program, s.list, s.after));
			this.known.set(key, s);
		}
		return this.known.get(key);
	}

	event(e) {
		const page = document.documentElement, near = innerHeight + scrollY > page.scrollHeight - 120;
		if (e.event === "reset") {
			this.known.clear();
			this.steps.replaceChildren();
		} else if (e.data.step && this[e.event]) {
			this[e.event](this.step(e.data), e.data, e.error);
		}
		if (near) scrollTo(0, page.scrollHeight);
	}
	ModelRequest(s, d) {
		if (d.extract) s.marks.append(mark("warn", "asked for an answer without further steps"));
	}
	TextDelta(s, d) {
		const key = d.thinking + "/" + d.field;
		if (!s.texts.has(key)) {
			s.texts.set(key, said("", d.thinking ? "dim" : ""));
			s.live.append(s.texts.get(key));
		}
		s.texts.get(key).append(visible(d.text));
	}
	ModelResponse(s, d, error) {
		s.texts.clear();
		s.live.replaceChildren(d.text ? said(d.text) : "");
		const tokens = `${d.usage.input_tokens} + ${d.usage.output_tokens} tokens`;
		s.meta.textContent = visible([d.model, took(d.duration_ns), tokens].filter(Boolean).join(" · "));
		if (error) s.after.append(said(error, "finding bad"));
	}
	ReplyRejected(s, d) {
		s.marks.append(mark("bad", "reply rejected"));
		s.after.append(said(d.observation, "finding warn"));
	}
	ProgramStart(s, d) {
		s.live.replaceChildren();
		const line = text => make("div", { class: "line" }, make("code", {}, text || " "));
		s.program.append(d.reasoning ? said(d.reasoning) : "",
			make("div", { class: "code" }, ...d.code.trimEnd().split("\n").map(line)));
	}
	ToolCallStart(s, d) {
		const c = d.call, call = {};
		for (const name of ["preview", "took", "marks"]) call[name] = make("span", { class: name });
		for (const name of ["args", "result"]) call[name] = make("div", {});
		call.root = make("details", {}, make("summary", {}, make("span", { class: "what" }, make("code", {}, c.tool),
			call.preview), call.marks, call.took), call.args, call.result);
		showArgs(call, c.args);
		const later = [...s.calls.keys()].filter(id => id > c.id); // calls are shown in the order of the program
		s.list.insertBefore(call.root, later.length ? s.calls.get(Math.min(...later)).root : null);
		s.calls.set(c.id, call);
	}
	ToolCallEnd(s, d) {
		if (!s.calls.has(d.call.id)) this.ToolCallStart(s, d);
		const c = d.call, call = s.calls.get(c.id);
		if (pretty(c.args) !== call.requested) showArgs(call, c.args); // a person or a policy has changed them
		call.took.textContent = took(c.duration_ns);
		call.marks.append(...[c.decision && mark(c.decision.startsWith("approved") ? "good" : "warn", c.decision),
			c.recorded && mark("", "from the record"), c.pending && mark("warn", "no result yet"),
			c.error && mark("bad", c.error.kind)].filter(Boolean));
		if (c.error) call.result.append(...titled("Error", c.error.message));
		else if (!c.pending) call.result.append(...titled("Result", pretty(c.result)));
	}
	ProgramEnd(s, d) {
		const o = d.outcome, f = o.failure;
		for (const [name, out] of [["Console", o.stdout], ["Errors on the console", o.stderr]]) {
			if (out?.text) s.after.append(...titled(name, out.text + (out.tail ? "\n…\n" + out.tail : "")));
		}
		if (o.submitted) s.marks.append(mark("good", "submitted"));
		else if (!f && "value" in o) s.after.append(...titled("Value", pretty(o.value)));
		if (f?.kind === "stopped") s.marks.append(mark("warn", "not finished")); // paused, or stopped
		else if (f) s.marks.append(mark("bad", f.kind.replaceAll("_", " ")));
		const findings = !f || f.kind === "stopped" ? [] : f.findings ?? [f];
		for (const [kind, list] of [["warn", o.warnings ?? []], ["bad", findings]]) {
			s.after.append(...list.map(one => said((one.line ? `line ${one.line}: ` : "") + one.message +
				(one.hint ? "\n" + one.hint : ""), "finding " + kind)));
		}
	}
}

// decide returns a form for each call that waits. The run goes on once all of them are decided on.
function decide(r) {
	const decisions = {}, waiting = r.waiting ?? [];
	return waiting.map(w => form(w, (decision, root) => {
		decisions[w.id] = decision;
		root.disabled = true;
		if (Object.keys(decisions).length < waiting.length) {
			root.prepend(said("This is decided. The run goes on after the other decisions.", "dim"));
		} else {
			resume(r, decisions).then(done => { if (!done) root.disabled = false; });
		}
	}));
}
function form(w, decided) {
	const id = "w" + w.id, args = w.args; // the arguments are text, so that no digit is lost
	const problem = make("p", { class: "finding bad", hidden: true, role: "alert" });
	const edit = make("textarea", { id, rows: Math.min(12, args.split("\n").length + 1), spellcheck: "false" });
	const reason = make("input", { id: id + "-reason", autocomplete: "off" });
	const root = make("fieldset", { class: "card decision" },
		make("legend", {}, w.resembles ? "Is this a repetition?" : w.unknown ? "Was this call done?" : "Allow this call?"),
		make("p", {}, make("code", { class: "tool" }, w.tool), " ",
			w.agents && `wanted by ${w.agents.join(" > ")} `, w.destructive && mark("bad", "cannot be undone")),
		w.line && make("p", { class: "dim" }, make("code", {}, `line ${w.line}: ${w.source}`)));
	const button = (text, kind, decision, edited) => make("button", { class: kind, click: () => {
		problem.hidden = true;
		try {
			if (edited) JSON.parse(edit.value);
			decided(decision(), root);
		} catch (error) {
			problem.textContent = "This is not JSON: " + error.message;
			problem.hidden = false;
			edit.focus();
		}
	} }, text);
	edit.value = w.unknown ? "null" : args;
	root.append(...w.resembles ? [
		said("It was not made, because it resembles earlier calls of this run.", "dim"), ...titled("Arguments", args),
		...w.resembles.flatMap(e => titled(`${e.id} ${e.tool}, ${e.state === "ok" ? "which is done" : "which may be done"}`,
			pretty(e.args) + "\n→ " + (e.error ?? pretty(e.result ?? "…")))),
		make("div", { class: "actions" },
			...w.resembles.filter(e => e.state === "ok" && e.tool === w.tool).map(e =>
				button(`It is ${e.id}: take its result`, "main", () => ({ repeat: { same: e.id } }))),
			button("Make this call, too", "", () => ({ repeat: { distinct: ["all"] } })),
			button("Let the model decide", "", () => ({ repeat: {} }))),
	] : w.unknown ? [
		said("It was made, but its outcome is unknown. If it was not done, it is made now."), make("pre", {}, args),
		make("label", { for: id }, "Its result as JSON, if it was done"), edit, problem,
		make("div", { class: "actions" },
			button("It was done", "main", () => ({ outcome: "ok", result: edit.value }), true),
			button("It was not done", "", () => ({ outcome: "rejected" }))),
	] : [
		make("label", { for: id }, "Arguments, which you can change"), edit, problem,
		make("label", { for: reason.id }, "Reason for a refusal, for the agent"), reason,
		make("div", { class: "actions" },
			button("Approve", "main", () => ({ approved: true, args: edit.value === args ? "" : edit.value }), true),
			button("Refuse", "danger", () => ({ approved: false, reason: reason.value }))),
	]);
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
addEventListener("hashchange", refresh);
connect();
