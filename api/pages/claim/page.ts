import { randomBytes } from 'node:crypto'
import type { RequestHandler } from 'express'
import type { z } from 'zod'
import { claimLimits } from '../../../config/limits.claims.ts'
import { queryLimits } from '../../../config/limits.ts'
import { contractWallets } from '../../../db/queries/addresses/addresses.ts'
import { accountUrl } from '../../../db/queries/agents/profile.ts'
import type { ManifestLook } from '../../claim/manifest-preview.ts'
import type { NameLook, NameStanding } from '../../claim/name-look.ts'
import { addressParameter, fidParameter } from '../../http/parameters.ts'
import { clientOf } from '../../http/rate-limit-key.ts'
import { addresses as addressesRoute, agent as agentRoute } from '../../routes/agents/agent.ts'
import { explainAgent } from '../../routes/agents/explain-agent.ts'
import type { agentExplanation } from '../../schemas/agents/explain.ts'
import type { profile } from '../../schemas/agents/profile.ts'
import type { Addresses } from '../agent/standing.ts'
import { nameLine, subjectOf, userNameIn, whereFid } from '../lookup/subject.ts'
import { avatar, nameOf } from '../parts/avatar.ts'
import { claimedMark } from '../parts/badges.ts'
import type { Profile } from '../parts/exact-json.ts'
import { type Html, html } from '../parts/html.ts'
import { layout } from '../parts/layout.ts'
import { askExact, htmlType, type World } from '../parts/page.ts'
import { hostsOf } from './hosts.ts'
import { type Claimant, claimMethods } from './methods.ts'
import { signersOf, whatWorks } from './standing.ts'

/** What the page takes from the claims of the service. */
export interface ClaimView {
  /** How long what is signed now is taken, seconds. */
  readonly windowSeconds: number
  /** Looks at the manifests of hosts. */
  readonly lookAtManifest: ManifestLook
  /** Asks the network whose a user name is. */
  readonly lookForName: NameLook
}

const nonceBytes = 16

/**
 * `/claim`: builds the text to sign or the file to publish. With a wallet in the browser its script does the rest.
 * `claims` undefined: the service takes none, and the page asks nobody.
 */
export function claimPage(world: World, claims: ClaimView | undefined): RequestHandler {
  return async (req, res) => {
    const given = (name: string) => [req.query[name]].flat()[0]
    const asked = await whose(world, given('fid'), (name) => claims?.lookForName(name, clientOf(req.ip)))
    const fid = fidParameter.safeParse(String(asked.fid))
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
          windowSeconds: claims?.windowSeconds ?? claimLimits.signedTimeSeconds,
        }
      : undefined
    const hosts = fid.success
      ? await hostsOf({ fid: fid.data, agent, accountUrl: url }, clientOf(req.ip), claims?.lookAtManifest)
      : []
    const head = {
      title: 'Claim your agent',
      description: 'Prove that an agent is yours: with a wallet, with an app key, or with a file on your host.',
      path: '/claim',
      script: '/assets/claim.js',
    }
    const text = layout(world, head, [
      html`<section class="hero"><h1>Claim your agent</h1>
<p class="lead">A claim says: the account behind this agent is mine, and I know that it is listed. You prove it once, with a key the account already trusts. Nothing goes on chain, and it is free.</p></section>`,
      account(asked),
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

/** Whose claim is asked for. */
interface Asked {
  /** Undefined: nobody's, or one who is not found. */
  readonly fid: number | undefined
  /** What was asked, when it is not the FID itself. */
  readonly words?: string
  /** What is known of a handle that was asked for. */
  readonly said?: Html
}

/** The account that `given` names: by its FID, or by its handle, which the network is asked for when no agent has it. */
async function whose(
  world: World,
  given: unknown,
  ask: (name: string) => Promise<NameStanding> | undefined,
): Promise<Asked> {
  if (given === undefined || given === '') return { fid: undefined }
  const words = String(given).trim()
  const read = fidParameter.safeParse(words)
  if (read.success) return { fid: read.data }
  const name = userNameIn(words)
  if (name === undefined) return { fid: undefined, words }
  const listed = await subjectOf(world, `@${name}`)
  if (listed && 'fid' in listed) return { fid: listed.fid, words }
  const standing = (await ask(name)) ?? { state: 'unknown' }
  const found = standing.state === 'found' ? standing.fid : undefined
  return { fid: found, words, said: nameLine(name, standing) }
}

function account({ fid, words, said }: Asked): Html {
  const refused = fid === undefined && words !== undefined
  const problem = said ?? 'A FID is a positive integer in decimal digits. A handle is a name such as @ada.'
  return html`<section aria-labelledby="account"><h2 id="account">1. Which account?</h2>
<form class="search" action="/claim">
<label class="unseen" for="fid">FID or handle</label>
<input id="fid" name="fid" value="${words ?? fid}" maxlength="${queryLimits.characters}" required autocomplete="off" autocapitalize="none" spellcheck="false" placeholder="FID or @handle"${refused && html` aria-invalid="true" aria-describedby="fid-problem"`}>
<button>Next</button>
</form>
${refused ? html`<p class="problem" id="fid-problem">${problem}</p>` : said && html`<p class="note">${said}</p>`}
${fid === undefined && whereFid}
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
