// What is wrong with a page, a sentence each. Everything is opened, so that what is folded away is looked at too.
document.querySelectorAll('details').forEach(details => { details.open = true; });
const wrong = [];
const root = document.documentElement;
if (root.scrollWidth > root.clientWidth) {
  const wide = [...document.body.querySelectorAll('*')].filter(e =>
    e.getBoundingClientRect().right > root.clientWidth + 1 && !e.closest('.scroll') && !e.parentElement.closest('svg'));
  wrong.push(`wider than the window: ${wide.slice(0, 3).map(e => e.outerHTML.slice(0, 90)).join(' | ')}`);
}
const shown = e => e.getClientRects().length > 0;
for (const svg of document.querySelectorAll('svg')) {
  if (!shown(svg) || svg.ownerSVGElement) continue;
  const frame = svg.getBoundingClientRect();
  for (const text of svg.querySelectorAll('text')) {
    const box = text.getBoundingClientRect();
    const within = box.left > frame.left - 1 && box.right < frame.right + 1
      && box.top > frame.top - 1 && box.bottom < frame.bottom + 1;
    if (!within) wrong.push(`clipped: ${JSON.stringify(text.textContent)} in ${svg.getAttribute('aria-label')}`);
  }
}
const numbers = colour => colour.match(/[\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
const ground = element => {
  for (let e = element; e; e = e.parentElement) {
    const colour = numbers(getComputedStyle(e).backgroundColor);
    if (colour.length === 3 || colour[3] > .9) return colour;
  }
  return [255, 255, 255];
};
const seen = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !shown(element) || element.closest('style')) continue;
  const style = getComputedStyle(element);
  const colour = numbers(element.closest('svg') ? style.fill : style.color);
  const [a, b] = [light(colour), light(ground(element))].sort((x, y) => y - x);
  const ratio = (a + .05) / (b + .05);
  const what = `${element.tagName} ${element.getAttribute('class') ?? ''}`;
  const told = `faint: ${colour} on ${ground(element)} (${ratio.toFixed(1)}), ${what}`;
  if (ratio < 4.5 && !seen.has(told)) { seen.add(told); wrong.push(told); }
}
return wrong;
