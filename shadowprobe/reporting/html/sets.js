// The browser of AmbER sets: a name, its entities, and what became of the queries about each.
whenOpen(() => {
  const KINDS = {
    "right": "good",
    "namesake first": "prior",
    "other document first": "bad",
    "not found": "gone",
    "no ranking": "gone",
  };
  const { systems, queries, entities, outcomes, collections, tasks } = data;
  const several = systems.length > 1;
  const outcomeOf = (system, row) => outcomes[system.outcome[row]];
  const titleOf = (entity) => string(entities.title[entity]);
  const partOf = (row) => [collections[queries.collection[row]], tasks[queries.task[row]]].filter(Boolean).join(", ");

  // An entry of the list is a name with the queries about all who bear it.
  const entries = byName(queries.name);
  const texts = (row) => [queries.text[row], queries.answer[row]];
  const words = (row) => [
    string(queries.name[row]),
    passage(queries.text[row]),
    titleOf(queries.entity[row]),
    string(entities.id[queries.entity[row]]),
    string(queries.gold[row]),
    passage(queries.answer[row]),
    string(queries.id[row]),
  ];

  for (const entry of entries) {
    const confused = entry.rows.flatMap((row) => systems.map((system) => outcomeOf(system, row)[0]));
    entry.confused = confused.filter((outcome) => outcome === "namesake first").length / confused.length;
  }

  function fits(row, asked) {
    for (const field of ["collection", "task"]) {
      if (asked[field] >= 0 && queries[field][row] !== asked[field]) return false;
    }
    return asked.group < 0 || entities.head[queries.entity[row]] === asked.group;
  }

  function line(entry, system) {
    const counts = outcomes.map((outcome, number) => [outcome, entry.rows.filter((row) => system.outcome[row] === number)]);
    return counts.filter(([, rows]) => rows.length > 0).flatMap(([outcome, rows], place) => [
      place > 0 ? ", " : "", badge(outcome, KINDS[outcome[0]], `${rows.length} `),
    ]);
  }

  // Where the gold document and the best of a namesake stand.
  function places(system, row) {
    const [rank, rival] = [system.rank[row], system.rival[row]];
    const lines = [rank > 0 ? `gold at ${rank}` : "gold not found"];
    if (rival > 0) lines.push([`namesake at ${rival}: `, isolated(string(system.rival_title[row]))]);
    const first = string(system.first[row]);
    if (first !== "" && rank !== 1 && rival !== 1) lines.push(["at 1: ", isolated(first)]);
    return lines.map((each) => make("div", { class: "quiet" }, ...[each].flat()));
  }

  function cell(system, row) {
    const outcome = outcomeOf(system, row);
    const found = outcome[0] === "no ranking" ? [] : places(system, row);
    // On a telephone the cells stand below one another, and each says whose it is.
    const label = several ? make("span", { class: "whose" }, isolated(system.label), ": ") : null;
    return make("td", {}, label, badge(outcome, KINDS[outcome[0]]), ...found);
  }

  function query(row) {
    const about = make("div", { class: "quiet" }, `${partOf(row)} · gold document: `, isolated(string(queries.gold[row])));
    const answer = passage(queries.answer[row]);
    if (answer !== "") about.append(" · answer: ", isolated(answer));
    return make(
      "tr",
      { "data-query": string(queries.id[row]) },
      make("th", { scope: "row" }, isolated(passage(queries.text[row])), about),
      ...systems.map((system) => cell(system, row)),
    );
  }

  function entity(number, rows) {
    const group = entities.head[number] ? "head" : "tail";
    const heads = ["query", ...systems.map((system) => (several ? isolated(system.label) : "outcome"))];
    return make(
      "section",
      { class: "context", "data-group": group },
      make("h4", {}, isolated(titleOf(number)), ` · ${group}`),
      make(
        "div",
        // A wide table scrolls by itself, by keyboard too, and not the page.
        { class: "wide", tabindex: "0", role: "region", "aria-label": `Queries about ${titleOf(number)}` },
        make(
          "table",
          { class: "queries" },
          make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
          make("tbody", {}, ...rows.map(query)),
        ),
      ),
    );
  }

  function entitiesOf(entry) {
    const numbers = [...new Set(entry.rows.map((row) => queries.entity[row]))];
    return numbers.sort((one, other) => entities.head[other] - entities.head[one] || one - other);
  }

  function listed(numbers) {
    const items = numbers.map((number) => {
      const item = make("li", {}, isolated(titleOf(number)), entities.head[number] ? " (head)" : " (tail)");
      if (entities.id[number] !== entities.title[number]) item.append(", ", isolated(string(entities.id[number])));
      if (entities.popularity[number] !== null) item.append(`, popularity ${entities.popularity[number]}`);
      return item;
    });
    return make("ol", { class: "spaces" }, ...items);
  }

  function detail(entry) {
    const numbers = entitiesOf(entry);
    const hidden = entry.rows.length - entry.fitting.length;
    const sections = numbers
      .map((number) => [number, entry.fitting.filter((row) => queries.entity[row] === number)])
      .filter(([, rows]) => rows.length > 0)
      .map(([number, rows]) => entity(number, rows));
    const note = hidden > 0 ? `The filters leave ${entry.fitting.length} of ${entry.rows.length} queries.` : "";
    return [listed(numbers), note ? make("p", { class: "quiet", id: "narrowed" }, note) : null, ...sections];
  }

  browse({
    entries,
    texts,
    words,
    systems,
    column: "outcome",
    meanings: outcomes,
    choices: {
      collection: occurring(collections, [queries.collection]),
      task: occurring(tasks, [queries.task]),
      group: [[1, "head"], [0, "tail"]],
    },
    fits,
    source: "collection",
    orders: { confused: ["most confused first", (one, other) => other.confused - one.confused] },
    line,
    detail,
  });
});
