"use strict";
// The leaderboard: sorts, groups, averages and filters runs, and asks a live server again for what is running.
const page = JSON.parse(document.getElementById("data").textContent);
const KINDS = { linker: "linkers", retriever: "retrievers", reader: "readers", model: "language models" };
const REFRESH = 2000;
const byId = (id) => document.getElementById(id);
const fields = { kind: byId("kind"), data: byId("data-name"), system: byId("system"), rows: byId("rows") };
let runs = page.runs;
let order = { key: "", falling: false };
const chosen = new Set();

function element(tag, text, settings = {}) {
  const made = Object.assign(document.createElement(tag), settings);
  if (text !== undefined) made.textContent = text;
  return made;
}

// What is chosen is in the address, so that a view can be kept and sent.
function readAddress() {
  const wish = new URLSearchParams(location.hash.slice(1));
  for (const [name, field] of Object.entries(fields)) field.value = wish.get(name) ?? "";
  for (const [name, field] of Object.entries(fields)) {
    if (field.tagName === "SELECT" && field.selectedIndex < 0) field.selectedIndex = 0;
  }
  order = { key: wish.get("sort") ?? "", falling: wish.has("falling") };
}

function writeAddress() {
  const wish = new URLSearchParams();
  for (const [name, field] of Object.entries(fields)) {
    if (field.value && field.value !== field.options?.[0].value) wish.set(name, field.value);
  }
  if (order.key) wish.set("sort", order.key);
  if (order.falling) wish.set("falling", "");
  history.replaceState(null, "", wish.size ? `#${wish}` : location.pathname + location.search);
}

function fill(select, choices) {
  const before = select.value;
  select.replaceChildren(...choices.map(([value, text]) => element("option", text, { value })));
  select.value = choices.some(([value]) => value === before) ? before : choices[0][0];
}

function fillChoices() {
  const kinds = Object.keys(KINDS).filter((kind) => runs.some((run) => run.kind === kind));
  fill(fields.kind, kinds.length ? kinds.map((kind) => [kind, KINDS[kind]]) : [["", "nothing"]]);
  const names = [...new Set(runs.filter((run) => run.kind === fields.kind.value).map((run) => run.data))].sort();
  fill(fields.data, [["", "all"], ...names.map((name) => [name, name])]);
}

const dataOf = (run) => (run.limit === null ? run.data : `${run.data}, first ${run.limit}`);

function shownRuns() {
  const words = fields.system.value.toLowerCase();
  return runs.filter(
    (run) =>
      run.kind === fields.kind.value &&
      (!fields.data.value || run.data === fields.data.value) &&
      run.system.toLowerCase().includes(words),
  );
}

// A row of the table: a run, or the mean of several.
function rowOf(run) {
  const figures = {};
  for (const one of run.headlines) figures[one.key] = { value: one.value, interval: one.interval };
  return { system: run.system, data: dataOf(run), group: `${dataOf(run)}\n${run.digest}`, verdict: run.verdict, figures, run };
}

// The rows by what a function says of each, in the order of the first of each group.
function groupRows(rows, nameOf) {
  const groups = new Map();
  for (const row of rows) {
    if (!groups.has(nameOf(row))) groups.set(nameOf(row), []);
    groups.get(nameOf(row)).push(row);
  }
  return [...groups];
}

function meanRows(shown, by) {
  const finished = shown.filter((run) => run.state === "finished").map(rowOf);
  return groupRows(finished, (row) => row[by]).map(([name, rows]) => {
    const figures = {};
    for (const key of new Set(rows.flatMap((row) => Object.keys(row.figures)))) {
      const values = rows.filter((row) => row.figures[key]).map((row) => row.figures[key].value);
      figures[key] = { value: values.reduce((sum, value) => sum + value, 0) / values.length };
    }
    const many = `${rows.length} ${rows.length === 1 ? "run" : "runs"}`;
    const mean = { system: by === "system" ? name : many, data: by === "data" ? name : many };
    return { ...mean, group: "", verdict: "", figures };
  });
}

