import type { Hex } from 'viem'
import { type ClaimAction, claimMessage } from '../../../trust/claim-text.ts'
import { defaultChainId } from '../../claim/eip191.ts'
import { shortened } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import type { World } from '../parts/page.ts'
import { minute } from '../parts/times.ts'
import type { Signer } from './standing.ts'

/** Who claims or withdraws, with the nonce and time of this one proof. */
export interface Claimant {
  readonly fid: number
  readonly action: Extract<ClaimAction, 'claim' | 'withdraw'>
  /** Addresses verified for the fid as far as the directory knows; the claim itself asks the network. */
  readonly signers: readonly Signer[]
  /** Address that will sign; undefined: none is chosen yet. */
  readonly address: string | undefined
  readonly nonce: string
  readonly timestamp: string
  /** How long after `timestamp` the proof is taken, seconds. */
  readonly windowSeconds: number
}

/** The methods of proof, the easiest first. The page's script shows the forms; without it there are curl commands. */
export function claimMethods(world: World, claimant: Claimant): Html {
  const { fid, action } = claimant
  const data = html`data-fid="${fid}" data-action="${action}" data-nonce="${claimant.nonce}" data-timestamp="${claimant.timestamp}"`
  return html`<section aria-labelledby="prove" id="claim" ${data}><h2 id="prove">2. ${action === 'claim' ? 'Prove it' : 'Withdraw the claim'}</h2>
${wallet(claimant)}
${message(world, claimant)}
${appKey(world, claimant)}
${manifest(world, claimant)}
<p id="outcome" role="status" tabindex="-1"></p>
</section>`
}

const verb = ({ action }: Claimant) => (action === 'claim' ? 'claim' : 'withdraw')

/** Card for signing in the browser, hidden until the page's script finds a wallet. */
function wallet({ address }: Claimant): Html {
  return html`<article class="card" id="wallet" data-address="${address}" hidden>
<h3>With a wallet in this browser</h3>
<p>Connect an address that the account verifies and sign one text. It is not a transaction.</p>
<div class="choices" id="wallets"></div>
</article>`
}

function message(world: World, claimant: Claimant): Html {
  const { fid, action, address, nonce, timestamp, signers } = claimant
  const chosen = address ?? ''
  const choices = [...new Set([...signers.map((one) => one.address), ...(address === undefined ? [] : [address])])]
  const own = signers.find((one) => one.address === address)?.chainId ?? null
  const chainId = own ?? defaultChainId()
  const chain = own === null ? {} : { chain_id: own }
  const fields = { method: 'eip191', fid, address: chosen, nonce, timestamp, ...chain, signature: '0x…' }
  return html`<details class="card" id="message" open>
<summary>With a signature by a verified address</summary>
<form class="search" action="/claim#message"><input type="hidden" name="fid" value="${fid}">${action === 'withdraw' && html`<input type="hidden" name="action" value="withdraw">`}
<label class="unseen" for="address">Address</label>
${
  choices.length > 0
    ? html`<select id="address" name="address">${choices.map((one) => html`<option value="${one}"${one === chosen && html` selected`}>${shortened(one)}</option>`)}</select>`
    : html`<input id="address" name="address" value="${chosen}" placeholder="0x and 40 hex digits" pattern="0x[0-9a-fA-F]{40}" required autocomplete="off" spellcheck="false">`
}
<button>Show the text</button></form>
${
  address !== undefined &&
  html`<p>Sign this text with that address (personal_sign, EIP-191), exactly as it is. ${takenUntil(claimant)}</p>
<pre tabindex="0"><code>${claimMessage(world, { fid, address: address as Hex, chainId, nonce, timestamp }, action)}</code></pre>
${paste({ method: 'eip191', field: 'signature', label: 'The signature', claimant, address, chainId: own })}
<p>Or send it from a shell:</p>
${request(world, action, fields)}`
}
</details>`
}

function appKey(world: World, claimant: Claimant): Html {
  const { fid, action, nonce, timestamp } = claimant
  const header = JSON.stringify({ fid, type: 'app_key', key: '0x…' })
  const payload = JSON.stringify({ aud: world.baseUrl, action, fid, nonce, timestamp })
  return html`<details class="card">
<summary>With an app key (JSON Farcaster Signature)</summary>
<p>Any active app key of the account. The header, with the public key in hex:</p>
<pre tabindex="0"><code>${header}</code></pre>
<p>The payload:</p>
<pre tabindex="0"><code>${payload}</code></pre>
<p>${takenUntil(claimant)}</p>
<p>Write both as base64url with a dot between them and sign that with Ed25519; the signature follows after another dot.</p>
${paste({ method: 'jfs', field: 'jfs', label: 'header.payload.signature', claimant })}
${request(world, action, { method: 'jfs', fid, jfs: 'header.payload.signature' })}
</details>`
}

function manifest(world: World, claimant: Claimant): Html {
  const { fid, action, nonce, signers } = claimant
  const common = { service: world.serviceName, host: 'your.host', fid }
  const addresses = signers.map(({ address }) => address)
  const document = { ...common, ...(action === 'claim' ? { addresses } : { withdrawn: true }), nonce }
  return html`<details class="card">
<summary>With a file on the agent’s host</summary>
<p>The account or one of its registrations must already name the host. Serve this there as <code>/.well-known/${world.serviceName}.json</code>${action === 'claim' && ', with addresses that the account verifies'}:</p>
<pre tabindex="0"><code>${JSON.stringify(document, undefined, 2)}</code></pre>
${paste({ method: 'well-known', field: 'host', label: 'Your host', claimant })}
${request(world, action, { method: 'well-known', fid, host: 'your.host', nonce })}
</details>`
}

/** Until when the service takes what is signed now; the page's script counts the time down. */
function takenUntil({ timestamp, windowSeconds }: Claimant): Html {
  const end = new Date(Date.parse(timestamp) + windowSeconds * 1_000).toISOString()
  return html`<span class="clock" data-seconds="${windowSeconds}">It is taken until ${minute(end)}.</span>`
}

interface Pasted {
  readonly method: string
  readonly field: string
  readonly label: string
  readonly claimant: Claimant
  readonly address?: string
  readonly chainId?: number | null
}

/** Form in which a proof made elsewhere is pasted, sent by the page's script; a claim can be a dry run first. */
function paste({ method, field, label, claimant, address, chainId = null }: Pasted): Html {
  return html`<form class="search paste" data-method="${method}"${address !== undefined && html` data-address="${address}"`}${chainId !== null && html` data-chain="${chainId}"`} hidden>
<label class="unseen" for="paste-${method}">${label}</label><input id="paste-${method}" name="${field}" placeholder="${label}" required autocomplete="off" spellcheck="false">
${claimant.action === 'claim' && html`<button name="check" class="quiet">Check</button>`}<button name="send">Send and ${verb(claimant)}</button></form>`
}

function request({ baseUrl }: World, action: Claimant['action'], body: Record<string, unknown>): Html {
  return html`<pre tabindex="0"><code>curl -X POST ${baseUrl}/api/claim${action === 'withdraw' && '/withdraw'} \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body)}'</code></pre>`
}
