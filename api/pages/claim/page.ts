import { randomBytes } from 'node:crypto'
import type { RequestHandler } from 'express'
import type { z } from 'zod'
import { type Html, html } from '../../http/html.ts'
import { addressParameter, fidParameter } from '../../http/parameters.ts'
import { agent as agentRoute } from '../../routes/agent.ts'
import type { profile } from '../../schemas/profile.ts'
import type { Profile } from '../parts/answers.ts'
import { avatar, nameOf } from '../parts/avatar.ts'
import { claimedMark } from '../parts/badges.ts'
import { layout } from '../parts/layout.ts'
import { askExact, htmlType, type World } from '../parts/page.ts'
import { type Claimant, claimMethods } from './methods.ts'

const nonceBytes = 16

/** `/claim`: builds what a claimant has to sign or to publish. With a wallet in the browser its script does the rest. */
export function claimPage(world: World): RequestHandler {
  return async (req, res) => {
    const given = (name: string) => [req.query[name]].flat()[0]
    const fid = fidParameter.safeParse(given('fid'))
    const address = addressParameter.safeParse(given('address'))
    const agent = fid.success
      ? await askExact<z.output<typeof profile>>(world, agentRoute, { fid: fid.data })
      : undefined
    const claimant: Claimant | undefined = fid.success
      ? {
          fid: fid.data,
          addresses: agent?.verified_addresses ?? [],
          address: address.success ? address.data : undefined,
          nonce: randomBytes(nonceBytes).toString('hex'),
          timestamp: new Date(world.now()).toISOString(),
        }
      : undefined
    const head = {
      title: 'Claim your agent',
      description: 'Prove that an agent is yours: with a wallet, with an app key, or with a file on your host.',
      path: '/claim',
      script: '/assets/claim.js',
    }
    const refused = given('fid') !== undefined && given('fid') !== '' && !fid.success
    const text = layout(world, head, [
      html`<section class="hero"><h1>Claim your agent</h1>
<p class="lead">A claim says: the account behind this agent is mine, and I know it is listed. You prove it once, with a key the account already trusts. Nothing is sent on chain, and it costs nothing.</p></section>`,
      account(claimant?.fid, refused),
      ...(claimant ? [subject(agent, claimant.fid), claimMethods(world, claimant)] : []),
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
</section>`
}

function subject(agent: Profile | undefined, fid: number): Html {
  if (!agent) {
    return html`<p class="note">FID ${fid} is not in the directory yet. Its account can claim it all the same: it is listed from then on.</p>`
  }
  return html`<p class="subject">${avatar(agent)} <a href="/agent/${fid}"><bdi>${nameOf(agent)}</bdi></a> ${claimedMark(agent.claimed)}${agent.claimed && html` <span class="sub">You can claim it again: the newest proof is the one shown.</span>`}</p>`
}