function columnsOf(shown) {
  const columns = new Map();
  for (const run of shown) {
    for (const one of run.headlines) {
      const name = one.name.replace("-\n", "").replace("\n", " ");
      if (!columns.has(one.key)) columns.set(one.key, { key: one.key, name, isFault: one.is_fault });
    }
  }
  return [...columns.values()];
}

function valueOf(row, key) {
  if (key in row.figures) return row.figures[key].value;
  if (key === "state") return row.run ? stateOf(row.run) : "";
  return key === "system" || key === "data" || key === "verdict" ? row[key] : undefined;
}

function sortRows(rows) {
  if (!order.key) return rows;
  const sign = order.falling ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [valueOf(a, order.key), valueOf(b, order.key)];
    // What has no figure stays at the end.
    if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
    return sign * (typeof x === "number" ? x - y : String(x).localeCompare(String(y)));
  });
}

function stateOf(run) {
  if (run.state === "finished") return run.missing ? `${run.missing} missing` : "finished";
  return run.total ? `${run.state}, ${Math.floor((100 * run.done) / run.total)}%` : `${run.state}, ${run.done} answers`;
}

function bestOf(rows, columns) {
  const best = new Map();
  for (const column of columns) {
    const values = rows.map((row) => row.figures[column.key]?.value).filter((value) => value !== undefined);
    if (values.length > 1) best.set(column.key, column.isFault ? Math.min(...values) : Math.max(...values));
  }
  return best;
}

const percent = (value) => (100 * value).toFixed(1);
const whole = (value) => (100 * value).toFixed(0);

const dataNoun = () => (["retriever", "reader"].includes(fields.kind.value) ? "collection" : "dataset");

function headings(columns, withRuns) {
  return [
    ...(withRuns && page.live ? [{ key: "", name: "" }] : []),
    { key: "system", name: "system", isText: true },
    // In groups, it is their heading.
    ...(fields.rows.value ? [{ key: "data", name: dataNoun(), isText: true }] : []),
    ...columns,
    ...(withRuns ? [{ key: "verdict", name: "verdict", isText: true }, { key: "state", name: "state", isText: true }] : []),
  ];
}

function headCell(column) {
  const cell = element("th", undefined, { scope: "col", className: column.isText ? "text" : "" });
  if (!column.key) {
    cell.append(element("span", "", { ariaLabel: "choose" }));
    return cell;
  }
  const isSorted = order.key === column.key;
  cell.ariaSort = isSorted ? (order.falling ? "descending" : "ascending") : "none";
  const button = element("button", column.name + (isSorted ? (order.falling ? " ▼" : " ▲") : ""), { type: "button" });
  button.dataset.sort = column.key;
  button.addEventListener("click", () => {
    // Figures begin with the best, words with A; a second click turns the order.
    const first = !column.isText && !column.isFault;
    order = isSorted ? { key: column.key, falling: !order.falling } : { key: column.key, falling: first };
    show();
    document.querySelector(`[data-sort="${CSS.escape(column.key)}"]`).focus();
  });
  cell.append(button);
  return cell;
}

function choiceCell(run) {
  const cell = element("td");
  if (run.state !== "finished") return cell;
  const box = element("input", undefined, { type: "checkbox", checked: chosen.has(run.path) });
  box.ariaLabel = `choose ${run.system} on ${run.data}`;
  box.addEventListener("change", () => {
    if (box.checked) chosen.add(run.path);
    else chosen.delete(run.path);
    showChosen();
  });
  cell.append(box);
  return cell;
}

function systemCell(row) {
  const cell = element("td", undefined, { className: "system text" });
  const address = row.run && page.reports[row.run.path];
  const isOpen = row.run && row.run.state === "finished" && (page.live || address);
  const name = element("bdi", row.system);
  if (isOpen) {
    const link = element("a", undefined, { href: address ?? `report?${new URLSearchParams({ run: row.run.path })}` });
    link.append(name);
    cell.append(link);
  } else cell.append(name);
  return cell;
}

