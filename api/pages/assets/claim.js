// Claims with the wallet of the browser (EIP-1193, found as EIP-6963 says or at window.ethereum). Everything on the page
// works without this script as well.

const card = document.getElementById('wallet')
const outcome = document.getElementById('outcome')
const button = card?.querySelector('button')
let wallet = window.ethereum

if (card && button) {
  window.addEventListener('eip6963:announceProvider', (event) => {
    wallet ??= event.detail.provider
    card.hidden = false
  })
  window.dispatchEvent(new Event('eip6963:requestProvider'))
  card.hidden = wallet === undefined
  button.addEventListener('click', () => {
    button.disabled = true
    tell('Waiting for the wallet …')
    claim()
      .then(({ profile_url }) => tell('Claimed. ', new URL(profile_url).pathname))
      .catch((error) => tell(error.message || 'The wallet did not answer.'))
      .finally(() => {
        button.disabled = false
      })
  })
}

async function claim() {
  const { fid, address: wanted } = card.dataset
  const accounts = await wallet.request({ method: 'eth_requestAccounts' })
  const address = accounts.find((account) => account.toLowerCase() === wanted) ?? accounts[0]
  const chainId = Number(await wallet.request({ method: 'eth_chainId' }))
  const query = new URLSearchParams({ fid, address, chain_id: String(chainId) })
  const { text, nonce, timestamp, chain_id } = await answerOf(fetch(`/api/claim/challenge?${query}`))
  const signature = await wallet.request({ method: 'personal_sign', params: [toHex(text), address] })
  tell('Checking the signature …')
  return answerOf(
    fetch('/api/claim', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ method: 'eip191', fid: Number(fid), address, nonce, timestamp, chain_id, signature }),
    }),
  )
}

async function answerOf(request) {
  const response = await request
  const body = await response.json()
  if (!response.ok) throw new Error(body.detail ?? `The service refused: ${body.error}.`)
  return body
}

function toHex(text) {
  const bytes = [...new TextEncoder().encode(text)]
  return `0x${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

function tell(text, profile) {
  outcome.replaceChildren(text)
  if (profile === undefined) return
  const link = document.createElement('a')
  link.href = profile
  link.textContent = 'See the page of your agent'
  outcome.append(link)
}
