// Renews the newest settlements of a page that is looked at; everything on it works without this script as well.

const note = document.getElementById('live')
const rows = document.getElementById('live-rows')

/** As the service wrote them: another script may have written them anew. */
let before = ''

if (note && rows) {
  note.textContent = 'Renewed while you look.'
  setInterval(() => {
    if (document.hidden) return
    renew().catch(() => {
      note.textContent = 'Not renewed just now; the next try follows.'
    })
  }, Number(note.dataset.every) * 1_000)
}

async function renew() {
  const response = await fetch(location.pathname + location.search)
  if (!response.ok) throw new Error(`The page answered ${response.status}.`)
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').getElementById('live-rows')
  if (!fresh) return
  note.textContent = 'Renewed while you look.'
  const shown = fresh.innerHTML
  if (shown === before) return
  before = shown
  rows.replaceChildren(...fresh.childNodes)
  rows.dispatchEvent(new Event('renewed', { bubbles: true }))
}
