"use strict";
// Text from the data reaches the page through textContent only.
(() => {
  const study = JSON.parse(document.getElementById("study").textContent);
  const items = study.items;
  const at = (id) => document.getElementById(id);
  const area = at("document");
  let annotator = "";
  let answers = {};
  let place = 0;

  // One place for each annotator: who comes second must not see what the first has answered.
  const shelf = (name) => `shadowprobe ${study.sample} ${name}`;

  const choicesOf = (item) => [...item.choices, ...study.always];
  const isChoice = (item, number) => Number.isInteger(number) && number >= 1 && number <= choicesOf(item).length;
  const given = (item) => answers[item.item];
  // Where answers are marked, a chosen document is only half of an answer.
  const isAnswered = (item) => Boolean(given(item)) && (!study.is_marked || typeof given(item).text === "string");
  const countAnswered = () => items.filter(isAnswered).length;

  function load(name) {
    try {
      const kept = JSON.parse(localStorage.getItem(shelf(name)) || "{}");
      return Object.fromEntries(Object.entries(kept).filter(([item, given]) => items[item - 1] && isChoice(items[item - 1], given.choice)));
    } catch (error) {
      return {};
    }
  }

  function save() {
    try {
      localStorage.setItem(shelf(annotator), JSON.stringify(answers));
      at("trouble").hidden = true;
    } catch (error) {
      at("trouble").textContent = "This browser does not keep your answers: download them before you close the page.";
      at("trouble").hidden = false;
    }
  }

  function element(name, className, text) {
    const made = document.createElement(name);
    made.className = className;
    made.textContent = text;
    made.dir = "auto";
    return made;
  }

  function showOnly(id) {
    for (const part of ["welcome", "question", "end"]) at(part).hidden = part !== id;
    at("progress").hidden = id === "welcome";
    showProgress();
  }

  function showProgress() {
    const done = countAnswered();
    at("bar").max = items.length;
    at("bar").value = done;
    at("count").textContent = `${done} of ${items.length} answered`;
  }

  function button(number, title, description) {
    const made = document.createElement("button");
    made.type = "button";
    made.setAttribute("aria-pressed", String(given(items[place])?.choice === number));
    const words = document.createElement("span");
    words.append(element("span", "title", title));
    if (description) words.append(element("span", "description", description));
    made.append(element("kbd", "", number), words);
    made.addEventListener("click", () => answer(number));
    return made;
  }

  function documentCard(shown) {
    const card = element("article", "document", "");
    const answer = element("p", "answer", "Answer: ");
    answer.append(...shown.answers.flatMap((form, number) => [number ? " or " : "", element("mark", "", form)]));
    const details = element("details", "", "");
    details.append(element("summary", "", "Read the document"), element("p", "", shown.text));
    card.append(element("p", "title", shown.title), answer, details);
    return card;
  }

  function show(where) {
    place = Math.max(0, Math.min(where, items.length));
    if (place === items.length) return showEnd();
    const item = items[place];
    showOnly("question");
    at("place").textContent = `${study.noun[0].toUpperCase()}${study.noun.slice(1)} ${place + 1} of ${items.length}`;
    at("text").lang = study.language;
    const mention = item.mention ? [element("mark", "", item.mention)] : [];
    at("text").replaceChildren(item.before, ...mention, item.after);
    at("documents").replaceChildren(...(item.documents || []).map(documentCard));
    at("output").hidden = item.output === undefined;
    at("output-text").textContent = item.output || "(nothing)";
    at("output-text").classList.toggle("quiet", !item.output);
    at("back").disabled = place === 0;
    if (study.is_marked && given(item)) showMarking();
    else showChoices();
  }

  function showPart(id) {
    for (const part of ["choosing", "marking"]) at(part).hidden = part !== id;
    window.scrollTo(0, 0);
  }

  function showChoices() {
    const choices = choicesOf(items[place]);
    showPart("choosing");
    at("next").classList.remove("main");
    at("choices").replaceChildren(...choices.map((choice, number) => button(number + 1, choice.title, choice.description)));
    // The button that had the focus is gone: a screen reader would begin again at the head of the page.
    at("text").focus({ preventScroll: true });
  }

  // The field is not read-only, because browsers then hide the cursor, and keys alone could not mark anything.
  function showMarking() {
    const item = items[place];
    const { choice, start, end } = given(item);
    const shown = item.choices[choice - 1];
    showPart("marking");
    at("document-title").textContent = shown.title;
    area.value = shown.description;
    area.lang = study.language;
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight + 4}px`;
    area.focus({ preventScroll: true });
    area.setSelectionRange(...[start || 0, end || 0].map((place) => unitsBefore(shown.description, place)));
    showMarked();
  }

  function showMarked() {
    const text = given(items[place]).text;
    at("marked").replaceChildren(...(text ? ["Marked: ", element("mark", "", text)] : [text === "" ? "You said that the answer is not in it." : "Nothing is marked yet."]));
    at("next").classList.toggle("main", isAnswered(items[place]));
  }

  // Characters are counted as code points, and the browser counts UTF-16 units.
  const pointsBefore = (text, units) => [...text.slice(0, units)].length;
  const unitsBefore = (text, points) => [...text].slice(0, points).join("").length;

  function noteMark() {
    if (at("marking").hidden || at("question").hidden || document.activeElement !== area) return;
    const text = area.value;
    const raw = text.slice(area.selectionStart, area.selectionEnd);
    const words = raw.trim();
    // A click only sets the cursor: it must not lose a mark.
    if (!words) return;
    const first = area.selectionStart + raw.length - raw.trimStart().length;
    const start = pointsBefore(text, first);
    const span = { start, end: start + [...words].length, text: words };
    const known = given(items[place]);
    // Several events tell of one selection, and a screen reader should say it once.
    if (known.start !== span.start || known.end !== span.end) mark(span);
  }

  function mark(span) {
    answers[items[place].item] = { choice: given(items[place]).choice, ...span };
    save();
    showMarked();
    showProgress();
  }

  function showEnd() {
    showOnly("end");
    const open = items.length - countAnswered();
    at("done").textContent = open ? `${open} of ${items.length} ${study.noun}s have no answer yet.` : `All ${items.length} ${study.noun}s are answered. Thank you!`;
    at("unanswered").hidden = open === 0;
    at("done").focus();
  }

  function firstOpen() {
    const found = items.findIndex((item) => !isAnswered(item));
    return found < 0 ? items.length : found;
  }

  function answer(number) {
    const item = items[place];
    // The same document again keeps what is marked in it.
    if (given(item)?.choice !== number) answers[item.item] = { choice: number };
    save();
    show(study.is_marked ? place : place + 1);
  }

  function download() {
    const handedIn = items.filter(given).map((item) => ({ item: item.item, ...given(item) }));
    const content = JSON.stringify({ schema: 1, sample: study.sample, annotator, answers: handedIn }, null, 2) + "\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type: "application/json" }));
    link.download = `answers-${annotator.replace(/[^\p{L}\p{N}]+/gu, "-")}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  at("begin").addEventListener("submit", (event) => {
    event.preventDefault();
    annotator = at("annotator").value.trim();
    if (!annotator) return;
    answers = load(annotator);
    save();
    show(firstOpen());
  });
  at("back").addEventListener("click", () => show(place - 1));
  at("next").addEventListener("click", () => show(place + 1));
  at("return").addEventListener("click", () => show(items.length - 1));
  at("unanswered").addEventListener("click", () => show(firstOpen()));
  at("download").addEventListener("click", download);
  at("finish").addEventListener("click", download);

  at("another").addEventListener("click", showChoices);
  at("nothing").addEventListener("click", () => {
    mark({ start: 0, end: 0, text: "" });
    show(place + 1);
  });
  area.addEventListener("beforeinput", (event) => event.preventDefault());
  // An input method may change the text all the same.
  area.addEventListener("input", showMarking);
  area.addEventListener("select", noteMark);
  document.addEventListener("selectionchange", noteMark);

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !at("welcome").hidden) return;
    const isMarking = place < items.length && !at("marking").hidden;
    if (isMarking && event.key === "Escape") return showChoices();
    // Arrows move the cursor in the text.
    if (event.target === area) {
      if (event.key !== "Enter") return;
      if (isAnswered(items[place])) show(place + 1);
      return event.preventDefault();
    }
    const isChosen = place < items.length && !isMarking && isChoice(items[place], Number(event.key));
    if (event.key === "ArrowLeft") show(place - 1);
    else if (event.key === "ArrowRight") show(place + 1);
    // A key that is held down repeats, and would answer text after text.
    else if (isChosen && !event.repeat) answer(Number(event.key));
    else return;
    event.preventDefault();
  });

  const numbers = choicesOf(items[0]).map((_, number) => number + 1);
  const action = study.is_marked ? "choose a document" : "answer";
  at("keys").textContent = `${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)} ${action}, the arrows go back and forth.`;
  at("choices").classList.toggle("read", study.is_marked);
  at("total").textContent = items.length;
  showOnly("welcome");
  at("annotator").focus();
})();
