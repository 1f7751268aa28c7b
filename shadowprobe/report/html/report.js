"use strict";
// The mention browser. Whatever comes from the data becomes a text node and never markup.
(() => {
  const PAGE = 50;
  const WORDS = { "-1": "NIL", "-2": "skipped", "-3": "no answer" };
  const KINDS = {
    "correct": "good",
    "overshadowed": "prior",
    "prior-driven": "prior",
    "other wrong": "bad",
    "gold not a candidate": "bad",
    "NIL": "gone",
    "skipped": "gone",
    "failed": "gone",
  };
  const data = JSON.parse(document.getElementById("data").textContent);
  const { strings, snippets, systems, spaces, subsets } = data;
  snippets.id = unpacked(snippets.id);
  const outcomes = data.outcomes.map(([name]) => name);
  const several = systems.length > 1;
  const by = (id) => document.getElementById(id);
  const string = (number) => (number < 0 ? "" : strings[number]);
  const capital = (word) => word[0].toUpperCase() + word.slice(1);

  // Each name is written as the number of characters that it shares with the one before, and the rest.
  function unpacked(coded) {
    const names = [];
    for (let place = 0; place < coded.length; place += 2) {
      names.push((names.at(-1) ?? "").slice(0, coded[place]) + coded[place + 1]);
    }
    return names;
  }

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  }
  // Text that may run from right to left must not turn what stands around it.
  const isolated = (text) => make("bdi", {}, text);

  // An entry of the list is a name with all its contexts, or a mention that belongs to none.
  const entries = [];
  const entryOf = new Map();
  const words = snippets.id.map(() => "");
  const subsetOf = (row) => subsets[snippets.subset[row]];
  const outcomeOf = (system, row) => outcomes[system.outcome[row]];
  const hasGold = (row) => snippets.gold[row] >= 0;
  const answerOf = (system, row) => {
    const entity = system.entity[row];
    return entity < 0 ? WORDS[entity] : strings[entity];
  };
  const differs = (row) => systems.some((system) => system.entity[row] !== systems[0].entity[row]);

  function gather() {
    const ofSpace = new Map();
    snippets.id.forEach((id, row) => {
      const space = snippets.space[row];
      let entry = space >= 0 ? ofSpace.get(space) : undefined;
      if (entry === undefined) {
        const name = space >= 0 ? string(spaces[space][0]) : string(snippets.mention[row]);
        const key = space >= 0 ? `space=${encodeURIComponent(name)}` : `snippet=${encodeURIComponent(id)}`;
        entry = { key, name, space, rows: [], place: entries.length };
        if (space >= 0) ofSpace.set(space, entry);
        entries.push(entry);
        entryOf.set(key, entry);
      }
      entry.rows.push(row);
      words[row] = [
        entry.name,
        string(snippets.before[row]) + string(snippets.mention[row]) + string(snippets.after[row]),
        string(snippets.gold[row]),
        id,
        ...systems.map((system) => answerOf(system, row)),
      ].join("\n").toLowerCase();
    });
    for (const entry of entries) {
      entry.disagreements = entry.rows.filter((row) => hasGold(row) && differs(row)).length;
    }
  }

  // What is asked for.
  const asked = { text: "", outcome: -1, subset: -1, system: -1, differ: false, order: several ? "differ" : "dataset" };
  let shown = [];
  let page = 0;
  let current = null;

  function fits(row) {
    if (asked.subset >= 0 && snippets.subset[row] !== asked.subset) return false;
    if (asked.differ && !(hasGold(row) && differs(row))) return false;
    if (asked.outcome >= 0) {
      const of = asked.system >= 0 ? [systems[asked.system]] : systems;
      if (!of.some((system) => system.outcome[row] === asked.outcome)) return false;
    }
    return asked.text === "" || words[row].includes(asked.text);
  }

  const ORDERS = {
    differ: ["disagreements first", (one, other) => other.disagreements - one.disagreements],
    dataset: ["as in the dataset", () => 0],
    name: ["by name", (one, other) => one.name.localeCompare(other.name)],
    least: ["lowest score first", (one, other) => one.low - other.low],
    surest: ["highest score first", (one, other) => other.high - one.high],
  };

  function filter() {
    const byScore = asked.order === "least" || asked.order === "surest";
    const system = systems[Math.max(asked.system, 0)];
    shown = [];
    for (const entry of entries) {
      const rows = entry.rows.filter(fits);
      if (rows.length === 0) continue;
      if (byScore) {
        const scores = rows.map((row) => system.score[row]).filter((score) => score !== null);
        // What has no score comes last, whichever way.
        entry.low = scores.length ? Math.min(...scores) : Number.MAX_VALUE;
        entry.high = scores.length ? Math.max(...scores) : -Number.MAX_VALUE;
      }
      shown.push(entry);
    }
    const compare = ORDERS[asked.order][1];
    shown.sort((one, other) => compare(one, other) || one.place - other.place);
    const found = shown.indexOf(current);
    page = found < 0 ? 0 : Math.floor(found / PAGE);
    drawList();
  }

  function badge(system, row) {
    const outcome = outcomeOf(system, row);
    const meaning = data.outcomes[system.outcome[row]][1];
    return make("span", { class: "outcome", "data-kind": KINDS[outcome] ?? "none", title: meaning }, outcome);
  }

  function summary(entry, system) {
    const line = make("span", {});
    if (several) line.append(isolated(system.label), ": ");
    const rows = entry.rows.filter(hasGold);
    rows.forEach((row, place) => {
      if (place > 0) line.append(", ");
      line.append(`${capital(subsetOf(row))} `, badge(system, row));
    });
    if (rows.length === 0) line.append("no gold");
    return line;
  }

  function drawList() {
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    const items = shown.slice(page * PAGE, (page + 1) * PAGE).map((entry) =>
      make("li", {}, make(
        "a",
        { href: `#${entry.key}`, "aria-current": entry === current ? "true" : null },
        make("strong", {}, isolated(entry.name)),
        ...systems.map((system) => summary(entry, system)),
      )));
    by("list").replaceChildren(...items);
    by("count").textContent = `${shown.length} of ${entries.length} names and mentions`;
    by("page").textContent = `${page + 1} of ${pages}`;
    by("back").disabled = page === 0;
    by("forth").disabled = page + 1 >= pages;
    const selected = asked.outcome >= 0 ? data.outcomes[asked.outcome] : null;
    by("meaning").hidden = selected === null;
    by("meaning").textContent = selected === null ? "" : `${capital(selected[0])}: ${selected[1]}.`;
  }

  function pair(list, term, ...content) {
    list.append(make("dt", {}, term), make("dd", {}, ...content));
  }

  function candidatesOf(system, row) {
    const list = system.candidates[row] < 0 ? [] : system.lists[system.candidates[row]];
    const items = [];
    for (let place = 0; place < list.length; place += 2) {
      const notes = [];
      if (list[place + 1] !== null) notes.push(list[place + 1]);
      if (list[place] === snippets.gold[row]) notes.push("gold");
      items.push(make("li", {}, isolated(string(list[place])), notes.length ? ` (${notes.join(", ")})` : ""));
    }
    return items;
  }

  function answer(system, row) {
    const list = make("dl", {});
    const entity = system.entity[row];
    const space = snippets.space[row];
    pair(list, "answer", entity < 0 ? WORDS[entity] : isolated(strings[entity]));
    if (space >= 0) {
      const prior = system.prior[space];
      const same = prior >= 0 && prior === entity ? " (the answer)" : "";
      pair(list, "prior", prior < 0 ? "none" : isolated(strings[prior]), same);
    }
    if (hasGold(row)) pair(list, "outcome", badge(system, row));
    if (system.score[row] !== null) pair(list, "score", String(system.score[row]));
    if (system.errors[row] !== undefined) pair(list, "error", isolated(system.errors[row]));
    const candidates = candidatesOf(system, row);
    if (candidates.length > 0) {
      const [more, rank] = system.unlisted ? [system.unlisted[row], system.gold_rank[row]] : [0, 0];
      pair(list, "candidates", make(
        "details",
        hasGold(row) ? { open: "" } : {},
        make("summary", {}, String(candidates.length + more)),
        make("ol", {}, ...candidates),
        more > 0 ? `and ${more} more${rank > candidates.length ? `, the gold one at place ${rank}` : ""}` : null,
      ));
    }
    return make("div", {}, several ? make("h5", {}, isolated(system.label)) : null, list);
  }

  function source(row) {
    const address = snippets.source ? string(snippets.source[row]) : "";
    if (address === "") return null;
    // An address that a browser would run is only shown.
    const link = /^https?:\/\//i.test(address)
      ? make("a", { href: address, rel: "noreferrer noopener" }, isolated(address))
      : isolated(address);
    return make("p", { class: "quiet words" }, "Source: ", link);
  }

  function context(row) {
    const gold = make("dl", {});
    if (hasGold(row)) pair(gold, "gold", isolated(string(snippets.gold[row])));
    return make(
      "section",
      { class: "context", "data-subset": subsetOf(row) },
      make("h4", {}, `${capital(subsetOf(row))} · `, isolated(snippets.id[row])),
      make(
        "p",
        { class: "words", dir: "auto" },
        string(snippets.before[row]),
        make("mark", {}, string(snippets.mention[row])),
        string(snippets.after[row]),
      ),
      gold,
      make("div", { class: "answers" }, ...systems.map((system) => answer(system, row))),
      source(row),
    );
  }

  function entitiesOf(entry) {
    if (entry.space < 0) return null;
    const items = spaces[entry.space][1].map((title, place) => {
      const [commonness, description] = data.entities[title] ?? [null, ""];
      const item = make("li", {}, isolated(string(title)), place === 0 ? " (Top)" : " (Shadow)");
      if (commonness !== null) item.append(`, commonness ${commonness}`);
      if (description) item.append(make("span", { class: "quiet" }, ": ", isolated(description)));
      return item;
    });
    return make("ol", { class: "spaces" }, ...items);
  }

  function drawDetail(problem) {
    const title = make("h3", { id: "detail-title" });
    const detail = by("detail");
    if (current === null) {
      title.append(problem ?? "Choose a name on the list");
      detail.replaceChildren(title);
      return;
    }
    title.append(isolated(current.name));
    const order = ["top", "shadow", "tail", "all", "neutral"];
    const rows = [...current.rows].sort((one, other) => order.indexOf(subsetOf(one)) - order.indexOf(subsetOf(other)));
    detail.replaceChildren(title, ...[entitiesOf(current)].filter(Boolean), ...rows.map(context));
  }

  function choose(entry) {
    current = entry;
    const place = shown.indexOf(entry);
    if (place >= 0) page = Math.floor(place / PAGE);
    drawList();
    drawDetail();
    const link = document.querySelector('#list a[aria-current="true"]');
    // Only the list moves, and not the page under the reader.
    if (link) by("list").scrollTop = link.offsetTop - by("list").offsetTop - by("list").clientHeight / 3;
    return link;
  }

  function follow() {
    const key = location.hash.slice(1);
    if (!/^(space|snippet)=/.test(key)) return;
    let wanted = key.slice(key.indexOf("=") + 1);
    try {
      wanted = decodeURIComponent(wanted);
    } catch {
      // A stray % in an address typed by hand stands for itself.
    }
    const entry = entryOf.get(`${key.slice(0, key.indexOf("="))}=${encodeURIComponent(wanted)}`);
    if (entry) {
      choose(entry);
    } else {
      current = null;
      drawList();
      drawDetail(`There is no ${key.startsWith("space") ? "name" : "mention"} “${wanted}” here`);
    }
    reveal();
  }

  // Where the list stands above the texts, as on a telephone, they would stay out of sight.
  function reveal() {
    by(matchMedia("(max-width: 44rem)").matches ? "detail" : "mentions").scrollIntoView();
  }

  function step(names) {
    if (shown.length === 0) return;
    const place = shown.indexOf(current);
    const next = place < 0 ? page * PAGE : Math.min(Math.max(place + names, 0), shown.length - 1);
    // Walking down a list is no history to walk back.
    history.replaceState(null, "", `#${shown[next].key}`);
    choose(shown[next])?.focus({ preventScroll: true });
    if (by("detail").getBoundingClientRect().top < 0) reveal();
  }

  function turn(pages) {
    page = Math.min(Math.max(page + pages, 0), Math.max(0, Math.ceil(shown.length / PAGE) - 1));
    drawList();
    by("list").scrollTop = 0;
  }

  function read() {
    asked.text = by("text").value.trim().toLowerCase();
    asked.outcome = Number(by("outcome").value);
    asked.subset = Number(by("subset").value);
    asked.system = Number(by("system").value);
    asked.differ = by("differ").checked;
    asked.order = by("order").value;
    filter();
  }

  const KEYS = {
    "j": () => step(1),
    "k": () => step(-1),
    "/": () => by("text").focus(),
    "[": () => turn(-1),
    "]": () => turn(1),
    "x": () => by("reset").click(),
    "Escape": () => (document.querySelector('#list a[aria-current="true"]') ?? by("list").querySelector("a"))?.focus(),
  };

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input:not([type=checkbox]), select");
    const link = event.target.closest("#list a");
    if (event.key === "Enter" && link && link.getAttribute("aria-current") === "true") {
      by("detail").focus();
    } else if (event.key === "Enter" && event.target.id === "text") {
      step(0);
    } else if (event.key in KEYS && (!typing || event.key === "Escape")) {
      KEYS[event.key]();
    } else {
      return;
    }
    event.preventDefault();
  }

  function fill(id, pairs) {
    by(id).append(...pairs.map(([value, name]) => make("option", { value }, name)));
  }

  function start() {
    gather();
    const found = new Set(systems.flatMap((system) => [...new Set(system.outcome)]));
    const held = new Set(snippets.subset);
    fill("outcome", [[-1, "any"], ...outcomes.map((name, number) => [number, name]).filter(([n]) => found.has(n))]);
    fill("subset", [[-1, "any"], ...subsets.map((name, number) => [number, capital(name)]).filter(([n]) => held.has(n))]);
    fill("system", [[-1, "any"], ...systems.map((system, number) => [number, system.label])]);
    fill("order", Object.entries(ORDERS).filter(([key]) => several || key !== "differ").map(([key, [name]]) => [key, name]));
    by("system-label").hidden = by("differ-label").hidden = !several;
    // Not everything that chooses from a list for a person says that it typed.
    for (const event of ["input", "change"]) by("filters").addEventListener(event, read);
    by("filters").addEventListener("submit", (event) => event.preventDefault());
    // The fields are empty only after the event.
    by("filters").addEventListener("reset", () => setTimeout(read));
    by("back").addEventListener("click", () => turn(-1));
    by("forth").addEventListener("click", () => turn(1));
    document.addEventListener("keydown", press);
    addEventListener("hashchange", follow);
    for (const hidden of ["#filters", ".help", "#browser"]) document.querySelector(hidden).hidden = false;
    filter();
    drawDetail();
    follow();
  }

  start();
})();
