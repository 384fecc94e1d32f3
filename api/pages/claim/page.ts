import { randomBytes } from 'node:crypto'
import type { RequestHandler } from 'express'
import type { z } from 'zod'
import { contractWallets } from '../../../db/queries/read/addresses.ts'
import { accountUrl } from '../../../db/queries/read/profile.ts'
import type { ManifestLook } from '../../claim/manifest-preview.ts'
import { addressParameter, fidParameter } from '../../http/parameters.ts'
import { clientOf } from '../../http/rate-limit-key.ts'
import { addresses as addressesRoute } from '../../routes/addresses.ts'
import { agent as agentRoute } from '../../routes/agent.ts'
import { explainAgent } from '../../routes/explain-agent.ts'
import type { agentExplanation } from '../../schemas/explain.ts'
import type { profile } from '../../schemas/profile.ts'
import type { Addresses } from '../agent/standing.ts'
import type { Profile } from '../parts/answers.ts'
import { avatar, nameOf } from '../parts/avatar.ts'
import { claimedMark } from '../parts/badges.ts'
import { type Html, html } from '../parts/html.ts'
import { layout } from '../parts/layout.ts'
import { askExact, htmlType, type World } from '../parts/page.ts'
import { hostsOf } from './hosts.ts'
import { type Claimant, claimMethods } from './methods.ts'
import { signersOf, whatWorks } from './standing.ts'

const nonceBytes = 16

/** `/claim`: builds the text to sign or the file to publish. With a wallet in the browser its script does the rest. */
export function claimPage(world: World, lookAtManifest: ManifestLook | undefined): RequestHandler {
  return async (req, res) => {
    const given = (name: string) => [req.query[name]].flat()[0]
    const fid = fidParameter.safeParse(given('fid'))
    const address = addressParameter.safeParse(given('address'))
    const [agent, known, explained, url = null, wallets = new Map()] = fid.success
      ? await Promise.all([
          askExact<z.output<typeof profile>>(world, agentRoute, { fid: fid.data }),
          askExact<Addresses>(world, addressesRoute, { fid: fid.data }),
          askExact<z.output<typeof agentExplanation>>(world, explainAgent, { fid: fid.data }),
          accountUrl(world.database, fid.data),
          contractWallets(world.database, fid.data),
        ])
      : []
    const verified = (explained?.verifications ?? []).filter(({ ended_at }) => ended_at === null)
    const claimant: Claimant | undefined = fid.success
      ? {
          fid: fid.data,
          action: given('action') === 'withdraw' ? 'withdraw' : 'claim',
          signers: signersOf(
            verified.map(({ address: one }) => one),
            known,
            wallets,
          ),
          address: address.success ? address.data : undefined,
          nonce: randomBytes(nonceBytes).toString('hex'),
          timestamp: new Date(world.now()).toISOString(),
        }
      : undefined
    const hosts = fid.success
      ? await hostsOf({ fid: fid.data, agent, accountUrl: url }, clientOf(req.ip), lookAtManifest)
      : []
    const head = {
      title: 'Claim your agent',
      description: 'Prove that an agent is yours: with a wallet, with an app key, or with a file on your host.',
      path: '/claim',
      script: '/assets/claim.js',
    }
    const refused = given('fid') !== undefined && given('fid') !== '' && !fid.success
    const text = layout(world, head, [
      html`<section class="hero"><h1>Claim your agent</h1>
<p class="lead">A claim says: the account behind this agent is mine, and I know that it is listed. You prove it once, with a key the account already trusts. Nothing goes on chain, and it is free.</p></section>`,
      account(claimant?.fid, refused),
      ...(claimant
        ? [
            subject(agent, claimant),
            whatWorks(claimant.signers, known, hosts),
            claimMethods(world, claimant),
            proof(world, claimant.fid, agent?.claimed ?? false),
          ]
        : []),
    ]).text
    // Each view has a nonce of its own.
    res.set('Cache-Control', 'no-store').type(htmlType).send(text)
  }
}

function account(fid: number | undefined, refused: boolean): Html {
  return html`<section aria-labelledby="account"><h2 id="account">1. Which account?</h2>
<form class="search" action="/claim">
<label class="unseen" for="fid">FID</label>
<input id="fid" name="fid" value="${fid}" inputmode="numeric" pattern="[0-9]+" required autocomplete="off" placeholder="Its FID, such as 4207"${refused && html` aria-invalid="true" aria-describedby="fid-problem"`}>
<button>Next</button>
</form>
${refused && html`<p class="problem" id="fid-problem">A FID is a positive integer in decimal digits.</p>`}
${fid === undefined && html`<p class="note">A FID is the number of an account on Farcaster. <a href="/">Search by handle or name</a> to find the FID of a listed agent.</p>`}
</section>`
}

function subject(agent: Profile | undefined, { fid, action }: Claimant): Html {
  if (!agent) {
    return html`<p class="note">FID ${fid} is not in the directory yet. Its account can claim it anyway, and is listed from then on.</p>`
  }
  const other =
    action === 'claim'
      ? agent.claimed &&
        html` <span class="sub">You can claim it again; the newest proof is the one that is shown. Or <a href="/claim?fid=${fid}&amp;action=withdraw">withdraw the claim</a>.</span>`
      : html` <span class="sub">This withdraws every claim of it. <a href="/claim?fid=${fid}">Claim it instead</a></span>`
  return html`<p class="subject">${avatar(agent)} <a href="/agent/${fid}"><bdi>${nameOf(agent)}</bdi></a> ${claimedMark(agent.claimed)}${other}</p>`
}

/** Links to the proof and the badge; hidden, and the badge not loaded, until a claim is made. */
function proof({ siteUrl, baseUrl }: World, fid: number, claimed: boolean): Html {
  const badge = `[![Claimed](${baseUrl}/badge/${fid}.svg)](${siteUrl}/agent/${fid})`
  return html`<section id="done" aria-labelledby="done-head"${!claimed && html` hidden`}><h2 id="done-head">Its proof, and a badge</h2>
<p>15 minutes after a claim anybody can read <a href="/api/agent/${fid}/proof">the proof</a> and check it. A badge for a page or a README, to copy:</p>
<p><img src="/badge/${fid}.svg" alt="How FID ${fid} stands in the directory" height="20" loading="lazy"></p>
<pre tabindex="0"><code>${badge}</code></pre></section>`
}
