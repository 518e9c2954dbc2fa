(() => {
'use strict';
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId('data').textContent);
const main = byId('document');
// A node's number is the position of its element among these.
const NODE = '.s,caption,th,td';
const nodes = [...main.querySelectorAll(NODE)];
const numbers = new Map(nodes.map((node, number) => [node, number]));
const ids = data.ids.split(' ');
const sections = [...document.querySelectorAll('.answer')];
const panel = document.querySelector('.panel');
let current = 0;
let chosen = -1;
// The node that is brought into view.
let sought = -1;

const answer = () => data.answers[current];
const links = () => sections[current] ? [...sections[current].querySelectorAll('.ranks li > a')] : [];
const target = (link) => Number(link.hash.slice(2));
const rankOf = (number) => answer() ? answer().ranked.findIndex((ranked) => ranked[0] === number) : -1;

function element(tag, properties, ...children) {
  const created = Object.assign(document.createElement(tag), properties);
  created.append(...children);
  return created;
}

// As text.rs writes them.
function number(value) {
  const size = Math.abs(value);
  const plain = size === 0 || (size >= 0.0005 && size < 1e6);
  return (plain ? value.toFixed(3) : value.toExponential(2).replace('e+', 'e')).replaceAll('-', '\u2212');
}

function letters(segment) {
  let name = '';
  for (let rest = segment + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    name = String.fromCharCode(65 + (rest - 1) % 26) + name;
  }
  return name;
}

const inside = (node) => node.tagName === 'CAPTION' ? node.firstElementChild : node;

function textOf(node) {
  const own = [...inside(node).childNodes].filter((child) => !(child.classList && /^(b|tag)\b/.test(child.className)));
  return own.map((child) => child.textContent).join('').trim();
}

const place = (number) => [0, 1].map((part) => data.places[data.at[2 * number + part]]).filter(Boolean).join(', ');

// Text and place of a node in one line.
function describe(number) {
  return [place(number), textOf(nodes[number])].filter(Boolean).join(': ');
}

/* Marks of an answer. */

function sign(rank, segment) {
  const hidden = (text) => element('span', { className: 'vh' }, text);
  if (segment < 0) return element('span', { className: 'b' }, hidden('rank '), String(rank));
  return element('span', { className: 'b m' + segment % 8 }, hidden('rank '), String(rank), hidden(', segment '),
    element('b', {}, letters(segment)));
}

function mark(shown, on) {
  if (!shown) return;
  shown.shades.forEach((shade, level) => {
    for (const number of shade) nodes[number].classList.toggle('l' + (level + 1), on);
  });
  for (const [number, rank, segment] of shown.ranked) {
    const node = nodes[number];
    node.classList.toggle('k', on);
    if (segment >= 0) node.classList.toggle('m' + segment % 8, on);
    if (on) {
      inside(node).prepend(sign(rank, segment), ' ');
    } else {
      const old = inside(node).querySelector('.b');
      old.nextSibling.data = old.nextSibling.data.slice(1);
      old.remove();
      node.normalize();
    }
  }
}

function answerWith(next) {
  close();
  mark(answer(), false);
  current = next;
  mark(answer(), true);
  sections.forEach((section, position) => { section.hidden = position !== next; });
  prepare();
  showBest();
  showWay();
}

/* The chosen node. */

const best = () => answer() && answer().ranked.length ? answer().ranked[0][0] : 0;

// One node of the document can be reached by the tab key: the chosen one, else the best.
function prepare() {
  const first = best();
  for (const node of main.querySelectorAll('.s[tabindex],caption[tabindex],th[tabindex],td[tabindex]')) {
    node.removeAttribute('tabindex');
  }
  const reachable = nodes[chosen >= 0 ? chosen : first];
  if (reachable) reachable.tabIndex = 0;
}

function unmark() {
  for (const node of document.querySelectorAll('[aria-current]')) node.removeAttribute('aria-current');
  for (const node of main.querySelectorAll('.nb')) node.classList.remove('nb');
}

function close() {
  unmark();
  chosen = -1;
  sought = -1;
  byId('node').hidden = true;
  document.documentElement.classList.remove('chosen');
}

function choose(number, focus) {
  if (!nodes[number]) return;
  unmark();
  chosen = number;
  nodes[number].setAttribute('aria-current', 'true');
  for (const link of links()) {
    if (target(link) === number) link.setAttribute('aria-current', 'true');
  }
  explain(number);
  byId('node').hidden = false;
  // In the panel, where it has a scroll bar of its own; it is shorter now.
  const link = panel.querySelector('.answer:not([hidden]) .ranks [aria-current]');
  if (link && getComputedStyle(panel).position === 'sticky') link.scrollIntoView({ block: 'nearest' });
  document.documentElement.classList.add('chosen');
  prepare();
  seek(number);
  if (focus) nodes[number].focus({ preventScroll: true });
}

function seek(number) {
  sought = number;
  bring(number, 3);
}

// A question is opened at its best node. Where the answers stand above the document and not beside it, at these: the
// list of ranks would be out of sight.
function showBest() {
  if (links().length && getComputedStyle(panel).position === 'sticky') seek(best());
}

// Parts that were not laid out yet have estimated heights: once they are, look again.
function bring(number, times) {
  if (number !== sought || times === 0) return;
  const node = nodes[number];
  const box = node.getBoundingClientRect();
  const sheet = getComputedStyle(byId('node')).position === 'fixed' ? byId('node').offsetHeight : 0;
  const seen = box.top >= 0 && box.bottom <= innerHeight - sheet && box.left >= 0 && box.right <= innerWidth;
  if (!seen || times === 3) {
    const tall = box.height > (innerHeight - sheet) / 2;
    node.scrollIntoView({ block: tall ? 'start' : seen ? 'nearest' : 'center', inline: 'nearest' });
  }
  requestAnimationFrame(() => bring(number, times - 1));
}

function scoreLine(at, ranked) {
  const total = nodes.length;
  if (ranked) {
    const [, rank, segment, score] = ranked;
    const part = segment >= 0 ? `, segment ${letters(segment)} (${answer().segments[segment]})` : '';
    const scored = score === null ? '' : `, score ${number(score)}`;
    return `Rank ${rank} of ${total}${scored}${part}`;
  }
  const scores = answer() ? answer().scores : [];
  const score = scores[at];
  if (score === undefined || score === null) return 'Not scored';
  const better = scores.reduce((count, other) => count + (other !== null && other > score), 0);
  return `Rank ${better + 1} of ${total}, score ${number(score)}`;
}

function explain(at) {
  const position = rankOf(at);
  const ranked = position >= 0 ? answer().ranked[position] : null;
  const line = scoreLine(at, ranked);
  byId('node-title').textContent = ids[at];
  const text = textOf(nodes[at]);
  const body = [
    element('p', { className: 'quote', dir: 'auto' }, text.length > 300 ? text.slice(0, 300) + '…' : text || '(no text)'),
    element('p', {}, element('bdi', {}, place(at))),
    element('p', {}, line),
  ];
  const why = answer() && answer().why[at];
  if (why) {
    body.push(...explanation(why));
    for (const [from] of why[1]) nodes[from].classList.add('nb');
  } else if (answer() && Object.keys(answer().why).length) {
    body.push(element('p', {}, element('small', {}, 'Explained are the top nodes only.')));
  }
  byId('node-body').replaceChildren(...body);
  byId('node-body').scrollTop = 0;
  byId('status').textContent = `${line}. ${describe(at).slice(0, 300)}`;
  const count = answer() ? answer().ranked.length : 0;
  byId('previous').disabled = position <= 0;
  byId('next').disabled = position + 1 >= count;
}

function explanation([alone, edges, more, least, before]) {
  const most = edges.reduce((most, edge) => Math.max(most, Math.abs(edge[3])), 0) || 1;
  const both = edges.some((edge) => edge[3] < 0) ? 'bar both' : 'bar';
  const first = before === null ? '' : `Score before the reranker: ${number(before)}. `;
  const lead = element('p', {}, `${first}Score if no neighbour spoke: ${number(alone)}`);
  if (!edges.length) return [lead];
  const head = element('tr', {}, ...['From', 'Edge', 'Strength', 'Effect'].map((name, column) =>
    element('th', { scope: 'col', className: column > 1 ? 'n' : '' }, name)));
  const rows = edges.map(([from, type, strength, effect]) => {
    const bar = element('span', { className: effect < 0 ? 'bar both less' : both });
    bar.style.setProperty('--v', Math.abs(effect) / most);
    const go = element('button', { type: 'button', className: 'from' }, textOf(nodes[from]).slice(0, 60) || '(no text)');
    go.dataset.node = from;
    go.title = `${ids[from]} ${place(from)}`;
    return element('tr', {}, element('td', {}, go), element('td', {}, data.types[type]),
      element('td', { className: 'n' }, number(strength)), element('td', { className: 'n' }, bar, number(effect)));
  });
  const table = element('table', { className: 'effects' },
    element('caption', {}, 'What the score owes to each neighbour'), element('thead', {}, head), element('tbody', {}, ...rows));
  const rest = `and ${more} more, each with an effect of at most ${number(least)}`;
  return more ? [lead, table, element('p', {}, element('small', {}, rest))] : [lead, table];
}

/* The way of a walk over the nodes: drawn in a layer above the document, step by step. */

const walk = byId('walk');
const way = walk && document.createElementNS('http://www.w3.org/2000/svg', 'svg');
const FEW = 8;
const steps = () => answer() ? answer().path : [];
// The step that the way is drawn up to.
let reached = 0;

function drawn(tag, attributes, text) {
  const created = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value);
  if (text !== undefined) created.textContent = text;
  return created;
}

