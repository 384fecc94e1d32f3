// Formats numbers and amounts for the reader's locale; the exact value stays in the tooltip. Times are written in one
// form, in UTC, whatever the locale. Shortened addresses and hashes are copied whole, rounded amounts exactly. Everything is there without this script too.

const languages = navigator.languages?.length ? [...navigator.languages] : undefined
const plain = new Intl.NumberFormat(languages)
const dollars = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol', minimumFractionDigits: 2 }
const exact = new Intl.NumberFormat(languages, { ...dollars, maximumFractionDigits: 6 })
const cents = new Intl.NumberFormat(languages, { ...dollars, maximumFractionDigits: 2 })
/** What is shown shortened. */
const cut = 'a.hex, data.usd'
const date = { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' }
const times = {
  day: new Intl.DateTimeFormat('en-GB', date),
  minute: new Intl.DateTimeFormat('en-GB', { ...date, hour: '2-digit', minute: '2-digit' }),
}

localize(document)
document.addEventListener('renewed', ({ target }) => localize(target))

function localize(root) {
  for (const one of root.querySelectorAll('data[value]')) {
    if (one.classList.contains('usd')) write(one, one.querySelector('.cents'))
    else one.textContent = plain.format(one.value)
  }
  for (const one of root.querySelectorAll('time.day, time.minute')) {
    one.textContent = times[one.className].format(new Date(one.dateTime))
  }
}

/** Writes an amount; `behind`: the element of what is behind the point. Null: it is written as one text, exactly. */
function write(one, behind) {
  if (!behind) {
    one.textContent = exact.format(one.value)
    return
  }
  const parts = (one.classList.contains('fine') ? exact : cents).formatToParts(one.value)
  const point = parts.findIndex(({ type }) => type === 'decimal')
  const text = (some) => some.map(({ value }) => value).join('')
  behind.textContent = text(parts.slice(point))
  one.replaceChildren(text(parts.slice(0, point)), behind)
}

// A clipboard is there on https alone, and on one's own machine. Tables have no buttons: what is copied from them is whole.
if (navigator.clipboard) {
  for (const one of document.querySelectorAll('pre, code.whole, a.hex')) {
    if (!one.closest('table, template')) offerCopy(one)
  }
}

function offerCopy(one) {
  const text = () => (one.matches('a.hex') ? (wholeOf(one) ?? one.textContent) : one.textContent)
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  if (!one.matches('pre')) button.setAttribute('aria-label', `Copy ${one.textContent}`)
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text())
      button.textContent = 'Copied'
    } catch {
      button.textContent = 'Not copied'
    }
  })
  one.after(button)
}

document.addEventListener('copy', (event) => {
  const selection = document.getSelection()
  if (!selection || selection.isCollapsed) return
  const text = wholeIn(selection)
  if (text === undefined) return
  event.clipboardData.setData('text/plain', text)
  event.preventDefault()
})

/** Text of the selection with addresses, hashes and amounts written out. Undefined: it has none that are not. */
function wholeIn(selection) {
  const { commonAncestorContainer: around } = selection.getRangeAt(0)
  const inside = (around.nodeType === Node.ELEMENT_NODE ? around : around.parentElement)?.closest(cut)
  if (inside) return wholeOf(inside)
  let text = selection.toString()
  let from = 0
  let isAny = false
  for (const link of document.querySelectorAll(cut)) {
    if (!selection.containsNode(link, true)) continue
    const at = text.indexOf(link.textContent, from)
    const whole = wholeOf(link)
    if (at < 0 || whole === undefined) continue
    text = text.slice(0, at) + whole + text.slice(at + link.textContent.length)
    from = at + whole.length
    isAny = true
  }
  return isAny ? text : undefined
}

/** The whole address or hash of a shortened link, from its title or target, or the exact amount. Undefined: there is no more. */
function wholeOf(link) {
  if (link.value !== undefined) return exact.format(link.value)
  const [start, end] = link.textContent.split('…')
  const found = `${link.title} ${link.href}`.match(/0x[0-9a-f]{40,64}/g) ?? []
  return end === undefined ? undefined : found.find((hex) => hex.startsWith(start) && hex.endsWith(end))
}
