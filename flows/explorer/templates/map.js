// Draws the points of a map on a canvas, and lists those that are encircled.
const MOST_ROWS = 300;
const holder = document.querySelector('[data-map]');
if (holder) (async () => {
  const canvas = holder.querySelector('canvas'), under = holder.querySelector('#under');
  const { points, ends, legend } = await (await fetch(holder.dataset.map)).json();
  const order = new Map(legend.map((entry, n) => [entry.label, n]));
  let chosen = new Set(), lasso = [], ring = null, side = 1, colours = {};

  const context = canvas.getContext('2d');
  const at = point => [12 + point.x * (side - 24), 12 + point.y * (side - 24)];
  const read = () => {  // colours are those of the style sheet, of the light or the dark page
    const probe = document.createElement('i');
    holder.append(probe);
    const of = (name, property) => { probe.className = name; return getComputedStyle(probe)[property]; };
    colours = {
      kinds: [...Array(9).keys()].map(n => of(`dot k${n}`, 'color')), none: of('dot kn', 'color'),
      plain: of('dot', 'color'), low: of('dot low', 'color'), high: of('dot high', 'color'), text: of('', 'color'),
    };
    probe.remove();
  };
  const mixed = share => {
    const [a, b] = [colours.low, colours.high].map(each => each.match(/[\d.]+/g).slice(0, 3).map(Number));
    return `rgb(${a.map((from, n) => Math.round(from + (b[n] - from) * share)).join(' ')})`;
  };
  const colour = point => {
    if ('label' in point) return colours.kinds[order.get(point.label)] ?? colours.none;
    if (!('value' in point)) return colours.plain;
    return point.value === null ? colours.none : mixed((point.value - ends[0]) / (ends[1] - ends[0] || 1));
  };
  const draw = () => {
    const scale = devicePixelRatio;
    side = canvas.clientWidth;
    canvas.width = canvas.height = side * scale;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const size = points.length > 2000 ? 1.6 : points.length > 400 ? 2.8 : 3.8;
    points.forEach((point, n) => {
      const [x, y] = at(point);
      context.globalAlpha = chosen.size && !chosen.has(n) ? .15 : .8;
      context.fillStyle = colour(point);
      context.beginPath();
      context.arc(x, y, size, 0, 7);
      context.fill();
    });
    context.globalAlpha = 1;
    context.strokeStyle = colours.text;
    context.beginPath();
    lasso.forEach(([x, y], n) => n ? context.lineTo(x, y) : context.moveTo(x, y));
    if (ring) { context.moveTo(ring.x + ring.r, ring.y); context.arc(ring.x, ring.y, ring.r, 0, 7); }
    context.stroke();
  };
  const take = test => {
    chosen = new Set([...points.keys()].filter(n => test(points[n])));
    draw();
    const section = document.querySelector('#taken');
    section.hidden = !chosen.size;
    section.querySelector('h2').textContent =
      `${chosen.size} text${chosen.size === 1 ? '' : 's'}${chosen.size > MOST_ROWS ? `, the first ${MOST_ROWS} of them` : ''}`;
    const cell = (row, tag, content, kind) => {
      const made = row.appendChild(document.createElement(tag));
      made.append(content);
      if (kind) made.className = kind;
    };
    const shows = ['label', 'value'].find(name => name in points[0]);
    const head = document.createElement('tr');
    cell(head, 'th', 'text', 'words');
    if (shows) cell(head, 'th', new URLSearchParams(location.search).get('colour') ?? shows);
    section.querySelector('thead').replaceChildren(head);
    section.querySelector('tbody').replaceChildren(...[...chosen].slice(0, MOST_ROWS).map(n => {
      const row = document.createElement('tr'), link = document.createElement('a');
      link.href = `/sentence?${new URLSearchParams({ text: points[n].text })}`;
      Object.assign(link, { dir: 'auto', textContent: points[n].text });
      cell(row, 'td', link, 'words');
      if (shows) cell(row, 'td', String(points[n][shows] ?? ''));
      return row;
    }));
  };
  const nearest = (x, y) => points.reduce((best, point) => {
    const [px, py] = at(point), away = Math.hypot(px - x, py - y);
    return away < best.away ? { away, point } : best;
  }, { away: 24 }).point;
  const tell = (x, y) => { under.textContent = nearest(x, y)?.text ?? ''; };

  canvas.addEventListener('pointerdown', event => {
    canvas.setPointerCapture(event.pointerId);
    lasso = [[event.offsetX, event.offsetY]];
    ring = null;
  });
  canvas.addEventListener('pointermove', event => {
    if (!lasso.length) { tell(event.offsetX, event.offsetY); return; }
    lasso.push([event.offsetX, event.offsetY]);
    draw();
  });
  canvas.addEventListener('pointerup', () => {
    const path = new Path2D(), scale = devicePixelRatio;  // a point is in pixels of the screen
    for (const [x, y] of lasso) path.lineTo(x, y);
    lasso = [];
    take(point => { const [x, y] = at(point); return context.isPointInPath(path, x * scale, y * scale, 'evenodd'); });
  });
  canvas.addEventListener('keydown', event => {
    const moves = { ArrowLeft: [-8, 0], ArrowRight: [8, 0], ArrowUp: [0, -8], ArrowDown: [0, 8] };
    ring ??= { x: side / 2, y: side / 2, r: side / 10 };
    if (event.key in moves) { ring.x += moves[event.key][0]; ring.y += moves[event.key][1]; tell(ring.x, ring.y); }
    else if (event.key === '+') ring.r *= 1.25;
    else if (event.key === '-') ring.r /= 1.25;
    else if (event.key === 'Enter') { take(point => { const [x, y] = at(point); return Math.hypot(x - ring.x, y - ring.y) <= ring.r; }); }
    else if (event.key === 'Escape') { ring = null; take(() => false); }
    else return;
    event.preventDefault();
    draw();
  });
  holder.addEventListener('click', event => {
    const button = event.target.closest('.legend button');
    if (button) take(point => 'others' in button.dataset ? !order.has(point.label) : point.label === button.dataset.label);
  });
  new ResizeObserver(draw).observe(canvas);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { read(); draw(); });
  read();
  draw();
  holder.dataset.drawn = points.length;
})();
