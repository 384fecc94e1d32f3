import { chainOf } from '../../config/chains.ts'
import { documentLimits } from '../../config/limits.ts'
import type { FeedAgent } from '../../db/queries/agents/newest-agents.ts'
import { escaped, firstCodePoints, oneLine } from '../pages/parts/text.ts'

/** What an entry says, as plain text but for `content`, which is HTML. */
export interface Entry {
  readonly address: string
  readonly title: string
  readonly author: string
  readonly summary: string
  readonly content: string
  readonly terms: readonly string[]
  readonly published: Date
  readonly updated: Date
}

export function toEntry(agent: FeedAgent, siteUrl: string): Entry {
  const { fid, claimed, claim_method } = agent
  const address = `${siteUrl}/agent/${fid}`
  const handle = oneLine(agent.handle ?? '')
  const oli = oneLine(agent.oli ?? '') || 'none'
  const name = handle === '' ? `FID ${fid}` : `${handle} (FID ${fid})`
  const labels = agent.chains.map((chain) => chainOf(chain).label).join(', ') || 'none'
  return {
    address,
    title: `${claimed ? '[Verified]' : '[Auto-detected]'} ${name}`,
    author: handle === '' ? `FID ${fid}` : handle,
    summary: [
      `handle: ${handle || 'none'}${handle !== '' && agent.handle_assurance === 'stated' ? ' (stated)' : ''}`,
      `FID: ${fid}`,
      `oli: ${oli}`,
      `chains: ${labels}`,
      `claim method: ${claim_method ?? 'none'}`,
    ].join('; '),
    content: [
      `<p><a href="${escaped(address)}">${escaped(name)}</a></p>`,
      `<p>oli: ${escaped(oli)}</p>`,
      `<p>chains: ${labels}</p>`,
      ...(agent.bio ? [`<p>${escaped(firstCodePoints(agent.bio, documentLimits.bioCharacters))}</p>`] : []),
    ].join('\n'),
    terms: [
      claimed ? 'claimed' : 'unclaimed',
      agent.agent_status,
      ...(claim_method === null ? [] : [`claim:${claim_method}`]),
      ...agent.chains.map((chain) => `chain:${chainOf(chain).feedTerm}`),
    ],
    published: agent.listed_at,
    updated: agent.changed_at,
  }
}
