import { chainOf } from '../../../config/chains.ts'
import type { Profile } from '../parts/exact-json.ts'
import { type Html, html } from '../parts/html.ts'

/** How a reader gets the numbers of the page without trusting it: from the API, by SQL, from a chain. */
export function checks(agent: Profile, siteUrl: string): Html {
  const { fid, claimed, verified_addresses: addresses } = agent
  const [record] = agent.erc8004_records
  const [address] = addresses
  const token = record && chainOf(record.chain).tokens[0]
  return html`<section aria-labelledby="data"><h2 id="data">Check it yourself</h2>
<p><a href="/api/agent/${fid}">Profile as JSON</a> · <a href="/api/agent/${fid}/settlements">Settlements as JSON</a> · <a href="/api/agent/${fid}/timeseries">Settlements over time</a> · <a href="/api/agent/${fid}/state">What it held, and when</a> · <a href="/agent/${fid}/feed.atom">Atom feed of this agent</a> · <a href="/explain?q=${fid}">Why it is listed</a> · <a href="/api/agent/${fid}/doctor">What is in the way</a></p>
<details class="values"><summary>By the API</summary><pre tabindex="0"><code>curl ${siteUrl}/api/agent/${fid}
curl '${siteUrl}/api/agent/${fid}/settlements?limit=100&amp;cursor='</code></pre></details>
<details class="values"><summary>By SQL, from a mirror</summary><pre tabindex="0"><code>select sum(payments) as payments, sum(amount_usdc) as amount_usdc
  from directory.income
 where fid = ${fid} and filtered</code></pre></details>
${
  record &&
  html`<details class="values"><summary>From the chain</summary><pre tabindex="0"><code># who owns the identity, on ${chainOf(record.chain).label}
cast call ${record.registry_address} 'ownerOf(uint256)(address)' ${record.erc8004_id}${
    address !== undefined &&
    token &&
    html`
# settlements to ${address}: logs AuthorizationUsed of USDC, each with the Transfer it belongs to
cast logs --from-block ${record.block_number} 'AuthorizationUsed(address,bytes32)' --address ${token.address}`
  }</code></pre></details>`
}
${
  claimed &&
  html`<details class="values"><summary>The claim, without trusting this site</summary><pre tabindex="0"><code>curl -o proof.json ${siteUrl}/api/agent/${fid}/proof
npm run verify-proof -- proof.json --rpc-10 https://mainnet.optimism.io</code></pre></details>`
}
</section>`
}
