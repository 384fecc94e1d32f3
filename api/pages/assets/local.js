// Writes numbers, amounts and times as their reader is used to; the exact value stays on pointing at them. Times stay UTC,
// as they are called on the page. Everything is there without this script as well.

const languages = navigator.languages?.length ? [...navigator.languages] : undefined
const plain = new Intl.NumberFormat(languages)
const money = new Intl.NumberFormat(languages, {
  style: 'currency',
  currency: 'USD',
  currencyDisplay: 'narrowSymbol',
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
})
const date = { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' }
const times = {
  day: new Intl.DateTimeFormat(languages, date),
  minute: new Intl.DateTimeFormat(languages, { ...date, hour: '2-digit', minute: '2-digit' }),
}

localize(document)
document.addEventListener('renewed', ({ target }) => localize(target))

function localize(root) {
  for (const one of root.querySelectorAll('data[value]')) {
    one.textContent = (one.className === 'usd' ? money : plain).format(one.value)
  }
  for (const one of root.querySelectorAll('time.day, time.minute')) {
    one.textContent = times[one.className].format(new Date(one.dateTime))
  }
}