function figureCell(figure, isBest) {
  const cell = element("td");
  if (!figure) return Object.assign(cell, { textContent: "–" });
  cell.append(element(isBest ? "strong" : "span", percent(figure.value)));
  if (figure.interval) cell.append(element("small", `${whole(figure.interval[0])}–${whole(figure.interval[1])}`));
  return cell;
}

function stateCell(run) {
  const cell = element("td", stateOf(run), { className: "text" });
  if (run.state === "running" && run.total) {
    cell.append(element("progress", undefined, { max: run.total, value: run.done, ariaLabel: "answered" }));
  }
  if (run.started) cell.append(element("small", run.started.slice(0, 16).replace("T", " ")));
  return cell;
}

function bodyRow(row, columns, best) {
  const line = element("tr");
  if (row.run && row.run.state !== "finished") line.className = "waiting";
  if (row.run && page.live) line.append(choiceCell(row.run));
  line.append(systemCell(row));
  if (fields.rows.value) {
    const data = element("td", undefined, { className: "text" });
    data.append(element("bdi", row.data));
    line.append(data);
  }
  for (const column of columns) {
    const figure = row.figures[column.key];
    line.append(figureCell(figure, figure !== undefined && best.get(column.key) === figure.value));
  }
  if (row.run) {
    line.append(element("td", row.verdict, { className: `text ${row.verdict}` }), stateCell(row.run));
  }
  return line;
}

// What is in the table now: its headings, and its rows in groups.
function arrange() {
  const shown = shownRuns();
  const columns = columnsOf(shown);
  const isMean = fields.rows.value === "system" || fields.rows.value === "data";
  const rows = sortRows(isMean ? meanRows(shown, fields.rows.value) : shown.map(rowOf));
  const groups = groupRows(rows, (row) => (fields.rows.value ? "" : row.group));
  groups.sort(([a], [b]) => a.localeCompare(b));
  return { columns, groups, isMean, count: shown.length };
}

function show() {
  const { columns, groups, isMean, count } = arrange();
  const head = headings(columns, !isMean);
  document.querySelector("#board thead tr").replaceChildren(...head.map(headCell));
  const lines = [];
  for (const [name, rows] of groups) {
    if (name) {
      const title = element("th", undefined, { scope: "rowgroup", colSpan: head.length });
      title.append(element("bdi", name.split("\n")[0]));
      const first = rows[0].run;
      const address = page.comparisons[`${first.digest} ${first.limit ?? ""}`];
      if (address) title.append(" ", element("a", "side by side", { href: address }));
      const line = element("tr", undefined, { className: "group" });
      line.append(title);
      lines.push(line);
    }
    // The best is meant among runs over the same data.
    const best = new Map(groupRows(rows, (row) => row.group).map(([data, members]) => [data, bestOf(members, columns)]));
    for (const row of rows) lines.push(bodyRow(row, columns, best.get(row.group)));
  }
  document.querySelector("#board tbody").replaceChildren(...lines);
  const words = [`${count} of ${runs.length} runs`];
  for (const [state, says] of [["running", "running"], ["unfinished", "unfinished"], ["broken", "cannot be read"]]) {
    const many = runs.filter((run) => run.state === state).length;
    if (many) words.push(`${many} ${says}`);
  }
  if (byId("about").textContent !== words.join(", ")) byId("about").textContent = words.join(", ");
  writeAddress();
  showChosen();
}

