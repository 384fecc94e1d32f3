// Adds new settlements to the list while the page is visible, from a stream of server-sent events. Without a stream it
// polls the list. Everything on the page is there without this script as well.

const note = document.getElementById('live')
const rows = document.getElementById('live-rows')
const template = document.getElementById('live-row')
const mostRows = 30
/** Most characters of a name. */
const mostOfName = 20

if (note && rows && template) {
  const everyMs = Number(note.dataset.every) * 1_000
  let stream
  let timer
  const follow = () => {
    stream = new EventSource(note.dataset.stream)
    stream.addEventListener('open', () => tell('New ones appear while you look.'))
    stream.addEventListener('settlement', ({ data }) => add(data))
    // Another process answers, which does not know what this page has seen: load the list now, and once more when a
    // cached answer to that request has expired.
    stream.addEventListener('reset', () => {
      renew()
      setTimeout(renew, everyMs)
    })
    stream.addEventListener('error', () => {
      if (stream.readyState !== EventSource.CLOSED) return
      tell('Renewed while you look.')
      timer ??= setInterval(() => document.hidden || renew(), everyMs)
    })
  }
  follow()
  document.addEventListener('visibilitychange', () => {
    if (timer !== undefined) return
    stream.close()
    if (!document.hidden) follow()
  })
}

function add(data) {
  const body = rows.querySelector('tbody')
  // The amount digit by digit: a JavaScript number would round large ones.
  const row = JSON.parse(data, (key, value, context) =>
    key === 'amount_usdc' ? (context?.source ?? String(value)) : value,
  )
  const id = `settlement-${row.chain}-${row.block_number}-${row.log_index}`
  if (document.getElementById(id)) return
  const line = template.content.firstElementChild.cloneNode(true)
  line.id = id
  const time = line.querySelector('time')
  time.dateTime = time.title = time.textContent = row.block_timestamp
  const amount = line.querySelector('data')
  amount.value = row.amount_usdc
  amount.title = `${row.amount_usdc} USD`
  amount.classList.toggle('fine', row.amount_usdc > 0 && row.amount_usdc < 0.01)
  const chain = line.querySelector('.chain')
  chain.classList.add(row.chain)
  chain.textContent = JSON.parse(template.dataset.labels)[row.chain] ?? row.chain
  const [payer, recipient, transaction] = line.querySelectorAll('a')
  lead(payer, `/address/${row.payer_address}`, row.payer_address)
  lead(recipient, `/address/${row.recipient_address}`, row.recipient_address)
  lead(transaction, `/tx/${row.chain}/${row.tx_hash}`, row.tx_hash)
  introduce(payer, row.names.payer)
  introduce(recipient, row.names.recipient)
  const [itself, pending] = line.querySelectorAll('.status, .sub')
  if (row.payer_address !== row.recipient_address) itself.remove()
  if (row.final) pending.remove()
  body.prepend(line)
  rows.querySelector('.empty')?.remove()
  body.closest('[hidden]')?.removeAttribute('hidden')
  while (body.rows.length > mostRows) body.lastElementChild.remove()
  line.dispatchEvent(new Event('renewed', { bubbles: true }))
}

function lead(link, target, hex) {
  link.href = target
  link.title = hex
  link.textContent = `${hex.slice(0, 6)}…${hex.slice(-4)}`
}

/** Puts a link to who is behind an address before the link to it, if anybody is known: an agent before a facilitator. */
function introduce(link, known) {
  if (!known) return
  const { agent, facilitator } = known
  const who = document.createElement('a')
  who.href = agent ? `/agent/${agent.fid}` : `/facilitator/${encodeURIComponent(facilitator)}`
  const text = agent
    ? agent.handle === null
      ? `FID ${agent.fid}`
      : `@${shortName(agent.handle)}`
    : shortName(facilitator)
  who.append(Object.assign(document.createElement('bdi'), { textContent: text }))
  link.before(who, ' ')
}

/** A name on one line, as long as those that the service renders. */
function shortName(text) {
  const shown = [
    ...text
      .replace(/[\p{Cc}\p{Bidi_Control}]/gu, '')
      .replace(/\s+/g, ' ')
      .trim(),
  ]
  return shown.length > mostOfName ? `${shown.slice(0, mostOfName).join('')}…` : shown.join('')
}

/** Replaces the list by the one that the service renders now. */
async function renew() {
  try {
    const response = await fetch(location.pathname + location.search, { cache: 'no-cache' })
    if (!response.ok) throw new Error(`The page answered ${response.status}.`)
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').getElementById('live-rows')
    if (!fresh) return
    rows.replaceChildren(...fresh.childNodes)
    rows.dispatchEvent(new Event('renewed', { bubbles: true }))
  } catch {
    tell('Not renewed just now; the next try follows.')
  }
}

function tell(words) {
  note.textContent = words
}
