// The mention browser of linkers.
whenOpen(() => {
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
  const { strings, snippets, systems, spaces, subsets } = data;
  snippets.id = unpacked(snippets.id);
  const several = systems.length > 1;

  // Each name is written as the number of characters that it shares with the one before, and the rest.
  function unpacked(coded) {
    const names = [];
    for (let place = 0; place < coded.length; place += 2) {
      names.push((names.at(-1) ?? "").slice(0, coded[place]) + coded[place + 1]);
    }
    return names;
  }

  // Where the entities of each name begin.
  const firstEntity = [0];
  spaces.size.forEach((size, space) => firstEntity.push(firstEntity[space] + size));

  // An entry of the list is a name with all its contexts, or a mention that belongs to none.
  const entries = [];
  const subsetOf = (row) => subsets[snippets.subset[row]];
  const hasGold = (row) => snippets.gold[row] >= 0;
  const answerOf = (system, row) => {
    const entity = system.entity[row];
    return entity < 0 ? WORDS[entity] : strings[entity];
  };

  function gather() {
    const ofSpace = new Map();
    snippets.id.forEach((id, row) => {
      const space = snippets.space[row];
      let entry = space >= 0 ? ofSpace.get(space) : undefined;
      if (entry === undefined) {
        const name = space >= 0 ? string(spaces.name[space]) : string(snippets.mention[row]);
        const key = space >= 0 ? `space=${encodeURIComponent(name)}` : `snippet=${encodeURIComponent(id)}`;
        entry = { key, name, space, rows: [] };
        if (space >= 0) ofSpace.set(space, entry);
        entries.push(entry);
      }
      entry.rows.push(row);
    });
  }

  const texts = (row) => [snippets.before[row], snippets.after[row], snippets.source[row]];
  const textOf = (row) => passage(snippets.before[row]) + string(snippets.mention[row]) + passage(snippets.after[row]);
  const words = (row) => [
    snippets.space[row] >= 0 ? string(spaces.name[snippets.space[row]]) : "",
    textOf(row),
    string(snippets.gold[row]),
    snippets.id[row],
    ...systems.map((system) => answerOf(system, row)),
  ];

  // The places of the entities of an entry's name.
  function placesOf(entry) {
    if (entry.space < 0) return [];
    const first = firstEntity[entry.space];
    return Array.from({ length: spaces.size[entry.space] }, (_, place) => first + place);
  }

  const orders = {
    least: ["lowest score first", (one, other) => one.low - other.low],
    surest: ["highest score first", (one, other) => other.high - one.high],
  };

  function prepare(entry, rows, asked) {
    if (asked.order !== "least" && asked.order !== "surest") return;
    const system = systems[Math.max(asked.system, 0)];
    const scores = rows.map((row) => system.score[row]).filter((score) => score !== null);
    // What has no score comes last, whichever way.
    entry.low = scores.length ? Math.min(...scores) : Number.MAX_VALUE;
    entry.high = scores.length ? Math.max(...scores) : -Number.MAX_VALUE;
  }

  function badgeOf(system, row) {
    const outcome = data.outcomes[system.outcome[row]];
    return badge(outcome, KINDS[outcome[0]]);
  }

  function line(entry, system) {
    const rows = entry.rows.filter(hasGold);
    if (rows.length === 0) return ["no gold"];
    return rows.flatMap((row, place) => [
      place > 0 ? ", " : "", `${capital(subsetOf(row))} `, badgeOf(system, row),
    ]);
  }

  function candidatesOf(system, row) {
    const { start, size, title, score } = system.candidates;
    return Array.from({ length: size[row] }, (_, number) => {
      const place = start[row] + number;
      const notes = [];
      if (score[place] !== null) notes.push(score[place]);
      if (title[place] === snippets.gold[row]) notes.push("gold");
      return make("li", {}, isolated(string(title[place])), notes.length ? ` (${notes.join(", ")})` : "");
    });
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
    if (hasGold(row)) pair(list, "outcome", badgeOf(system, row));
    if (system.score[row] !== null) pair(list, "score", String(system.score[row]));
    for (const [title, values] of system.columns ?? []) {
      if (values[row] >= 0) pair(list, title, isolated(strings[values[row]]));
    }
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
    const address = passage(snippets.source[row]);
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
        passage(snippets.before[row]),
        make("mark", {}, string(snippets.mention[row])),
        passage(snippets.after[row]),
      ),
      gold,
      make("div", { class: "answers" }, ...systems.map((system) => answer(system, row))),
      source(row),
    );
  }

  function entitiesOf(entry) {
    if (entry.space < 0) return null;
    const items = placesOf(entry).map((place, number) => {
      const item = make("li", {}, isolated(string(spaces.entity[place])), number === 0 ? " (Top)" : " (Shadow)");
      if (spaces.commonness[place] !== null) item.append(`, commonness ${spaces.commonness[place]}`);
      const description = passage(spaces.description[place]);
      if (description) item.append(make("span", { class: "quiet" }, ": ", isolated(description)));
      return item;
    });
    return make("ol", { class: "spaces" }, ...items);
  }

  function detail(entry) {
    const order = ["top", "shadow", "tail", "all", "neutral"];
    const rows = [...entry.rows].sort((one, other) => order.indexOf(subsetOf(one)) - order.indexOf(subsetOf(other)));
    return [entitiesOf(entry), ...rows.map(context)];
  }

  gather();
  browse({
    entries,
    counted: "names and mentions",
    nouns: { space: "name", snippet: "mention" },
    texts,
    words,
    needed: (entry) => placesOf(entry).map((place) => spaces.description[place]),
    systems,
    column: "outcome",
    meanings: data.outcomes,
    differs: (row) => hasGold(row) && systems.some((system) => system.entity[row] !== systems[0].entity[row]),
    choices: { subset: occurring(subsets.map(capital), [snippets.subset]) },
    fits: (row, asked) => asked.subset < 0 || snippets.subset[row] === asked.subset,
    source: "dataset",
    orders,
    prepare,
    line,
    detail,
  });
});
