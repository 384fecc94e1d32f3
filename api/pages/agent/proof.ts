import { type Html, html } from '../../http/html.ts'
import type { Profile } from '../parts/answers.ts'
import { day } from '../parts/times.ts'

/** What somebody did who claimed, as a person would say it. */
const deeds: Readonly<Record<string, string>> = {
  eip191: 'signed with a verified address',
  jfs: 'signed with a key of an app that the account let in',
  'well-known': 'published it on a host that belongs to the account',
}

const words: Readonly<Record<string, string>> = {
  proven: 'Every verified address signed that it belongs to the account, and so did a key that the registry names.',
  signed: 'Every verified address signed that it belongs to the account; where the keys stand was not asked.',
  stated: 'For an address at least there is the word of the network alone.',
}

/** How a claim is proven, in words, and how anybody checks it. Nothing for an agent that is not claimed. */
export function proof(agent: Profile, siteUrl: string): Html | undefined {
  const { fid, claimed, claimed_at, claim_method, claim_state, assurance } = agent
  if (!claimed) return undefined
  const deed = deeds[claim_method ?? ''] ?? 'claimed it'
  return html`<section aria-labelledby="proof"><h2 id="proof">Proof</h2>
<p>Claimed since ${day(claimed_at)}: whoever controls the account ${deed}.${
    claim_state === 'suspended' && html` What the claim rests on does not show at the moment; it is looked at again.`
  } ${assurance !== null && words[assurance]}</p>
<p><a href="/api/agent/${fid}/proof">The proof</a> is public from 15 minutes after a claim. Check it yourself, without trusting this site:</p>
<pre tabindex="0"><code>curl -o proof.json ${siteUrl}/api/agent/${fid}/proof
npm run verify-proof -- proof.json --rpc-10 https://mainnet.optimism.io</code></pre>
</section>`
}
