"use strict";
// The data of a page: columns in compressed blocks, which are opened at the start, and running texts, whose blocks are
// opened when they are needed. Whatever comes from the data becomes a text node and never markup.

// The signs of base 85, as Python's base64.b85encode has them, with a comma in place of <.
const SIGNS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";
// So many blocks of running texts stay open.
const OPEN_BLOCKS = 24;
const by = (id) => document.getElementById(id);
const data = JSON.parse(by("data").textContent);

const valueOf = new Uint8Array(128);
[...SIGNS].forEach((sign, value) => (valueOf[sign.charCodeAt(0)] = value));

// Five signs are four bytes; a shorter group at the end is filled up and cut again.
function decode(text) {
  const missing = (5 - (text.length % 5)) % 5;
  const signs = text + "~".repeat(missing);
  const bytes = new Uint8Array((signs.length / 5) * 4);
  const view = new DataView(bytes.buffer);
  for (let place = 0, at = 0; place < signs.length; place += 5, at += 4) {
    let number = 0;
    for (let next = place; next < place + 5; next += 1) number = number * 85 + valueOf[signs.charCodeAt(next)];
    view.setUint32(at, number);
  }
  return bytes.subarray(0, bytes.length - missing);
}

async function openBlock(number) {
  const packed = new Blob([decode(by(`block-${number}`).textContent)]).stream();
  return JSON.parse(await new Response(packed.pipeThrough(new DecompressionStream("deflate"))).text());
}

function addUp(differences) {
  const numbers = new Int32Array(differences.length);
  let last = 0;
  differences.forEach((difference, place) => (numbers[place] = last += difference));
  return numbers;
}

// Puts every column in place of the number of its block.
async function openColumns(value) {
  if (value === null || typeof value !== "object") return value;
  if (Number.isInteger(value.block)) {
    const content = await openBlock(value.block);
    return value.delta ? addUp(content) : content;
  }
  for (const key of Object.keys(value)) value[key] = await openColumns(value[key]);
  return value;
}

const string = (number) => (number < 0 ? "" : data.strings[number]);

// The blocks of running texts that are open, those that were used last at the end.
const openTexts = new Map();

function blockOf(number) {
  const { starts } = data.passages;
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (starts[middle] <= number) low = middle;
    else high = middle - 1;
  }
  return low;
}

// A running text whose block is open.
function passage(number) {
  if (number < 0) return "";
  const block = blockOf(number);
  return openTexts.get(block)[number - data.passages.starts[block]];
}

// Opens the blocks of running texts; null where all of them are open, so that nobody has to wait.
function openPassages(numbers) {
  const wanted = new Set(numbers.filter((number) => number >= 0).map(blockOf));
  const closed = [];
  for (const block of wanted) {
    if (!openTexts.has(block)) {
      closed.push(block);
      continue;
    }
    const texts = openTexts.get(block);
    openTexts.delete(block);
    openTexts.set(block, texts);
  }
  if (closed.length === 0) return null;
  return Promise.all(closed.map(async (block) => [block, await openBlock(data.passages.blocks[block])])).then((opened) => {
    for (const [block, texts] of opened) openTexts.set(block, texts);
    for (const block of openTexts.keys()) {
      if (openTexts.size <= OPEN_BLOCKS) break;
      if (!wanted.has(block)) openTexts.delete(block);
    }
  });
}

// Calls the script of a report when its columns are there.
function whenOpen(start) {
  openColumns(data).then(start).catch((error) => {
    by("count").textContent = `This browser cannot open the list: ${error.message}`;
    by("browser").hidden = false;
    by("browser").removeAttribute("aria-busy");
  });
}
