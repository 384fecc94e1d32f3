import type { Hex } from 'viem'
import { claimMessage } from '../../../trust/claim-text.ts'
import { defaultChainId } from '../../claim/eip191.ts'
import { type Html, html } from '../../http/html.ts'
import { shortened } from '../parts/figures.ts'
import type { World } from '../parts/page.ts'

/** Who claims, and what makes this proof a single one. */
export interface Claimant {
  readonly fid: number
  /** Verified for the fid as far as the directory knows; the claim itself asks the network. */
  readonly addresses: readonly string[]
  /** The one to sign with, once it is chosen. */
  readonly address: string | undefined
  readonly nonce: string
  readonly timestamp: string
}

/** The three ways to claim, the easiest first. */
export function claimMethods(world: World, claimant: Claimant): Html {
  return html`<section aria-labelledby="proof"><h2 id="proof">2. Prove it</h2>
${wallet(claimant)}
${message(world, claimant)}
${appKey(world, claimant)}
${manifest(world, claimant)}
</section>`
}

/** For the script, which shows it when the browser has a wallet. */
function wallet({ fid, address }: Claimant): Html {
  return html`<article class="card" id="wallet" data-fid="${fid}" data-address="${address}" hidden>
<h3>With the wallet in this browser</h3>
<p>Connect an address that the account verifies and sign one text. It is no transaction.</p>
<button type="button">Sign and claim</button>
<p id="outcome" role="status"></p>
</article>`
}

function message(world: World, claimant: Claimant): Html {
  const { fid, address, nonce, timestamp, addresses } = claimant
  const chosen = address ?? ''
  const choices = [...new Set([...addresses, ...(address === undefined ? [] : [address])])]
  const fields = { method: 'eip191', fid, address: chosen, nonce, timestamp, signature: '0x…' }
  return html`<details class="card" id="message" open>
<summary>With a signature of a verified address</summary>
<form class="search" action="/claim#message"><input type="hidden" name="fid" value="${fid}">
<label class="unseen" for="address">Address</label>
${
  choices.length > 0
    ? html`<select id="address" name="address">${choices.map((one) => html`<option value="${one}"${one === chosen && html` selected`}>${shortened(one)} · ${one}</option>`)}</select>`
    : html`<input id="address" name="address" value="${chosen}" placeholder="0x and 40 hex digits" pattern="0x[0-9a-fA-F]{40}" required autocomplete="off" spellcheck="false">`
}
<button>Show the text</button></form>
${
  address !== undefined &&
  html`<p>Sign this text with that address (personal_sign, EIP-191), exactly as it is, within 15 minutes:</p>
<pre tabindex="0"><code>${claimMessage(world, { fid, address: address as Hex, chainId: defaultChainId(), nonce, timestamp })}</code></pre>
<p>Then send the signature:</p>
${request(world, fields)}`
}
</details>`
}

function appKey(world: World, { fid, nonce, timestamp }: Claimant): Html {
  const header = JSON.stringify({ fid, type: 'app_key', key: '0x…' })
  const payload = JSON.stringify({ aud: world.baseUrl, action: 'claim', fid, nonce, timestamp })
  return html`<details class="card">
<summary>With an app key (JSON Farcaster Signature)</summary>
<p>Any active app key of the account. The header, with the public key in hex:</p>
<pre tabindex="0"><code>${header}</code></pre>
<p>The payload:</p>
<pre tabindex="0"><code>${payload}</code></pre>
<p>Both as base64url with a dot between them, signed with Ed25519; the signature follows after another dot.</p>
${request(world, { method: 'jfs', fid, jfs: 'header.payload.signature' })}
</details>`
}

function manifest(world: World, { fid, nonce, addresses }: Claimant): Html {
  const document = { service: world.serviceName, host: 'your.host', fid, addresses, nonce }
  return html`<details class="card">
<summary>With a file on the agent’s host</summary>
<p>The host has to be one that the account or its registrations already name. Serve this there as <code>/.well-known/${world.serviceName}.json</code>, with addresses the account verifies:</p>
<pre tabindex="0"><code>${JSON.stringify(document, undefined, 2)}</code></pre>
${request(world, { method: 'well-known', fid, host: 'your.host', nonce })}
</details>`
}

function request({ baseUrl }: World, body: Record<string, unknown>): Html {
  return html`<pre tabindex="0"><code>curl -X POST ${baseUrl}/api/claim \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body)}'</code></pre>`
}
