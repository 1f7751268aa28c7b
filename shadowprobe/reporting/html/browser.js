// What the browsers of all reports share: a list with filters, pages, keys and links.

const PAGE = 50;
const capital = (word) => word[0].toUpperCase() + word.slice(1);

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

function pair(list, term, ...content) {
  list.append(make("dt", {}, term), make("dd", {}, ...content));
}

function badge([outcome, meaning], kind, count = "") {
  return make("span", { class: "outcome", "data-kind": kind ?? "none", title: meaning }, `${count}${outcome}`);
}

// The entries of a list in which a name stands for all rows that bear it.
function byName(names) {
  const known = new Map();
  names.forEach((code, row) => {
    const name = string(code);
    if (!known.has(name)) known.set(name, { key: `name=${encodeURIComponent(name)}`, name, rows: [] });
    known.get(name).rows.push(row);
  });
  return [...known.values()];
}

// What a kind of report has of its own:
//   entries: {key, name, rows} of the list, in the order of the data; a link leads to the key
//   counted: what the entries are called on the count, if not names
//   nouns: what an entry is called, by the beginning of its key, if not a name
//   texts(row): the numbers of the running texts of a row, which must be open for what follows
//   words(row): what is looked for in
//   needed(entry): the numbers of further running texts that its detail shows, if any
//   systems: the systems under test, each with its label
//   column: the column of a system that says what became of each row, which is a list of choices too
//   meanings: the values of this column, each with a sentence
//   differs(row): whether the systems disagree on a row, if not by this column
//   choices: of each further list of choices, its pairs of value and name
//   fits(row, asked): whether a row has what is chosen from these
//   source: what the data is in, for the order of the data
//   orders: {key: [name, compare]}, further orders
//   prepare(entry, rows, asked): what an order needs to know of an entry, if anything
//   line(entry, system): what the list says of an entry and a system
//   detail(entry): the elements that show an entry, of which the rows `entry.fitting` fit
function browse(report) {
  const { entries, systems, column, meanings, counted = "names", nouns = { name: "name" } } = report;
  const several = systems.length > 1;
  const differs = report.differs ?? ((row) => systems.some((system) => system[column][row] !== systems[0][column][row]));
  for (const entry of entries) entry.disagreements = entry.rows.filter(differs).length;
  // The first holds unless another is chosen.
  const orders = {
    differ: ["disagreements first", (one, other) => other.disagreements - one.disagreements],
    dataset: [`as in the ${report.source}`, () => 0],
    name: ["by name", (one, other) => one.name.localeCompare(other.name)],
    ...report.orders,
  };
  const entryOf = new Map(entries.map((entry) => [entry.key, entry]));
  entries.forEach((entry, place) => (entry.place = place));
  const rowCount = entries.reduce((count, entry) => count + entry.rows.length, 0);
  // What is asked for, by the identifiers of the fields.
  const asked = {};
  // Of each row whether the words that are looked for are in it; null where none are.
  let hits = null;
  let found = "";
  let searches = 0;
  // The filters that hold, as the address has them.
  let filtered = "#";
  let shown = [];
  let page = 0;
  let current = null;

  function fits(row) {
    if (asked.differ && !differs(row)) return false;
    const judged = asked.system >= 0 ? [systems[asked.system]] : systems;
    if (asked[column] >= 0 && !judged.some((system) => system[column][row] === asked[column])) return false;
    return (report.fits?.(row, asked) ?? true) && (hits === null || hits[row] === 1);
  }

  // Looks for words in all rows, block by block; false if a later search has begun meanwhile.
  async function search(text) {
    searches += 1;
    const own = searches;
    if (text === found) return true;
    const isHit = new Uint8Array(text === "" ? 0 : rowCount);
    for (let row = 0; row < isHit.length; row += 1) {
      const waiting = openPassages(report.texts(row));
      if (waiting !== null) {
        by("browser").setAttribute("aria-busy", "true");
        by("count").textContent = `Searching: ${Math.floor((100 * row) / rowCount)}%`;
        await waiting;
        if (own !== searches) return false;
      }
      isHit[row] = report.words(row).join("\n").toLowerCase().includes(text) ? 1 : 0;
    }
    hits = text === "" ? null : isHit;
    found = text;
    by("browser").removeAttribute("aria-busy");
    return true;
  }

  function filter() {
    shown = [];
    for (const entry of entries) {
      entry.fitting = entry.rows.filter(fits);
      if (entry.fitting.length === 0) continue;
      report.prepare?.(entry, entry.fitting, asked);
      shown.push(entry);
    }
    const compare = orders[asked.order][1];
    shown.sort((one, other) => compare(one, other) || one.place - other.place);
    const place = shown.indexOf(current);
    page = place < 0 ? 0 : Math.floor(place / PAGE);
    drawList();
  }

  function line(entry, system) {
    const drawn = make("span", {});
    if (several) drawn.append(isolated(system.label), ": ");
    drawn.append(...report.line(entry, system));
    return drawn;
  }

  function drawList() {
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    const items = shown.slice(page * PAGE, (page + 1) * PAGE).map((entry) =>
      make("li", {}, make(
        "a",
        { href: addressOf(entry), "aria-current": entry === current ? "true" : null },
        make("strong", {}, isolated(entry.name)),
        ...systems.map((system) => line(entry, system)),
      )));
    by("list").replaceChildren(...items);
    by("count").textContent = `${shown.length} of ${entries.length} ${counted}`;
    by("page").textContent = `${page + 1} of ${pages}`;
    by("back").disabled = page === 0;
    by("forth").disabled = page + 1 >= pages;
    const [name, sentence] = meanings[asked[column]] ?? [];
    by("meaning").hidden = name === undefined;
    by("meaning").textContent = name === undefined ? "" : `${capital(name)}: ${sentence}.`;
  }

  async function drawDetail(problem) {
    const entry = current;
    const title = make("h3", { id: "detail-title" });
    if (entry === null) {
      title.append(problem ?? "Choose a name on the list");
      by("detail").replaceChildren(title);
      return;
    }
    title.append(isolated(entry.name));
    // What was there stays until the texts are, so that the page does not jump.
    const waiting = openPassages([...entry.rows.flatMap(report.texts), ...(report.needed?.(entry) ?? [])]);
    if (waiting !== null) await waiting;
    if (entry !== current) return;
    by("detail").replaceChildren(title, ...report.detail(entry).filter((part) => part !== null));
  }

  function choose(entry) {
    current = entry;
    const place = shown.indexOf(entry);
    if (place >= 0) page = Math.floor(place / PAGE);
    drawList();
    const link = document.querySelector('#list a[aria-current="true"]');
    // Only the list moves, and not the page under the reader.
    if (link) by("list").scrollTop = link.offsetTop - by("list").offsetTop - by("list").clientHeight / 3;
    return link;
  }

  // The fields of the form whose value is not the first one.
  const fields = () => [...by("filters").elements].filter((field) => field.matches("input, select"));
  const isChanged = (field) => (field.type === "checkbox" ? field.checked : field.type === "search" ? field.value.trim() !== "" : field.selectedIndex > 0);
  const valueIn = (field) => (field.type === "checkbox" ? "yes" : field.type === "search" ? field.value.trim() : field.selectedOptions[0].text);

  // What leads back here: the name that is open and the filters.
  function addressOf(entry) {
    const filters = fields().filter(isChanged).map((field) => `${field.id}=${encodeURIComponent(valueIn(field))}`);
    return `#${[...(entry ? [entry.key] : []), ...filters].join("&")}`;
  }

  function readAddress() {
    const pairs = location.hash.slice(1).split("&").map((part) => /^([a-z]+)=(.*)$/s.exec(part)).filter(Boolean);
    return pairs.map(([, key, rest]) => {
      try {
        return [key, decodeURIComponent(rest)];
      } catch {
        // A stray % in an address typed by hand stands for itself.
        return [key, rest];
      }
    });
  }

  function setField(field, wanted) {
    if (field.type === "checkbox") field.checked = wanted === "yes";
    else if (field.type === "search") field.value = wanted ?? "";
    else field.selectedIndex = Math.max(0, [...field.options].findIndex((option) => option.text === wanted));
  }

  async function follow() {
    const address = readAddress();
    const wanted = new Map(address);
    for (const field of fields()) setField(field, wanted.get(field.id));
    filtered = addressOf(null);
    if (!(await read())) return;
    const [kind, name] = address.find(([key]) => Object.hasOwn(nouns, key)) ?? [];
    if (kind === undefined) {
      // The first name is open, but the page stays where it is.
      if (current === null && shown.length > 0) choose(shown[0]);
      await drawDetail();
      return;
    }
    const entry = entryOf.get(`${kind}=${encodeURIComponent(name)}`);
    if (entry) {
      choose(entry);
      await drawDetail();
    } else {
      current = null;
      drawList();
      await drawDetail(`There is no ${nouns[kind]} “${name}” here`);
    }
    reveal();
  }

  // Where the list stands above the texts, as on a telephone, they would stay out of sight.
  function reveal() {
    const narrow = matchMedia("(max-width: 44rem)").matches;
    (narrow ? by("detail") : by("browser").closest("section")).scrollIntoView();
  }

  async function step(names) {
    if (shown.length === 0) return;
    const place = shown.indexOf(current);
    const next = place < 0 ? page * PAGE : Math.min(Math.max(place + names, 0), shown.length - 1);
    // Walking down a list is no history to walk back.
    history.replaceState(null, "", addressOf(shown[next]));
    choose(shown[next])?.focus({ preventScroll: true });
    await drawDetail();
    const { top } = by("detail").getBoundingClientRect();
    if (top < 0 || top > innerHeight / 2) reveal();
  }

  function turn(pages) {
    page = Math.min(Math.max(page + pages, 0), Math.max(0, Math.ceil(shown.length / PAGE) - 1));
    drawList();
    by("list").scrollTop = 0;
  }

  // Reads the fields and shows what fits; false if the fields have changed again meanwhile.
  async function read() {
    for (const field of fields()) {
      if (field.type === "checkbox") asked[field.id] = field.checked;
      else if (field.type === "search") asked[field.id] = field.value.trim().toLowerCase();
      // Numbers stand for what the data numbers; orders have names.
      else asked[field.id] = field.id === "order" ? field.value : Number(field.value);
    }
    if (!(await search(asked.text))) return false;
    filter();
    return true;
  }

  async function change() {
    // A field tells of the same change again when it is left; drawn anew, the list would lose the click that left it.
    const filters = addressOf(null);
    if (filters === filtered) return;
    filtered = filters;
    if (!(await read())) return;
    // Where nothing is open, or nothing that fits, the first that does is.
    if (!shown.includes(current) && shown.length > 0) choose(shown[0]);
    const isNamed = readAddress().some(([key]) => Object.hasOwn(nouns, key));
    history.replaceState(null, "", addressOf(isNamed ? current : null));
    drawList();
    await drawDetail();
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
    const judgements = occurring(meanings.map(([name]) => name), systems.map((system) => system[column]));
    for (const [id, pairs] of Object.entries({ [column]: judgements, ...report.choices })) fill(id, [[-1, "any"], ...pairs]);
    fill("system", [[-1, "any"], ...systems.map((system, number) => [number, system.label])]);
    fill("order", Object.entries(orders).filter(([key]) => several || key !== "differ").map(([key, [name]]) => [key, name]));
    by("system-label").hidden = by("differ-label").hidden = !several;
    // Not everything that chooses from a list for a person says that it typed.
    for (const event of ["input", "change"]) by("filters").addEventListener(event, change);
    by("filters").addEventListener("submit", (event) => event.preventDefault());
    // The fields are empty only after the event.
    by("filters").addEventListener("reset", () => setTimeout(change));
    by("back").addEventListener("click", () => turn(-1));
    by("forth").addEventListener("click", () => turn(1));
    document.addEventListener("keydown", press);
    addEventListener("hashchange", follow);
    for (const hidden of ["#filters", ".help", "#browser"]) document.querySelector(hidden).hidden = false;
    // What is folded is printed too.
    addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => (one.open = true)));
    follow().then(() => by("browser").removeAttribute("aria-busy"));
  }

  start();
}

// The pairs of a list of choices that occur in the data, by their numbers.
function occurring(names, columns) {
  const found = new Set(columns.flatMap((column) => [...new Set(column)]));
  return names.map((name, number) => [number, name]).filter(([number]) => found.has(number));
}