// Where a node stands in the layer; what is scrolled out of its table stays at the table's edge.
function boxOf(number, origin) {
  const own = nodes[number].getClientRects();
  const box = own.length > 1 ? own[0] : nodes[number].getBoundingClientRect();
  const around = nodes[number].closest('.scroll');
  let { left, right } = box;
  if (around) {
    const edge = around.getBoundingClientRect();
    left = Math.min(Math.max(left, edge.left), edge.right - 12);
    right = Math.max(Math.min(right, edge.right), left + 12);
  }
  return { left: left - origin.left, right: right - origin.left, top: box.top - origin.top, bottom: box.bottom - origin.top };
}

const middle = (box) => [(box.left + box.right) / 2, (box.top + box.bottom) / 2];

// A curve from the middle of one box to the border of another, with a head.
function arrow(from, to) {
  const [x, y] = middle(from);
  const [u, v] = middle(to);
  const length = Math.hypot(u - x, v - y) || 1;
  const bend = Math.min(40, length / 5);
  const [cx, cy] = [(x + u) / 2 - (v - y) / length * bend, (y + v) / 2 + (u - x) / length * bend];
  // From the bend straight to the middle: where that meets the border.
  const [dx, dy] = [u - cx, v - cy];
  const inside = Math.min((to.right - to.left) / 2 / Math.abs(dx || 1e-9), (to.bottom - to.top) / 2 / Math.abs(dy || 1e-9), .9);
  const [ex, ey] = [u - dx * inside, v - dy * inside];
  const angle = Math.atan2(ey - cy, ex - cx);
  const wing = (turn) => `${ex - 8 * Math.cos(angle + turn)},${ey - 8 * Math.sin(angle + turn)}`;
  return [drawn('path', { class: 'line', d: `M${x},${y}Q${cx},${cy} ${ex},${ey}` }),
    drawn('polygon', { class: 'head', points: `${ex},${ey} ${wing(.42)} ${wing(-.42)}` })];
}

