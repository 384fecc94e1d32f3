// Claims and withdraws with a wallet of the browser (EIP-1193; discovered by EIP-6963, else at window.ethereum) or with a
// proof made elsewhere. Everything on the page works without this script as well.

const page = document.getElementById('claim')
const card = document.getElementById('wallet')
const choices = document.getElementById('wallets')
const outcome = document.getElementById('outcome')
const done = document.getElementById('done')

if (page) {
  const { fid, action, nonce, timestamp } = page.dataset
  const path = action === 'withdraw' ? '/api/claim/withdraw' : '/api/claim'
  const wallets = new Map()
  const offer = (key, name, wallet) => {
    if (wallets.has(key)) return
    wallets.set(key, wallet)
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = `Sign with ${name}`
    button.addEventListener('click', () => attempt(button, 'Waiting for the wallet …', () => sign(wallet)))
    choices.append(button)
    card.hidden = false
  }
  window.addEventListener('eip6963:announceProvider', ({ detail }) => {
    offer(detail.info.rdns || detail.info.uuid, String(detail.info.name).slice(0, 40), detail.provider)
  })
  window.dispatchEvent(new Event('eip6963:requestProvider'))
  if (wallets.size === 0 && window.ethereum) offer('ethereum', 'the wallet of this browser', window.ethereum)

  for (const form of document.querySelectorAll('.paste')) {
    form.hidden = false
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      const isCheck = event.submitter?.name === 'check'
      attempt(event.submitter, 'Checking …', () => send(proofOf(form), isCheck))
    })
  }

  async function sign(wallet) {
    const accounts = await wallet.request({ method: 'eth_requestAccounts' })
    const { address: wanted } = card.dataset
    const address = accounts.find((account) => account.toLowerCase() === wanted) ?? accounts[0]
    const option = document.querySelector(`.works-at[data-address="${CSS.escape(address.toLowerCase())}"]`)
    const asked = new URLSearchParams({ fid, address, method: 'eip191', action })
    if (option) asked.set('chain_id', option.dataset.chain)
    const challenge = await answerOf(fetch(`/api/claim/challenge?${asked}`))
    const signature = await wallet.request({ method: 'personal_sign', params: [toHex(challenge.text), address] })
    tell('', 'Checking the signature …')
    const { nonce, timestamp, chain_id } = challenge
    return send({ method: 'eip191', fid: Number(fid), address, nonce, timestamp, chain_id, signature }, false)
  }

  function proofOf(form) {
    const { method, address, chain } = form.dataset
    const given = new FormData(form)
    const common = { method, fid: Number(fid) }
    if (method === 'jfs') return { ...common, jfs: String(given.get('jfs')).trim() }
    if (method === 'well-known') return { ...common, host: String(given.get('host')).trim(), nonce }
    const signature = String(given.get('signature')).trim()
    return { ...common, address, nonce, timestamp, ...(chain && { chain_id: Number(chain) }), signature }
  }

  function send(body, isCheck) {
    return answerOf(
      fetch(isCheck ? `${path}?dry_run=true` : path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )
  }

  for (const clock of page.querySelectorAll('.clock')) countDown(clock)

  function attempt(button, words, work) {
    button.disabled = true
    button.closest('.paste, .choices').after(outcome)
    tell('', words)
    work()
      .then(async (answer) => {
        if (answer.dry_run) return tell('accepted', 'Every check holds. Nothing was stored.')
        const isListed = await lookAgain(fid)
        giveWay()
        const [said, unlisted] =
          action === 'withdraw'
            ? ['Withdrawn. ', 'Nothing else lists it, so its page is gone.']
            : ['Claimed. ', 'Its page follows shortly.']
        tell('accepted', isListed ? said : said + unlisted, isListed ? `/agent/${fid}` : undefined)
      })
      .catch((error) => tell('refused', refusal(error)))
      .finally(() => {
        button.disabled = false
      })
  }
}

/** A refusal by the service, in its words. */
class Refusal extends Error {}

async function answerOf(request) {
  const response = await request
  const body = await response.json()
  if (!response.ok) throw new Refusal(body.detail ?? body.error)
  return body
}

function refusal(error) {
  if (error instanceof Refusal) return `Refused: ${error.message}.`
  return error.message ? `It did not work: ${error.message}` : 'The wallet did not answer.'
}

/** Hides the forms, which have done their work, behind the answer; a claim's proof and badge follow it. */
function giveWay() {
  for (const form of page.querySelectorAll('.card')) form.hidden = true
  document.getElementById('works').closest('section').hidden = true
  page.querySelector('h2').after(outcome)
  done.hidden = page.dataset.action === 'withdraw'
}

/** Counts down the time in which a text is taken. It began at the server, not before the page was asked for. */
function countDown(clock) {
  const left = document.createElement('span')
  left.setAttribute('role', 'timer')
  clock.append(' ', left)
  const timer = setInterval(show, 1000)
  show()
  function show() {
    const seconds = Math.ceil(clock.dataset.seconds - performance.now() / 1000)
    left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left.`
    if (seconds > 0) return
    clearInterval(timer)
    clock.classList.add('problem')
    const link = document.createElement('a')
    link.href = location.pathname + location.search
    link.textContent = 'Make a new one'
    clock.replaceChildren('Its time is over: what is signed with it is refused. ', link)
  }
}

/**
 * Whether the account is listed as an agent now; true when that cannot be learned, as the claim holds all the same. The
 * browser's cached copies of its page and badge, which are older than the claim, are loaded again.
 */
async function lookAgain(fid) {
  const again = { cache: 'reload' }
  try {
    const { in_index } = await answerOf(fetch(`/api/agent/${fid}/explain`, again))
    if (in_index) await Promise.all([`/agent/${fid}`, `/badge/${fid}.svg`].map((path) => fetch(path, again)))
    return in_index
  } catch {
    return true
  }
}

function toHex(text) {
  const bytes = [...new TextEncoder().encode(text)]
  return `0x${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Shows an answer under the button that asked for it. `kind`: accepted, refused, or '' while it is waited for. */
function tell(kind, text, profile) {
  outcome.className = kind
  outcome.replaceChildren(text)
  outcome.focus()
  outcome.scrollIntoView({ block: 'nearest' })
  if (profile === undefined) return
  const link = document.createElement('a')
  link.href = profile
  link.textContent = 'See the page of your agent'
  outcome.append(link, '; others can see it as it was for up to a minute.')
}
