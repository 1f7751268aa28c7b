// The browser of answers: a name, the question about it, the documents on its namesakes, and what was made of them.
whenOpen(() => {
  const KINDS = { "complete": "good", "partial": "prior", "ambiguous": "prior", "merged": "bad", "no answer": "gone" };
  const { systems, sets, categories } = data;
  const several = systems.length > 1;

  // An entry of the list is a name with all questions about it.
  const entries = byName(sets.name);
  const texts = (row) => [
    sets.question[row],
    ...sets.documents[row].map(([, text]) => text),
    ...systems.map((system) => system.answer[row]),
  ];
  const words = (row) => [
    string(sets.name[row]),
    passage(sets.question[row]),
    string(sets.id[row]),
    ...sets.documents[row].flatMap(([title, , answers]) => [string(title), string(answers)]),
    ...systems.map((system) => passage(system.answer[row])),
  ];

  function badgeOf(system, row) {
    const category = categories[system.category[row]];
    return badge(category, KINDS[category[0]]);
  }

  function line(entry, system) {
    return entry.rows.flatMap((row, place) => [place > 0 ? ", " : "", badgeOf(system, row)]);
  }

  function answer(system, row) {
    const list = make("dl", {});
    pair(list, "category", badgeOf(system, row));
    const [ofAnswers, ofEntities, ofBoth] = system.recalls[row];
    pair(list, "recall", `answers ${ofAnswers}%, entities ${ofEntities}%, both ${ofBoth}%`);
    if (system.errors[row] !== undefined) pair(list, "error", isolated(system.errors[row]));
    const text = system.answer[row] < 0
      ? make("p", { class: "quiet" }, "The model gave no answer.")
      : make("p", { class: "words said", dir: "auto" }, passage(system.answer[row]));
    return make("div", {}, several ? make("h5", {}, isolated(system.label)) : null, text, list);
  }

  function documentOf([title, text, answers]) {
    return make(
      "li",
      {},
      make("strong", {}, isolated(string(title))),
      ": ",
      isolated(string(answers)),
      make("details", {}, make("summary", {}, "text"), make("p", { class: "words", dir: "auto" }, passage(text))),
    );
  }

  function context(row) {
    return make(
      "section",
      { class: "context", "data-set": string(sets.id[row]) },
      make("h4", {}, isolated(string(sets.id[row]))),
      make("p", { class: "words question", dir: "auto" }, passage(sets.question[row])),
      make("p", { class: "quiet" }, "The documents, each with its answer:"),
      make("ol", { class: "documents" }, ...sets.documents[row].map(documentOf)),
      make("div", { class: "answers" }, ...systems.map((system) => answer(system, row))),
    );
  }

  const detail = (entry) => entry.rows.map(context);
  browse({ entries, texts, words, systems, column: "category", meanings: categories, source: "file", line, detail });
});