function drawWay() {
  if (!way) return;
  const origin = main.getBoundingClientRect();
  const ticks = new Map();
  const groups = steps().slice(0, reached + 1).map((moves, step) => {
    const group = drawn('g', { class: step === reached ? 'now' : '' });
    for (const [from, to] of moves) {
      // What only looked around is shown while it is the step to look at.
      const few = to.length <= FEW;
      if (!few && step < reached) continue;
      for (const number of to) {
        const { left, right, top, bottom } = boxOf(number, origin);
        group.append(drawn('rect', { class: 'box', x: left + 1, y: top + 1, width: right - left - 2, height: bottom - top - 2, rx: 3 }));
        if (few && !ticks.has(number)) ticks.set(number, step);
      }
      if (!few) continue;
      for (const begin of from) {
        for (const end of to) if (begin !== end) group.append(...arrow(boxOf(begin, origin), boxOf(end, origin)));
      }
    }
    return group;
  });
  // Numbers of the steps in which nodes were first seen, above all lines.
  for (const [number, step] of ticks) {
    const { left, top } = boxOf(number, origin);
    groups[step].append(drawn('circle', { class: 'tick', cx: left + 3, cy: top + 3, r: 7.5 }),
      drawn('text', { x: left + 3, y: top + 6.5 }, step === 0 ? 'S' : String(step)));
  }
  way.replaceChildren(...groups);
}

let waiting = false;
function drawSoon() {
  if (waiting || !way) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; drawWay(); });
}

function goTo(step, seeking) {
  reached = Math.min(Math.max(step, 0), steps().length - 1);
  const shown = sections[current].querySelectorAll('[data-step]');
  shown.forEach((item, position) => {
    item.classList.toggle('now', position === reached);
    item.classList.toggle('later', position > reached);
    item.toggleAttribute('aria-current', position === reached);
  });
  const title = shown[reached].querySelector('h4').textContent;
  byId('walk-at').textContent = `Step ${reached + 1} of ${shown.length}: ${title}`;
  byId('walk-back').disabled = reached === 0;
  byId('walk-on').disabled = reached + 1 === shown.length;
  if (seeking) {
    close();
    const [first] = steps()[reached].flatMap(([from, to]) => [...to, ...from]);
    if (first !== undefined) seek(first);
    if (getComputedStyle(panel).position === 'sticky') shown[reached].scrollIntoView({ block: 'nearest' });
  }
  drawSoon();
}

