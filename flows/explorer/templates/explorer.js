// Words and nodes that belong together light up together.
const light = (event, on) => {
  const links = event.target.closest?.('[data-link]')?.dataset.link.split(' ') ?? [];
  for (const link of links)
    for (const element of document.querySelectorAll(`[data-link~="${CSS.escape(link)}"]`)) element.classList.toggle('lit', on);
};
document.addEventListener('pointerover', event => light(event, true));
document.addEventListener('pointerout', event => light(event, false));

const read = async href => new DOMParser().parseFromString(await (await fetch(href)).text(), 'text/html');

// A link within an answer changes the answer alone: the page keeps its place, and the address is that of the link.
// Where that fails, as after the end of the explorer, the browser goes there, and says why.
document.addEventListener('click', event => {
  const link = event.target.closest('a[data-in-place]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  change(link.href).catch(() => { location.href = link.href; });
});
let chosen;
const change = async href => {
  chosen = href;
  document.querySelector('#answer').ariaBusy = 'true';
  let page = await read(href);
  while (page.querySelector('.working')) {
    await new Promise(done => setTimeout(done, 700));
    page = await read(href);
  }
  if (chosen !== href) return;  // another one was meanwhile
  const [old, made] = [document, page].map(each => each.querySelector('#answer'));
  old.replaceWith(document.importNode(made, true));
  history.pushState(null, '', href);
  [...document.querySelectorAll('a[data-in-place]')].find(each => each.href === href)?.focus({ preventScroll: true });
};
addEventListener('popstate', () => location.reload());

// Fields that were left empty are not part of the address, nor, for another table, columns of the one shown.
document.addEventListener('formdata', event => {
  const other = event.target.elements.table?.selectedOptions[0].defaultSelected === false;
  const columns = other ? ['sort', 'order', 'metric', 'low', 'high'] : [];
  for (const [name, value] of [...event.formData]) if (!value || columns.includes(name)) event.formData.delete(name);
});

// What is still being made is asked for again, but not while a field is in use: a reload would empty it.
if (document.querySelector('.working')) {
  let timer, asking = false;
  const ask = () => { if (!document.activeElement.form) { asking = true; location.reload(); } };
  const again = () => { clearTimeout(timer); timer = setTimeout(ask, 700); };
  document.addEventListener('focusin', event => { if (asking && event.target.form) { asking = false; stop(); } });
  document.addEventListener('focusout', again);
  addEventListener('beforeunload', () => clearTimeout(timer));  // a link or a form was chosen
  again();
}

// What changes while trainings run is asked for again, and replaced where it stands.
const renew = async () => {
  const live = [...document.querySelectorAll('[data-live]')];
  if (!live.length) return;
  try {
    const page = await read(location.href);
    for (const old of live) {
      const made = page.getElementById(old.id), focused = old.contains(document.activeElement) && document.activeElement.href;
      if (!made || made.isEqualNode(old)) continue;
      old.replaceWith(document.importNode(made, true));
      if (focused) [...document.querySelectorAll(`#${old.id} a`)].find(each => each.href === focused)?.focus({ preventScroll: true });
    }
  } catch { /* The explorer has ended, or is busy: the next time. */ }
  setTimeout(renew, 3000);
};
setTimeout(renew, 3000);
