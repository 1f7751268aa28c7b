"use strict";
// Text from the data reaches the page through textContent only.
(() => {
  const study = JSON.parse(document.getElementById("study").textContent);
  const items = study.items;
  const at = (id) => document.getElementById(id);
  let annotator = "";
  let answers = {};
  let place = 0;

  // One place for each annotator: who comes second must not see what the first has answered.
  const shelf = (name) => `shadowprobe ${study.sample} ${name}`;

  function load(name) {
    try {
      const kept = JSON.parse(localStorage.getItem(shelf(name)) || "{}");
      return Object.fromEntries(Object.entries(kept).filter(([item, choice]) => items[item - 1] && [1, 2, 3].includes(choice)));
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
    const done = Object.keys(answers).length;
    at("bar").max = items.length;
    at("bar").value = done;
    at("count").textContent = `${done} of ${items.length} answered`;
  }

  function button(number, title, description) {
    const made = document.createElement("button");
    made.type = "button";
    made.setAttribute("aria-pressed", String(answers[items[place].item] === number));
    const words = document.createElement("span");
    words.append(element("span", "title", title));
    if (description) words.append(element("span", "description", description));
    made.append(element("kbd", "", number), words);
    made.addEventListener("click", () => answer(number));
    return made;
  }

  function show(where) {
    place = Math.max(0, Math.min(where, items.length));
    if (place === items.length) return showEnd();
    const item = items[place];
    showOnly("question");
    at("place").textContent = `Text ${place + 1} of ${items.length}`;
    at("text").lang = study.language;
    at("text").replaceChildren(item.before, element("mark", "", item.mention), item.after);
    at("choices").replaceChildren(
      ...item.choices.map((choice, number) => button(number + 1, choice.title, choice.description)),
      button(3, study.not_sufficient, ""),
    );
    at("back").disabled = place === 0;
    // The button that had the focus is gone: a screen reader would begin again at the head of the page.
    at("text").focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  function showEnd() {
    showOnly("end");
    const open = items.length - Object.keys(answers).length;
    at("done").textContent = open ? `${open} of ${items.length} texts have no answer yet.` : `All ${items.length} texts are answered. Thank you!`;
    at("unanswered").hidden = open === 0;
    at("done").focus();
  }

  function firstOpen() {
    const found = items.findIndex((item) => !(item.item in answers));
    return found < 0 ? items.length : found;
  }

  function answer(number) {
    answers[items[place].item] = number;
    save();
    show(place + 1);
  }

  function download() {
    const given = items.filter((item) => item.item in answers).map((item) => ({ item: item.item, choice: answers[item.item] }));
    const content = JSON.stringify({ schema: 1, sample: study.sample, annotator, answers: given }, null, 2) + "\n";
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

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !at("welcome").hidden) return;
    if (event.key === "ArrowLeft") show(place - 1);
    else if (event.key === "ArrowRight") show(place + 1);
    // A key that is held down repeats, and would answer text after text.
    else if (["1", "2", "3"].includes(event.key) && !event.repeat && place < items.length) answer(Number(event.key));
    else return;
    event.preventDefault();
  });

  at("total").textContent = items.length;
  showOnly("welcome");
  at("annotator").focus();
})();