// All of it, at first.
function showWay() {
  if (!walk) return;
  walk.hidden = !steps().length;
  if (steps().length) goTo(steps().length - 1, false);
  else drawWay();
}

if (walk) {
  way.id = 'way';
  way.setAttribute('aria-hidden', 'true');
  main.append(way);
  document.documentElement.classList.add('steps');
  byId('walk-back').addEventListener('click', () => goTo(reached - 1, true));
  byId('walk-on').addEventListener('click', () => goTo(reached + 1, true));
  panel.addEventListener('click', (event) => {
    const title = event.target.closest('.path h4');
    if (title) goTo(Number(title.parentElement.dataset.step), true);
  });
  addEventListener('scroll', drawSoon, { capture: true, passive: true });
  addEventListener('resize', drawSoon);
  new ResizeObserver(drawSoon).observe(main);
}

/* Mouse and touch. */

panel.addEventListener('click', (event) => {
  const link = event.target.closest('a[href^="#n"]');
  const go = event.target.closest('[data-node]');
  if (link) {
    event.preventDefault();
    choose(target(link), true);
  } else if (go) {
    choose(Number(go.dataset.node), true);
  }
});

main.addEventListener('click', (event) => {
  const node = event.target.closest(NODE);
  // Whoever selects text does not choose a node.
  if (node && numbers.has(node) && getSelection().isCollapsed) choose(numbers.get(node), true);
});

byId('close').addEventListener('click', () => back(true));
byId('previous').addEventListener('click', () => step(-1));
byId('next').addEventListener('click', () => step(1));

function step(by) {
  const next = answer() && answer().ranked[rankOf(chosen) + by];
  if (next) choose(next[0], false);
}

/* Keys. */

// To the rank of the chosen node, or to the list of ranks.
function back(closing) {
  const all = links();
  const link = all.find((link) => target(link) === chosen) || all[0];
  if (closing) close();
  if (link) link.focus();
}

function keyInPanel(event) {
  const all = links();
  const at = all.indexOf(document.activeElement);
  if (at < 0) return false;
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (next === undefined) return false;
  const link = all[next];
  if (link) {
    link.focus();
    choose(target(link), false);
  }
  return true;
}

// The cell above or below in the same column; merged cells are as wide as they look.
function vertical(cell, by) {
  const box = cell.getBoundingClientRect();
  const x = box.left + Math.min(box.width / 2, 20);
  const rows = [...cell.closest('table').rows];
  const from = cell.parentElement.rowIndex;
  for (let row = by > 0 ? from + cell.rowSpan : from - 1; rows[row]; row += by) {
    for (const other of rows[row].cells) {
      const { left, right } = other.getBoundingClientRect();
      if (left <= x && x < right) return numbers.get(other);
    }
  }
  const caption = cell.closest('table').caption;
  return by < 0 ? numbers.get(caption) : undefined;
}

function keyInDocument(event) {
  const node = document.activeElement;
  if (!numbers.has(node)) return false;
  const at = numbers.get(node);
  const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (event.key === 'Enter') choose(at, true);
  else if (by === undefined) return false;
  else {
    const inColumn = /Up|Down/.test(event.key) && /T[DH]/.test(node.tagName) ? vertical(node, by) : undefined;
    choose(inColumn === undefined ? at + by : inColumn, true);
  }
  return true;
}

document.addEventListener('keydown', (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
  if (event.key === 'Escape' && chosen >= 0) back(!main.contains(document.activeElement));
  else if (!(panel.contains(document.activeElement) ? keyInPanel(event) : keyInDocument(event))) return;
  event.preventDefault();
});

/* The page. */

const question = byId('question');
if (question) {
  question.closest('.switch').hidden = false;
  // A browser may remember the choice when the page is opened again.
  question.value = '0';
  question.addEventListener('change', () => answerWith(Number(question.value)));
}

const theme = byId('theme');
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (document.documentElement.dataset.theme || (prefersDark.matches ? 'dark' : 'light')) === 'dark';
const showTheme = () => theme.setAttribute('aria-pressed', isDark());
theme.hidden = false;
theme.addEventListener('click', () => {
  document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
  showTheme();
});
prefersDark.addEventListener('change', showTheme);
showTheme();

const strengths = [...document.querySelectorAll('.strengths')];
if (innerWidth <= 860) strengths.forEach((details) => { details.open = false; });
addEventListener('beforeprint', () => strengths.forEach((details) => { details.open = true; }));

byId('keys').hidden = false;
prepare();
if (!location.hash) {
  showBest();
  // Keys begin at the top all the same: a browser may begin with what it shows.
  document.body.tabIndex = -1;
  document.body.focus({ preventScroll: true });
  document.body.removeAttribute('tabindex');
}
showWay();
})();