function showChosen() {
  const known = runs.filter((run) => run.state === "finished" && chosen.has(run.path));
  const isOne = new Set(known.map((run) => `${run.kind} ${run.digest} ${run.limit}`)).size === 1;
  const button = byId("compare");
  button.hidden = !page.live;
  button.disabled = !known.length || !isOne;
  button.title = known.length && !isOne ? "Only runs over the same data can stand side by side." : "";
  button.textContent = known.length > 1 ? `Report of the ${known.length} chosen runs` : "Report of the chosen runs";
}

const plain = (text) => String(text).replace(/\s+/g, " ").trim();
const WRITERS = {
  csv(head, rows) {
    // A spreadsheet must not take a name for a formula.
    const quote = (text) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
    return [head, ...rows].map((cells) => cells.map((cell) => (isFinite(cell) && cell !== "" ? cell : quote(cell))).join(",")).join("\n");
  },
  markdown(head, rows, isText) {
    const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/([\\`*_|[\]#$~])/g, "\\$1");
    const rule = isText.map((text) => (text ? ":--" : "--:"));
    const lines = [head.map(escape), rule, ...rows.map((cells) => cells.map(escape))];
    return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  },
  latex(head, rows, isText) {
    const special = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "–": "--" };
    const escape = (text) => text.replace(/[\\&%$#_{}~^–]/g, (one) => special[one] ?? `\\${one}`);
    const line = (cells) => `${cells.map(escape).join(" & ")} \\\\`;
    const body = rows.map(line).join("\n");
    return `\\begin{tabular}{${isText.map((text) => (text ? "l" : "r")).join("")}}\n\\toprule\n${line(head)}\n\\midrule\n${body}\n\\bottomrule\n\\end{tabular}`;
  },
};

function tableAs(format) {
  const { columns, groups, isMean } = arrange();
  const words = [{ key: "system", name: "system", isText: true }, { key: "data", name: dataNoun(), isText: true }];
  const tail = isMean ? [] : [{ key: "verdict", name: "verdict", isText: true }];
  const shown = [...words, ...columns, ...tail];
  const rows = groups.flatMap(([, members]) => members).map((row) =>
    shown.map((column) => {
      const value = valueOf(row, column.key);
      if (value === undefined) return format === "csv" ? "" : "–";
      return column.isText ? plain(value) : format === "csv" ? String(100 * value) : percent(value);
    }),
  );
  return `${WRITERS[format](shown.map((column) => column.name), rows, shown.map((column) => Boolean(column.isText)))}\n`;
}

async function copy(format) {
  const text = tableAs(format);
  page.copied = text;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page from a file, or an old browser, may not write to the clipboard itself.
    const area = element("textarea", text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  byId("copied").textContent = `Copied as ${{ markdown: "Markdown", latex: "LaTeX", csv: "CSV" }[format]}.`;
}

async function refresh() {
  try {
    const answer = await fetch(`runs.json?known=${encodeURIComponent(page.version)}`);
    if (answer.status === 200) {
      const found = await answer.json();
      page.version = found.version;
      runs = found.runs;
      fillChoices();
      const focus = document.activeElement?.dataset?.sort;
      show();
      if (focus) document.querySelector(`[data-sort="${CSS.escape(focus)}"]`)?.focus();
    }
  } catch {
    byId("about").textContent = "The server has stopped; this is what it said last.";
  }
  setTimeout(refresh, REFRESH);
}

for (const field of Object.values(fields)) {
  for (const event of ["input", "change"]) {
    field.addEventListener(event, () => {
      if (field === fields.kind) fillChoices();
      show();
    });
  }
}
byId("choices").addEventListener("submit", (event) => event.preventDefault());
byId("compare").addEventListener("click", () => {
  const paths = runs.filter((run) => chosen.has(run.path)).map((run) => ["run", run.path]);
  location.href = `report?${new URLSearchParams(paths)}`;
});
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", () => copy(button.dataset.copy));
}
addEventListener("hashchange", () => {
  readAddress();
  fillChoices();
  show();
});
fillChoices();
readAddress();
fillChoices();
show();
if (page.live) setTimeout(refresh, REFRESH);
