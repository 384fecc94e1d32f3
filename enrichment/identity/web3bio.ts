import { z } from 'zod'
import type { Upstream } from '../upstream.ts'

/** One identity, as web3.bio joins it. E-mail and location are in the answer too, but are not parsed. */
const profile = z.object({
  address: z.string().nullish(),
  identity: z.string(),
  platform: z.string(),
  displayName: z.string().nullish(),
  avatar: z.string().nullish(),
  description: z.string().nullish(),
  links: z
    .record(
      z.string(),
      z.object({ link: z.string().nullish(), handle: z.string().nullish(), sources: z.array(z.string()).nullish() }),
    )
    .nullish(),
  social: z.object({ uid: z.union([z.number(), z.string()]).nullish(), follower: z.number().nullish() }).nullish(),
  aliases: z.array(z.string()).nullish(),
  error: z.string().nullish(),
})
export type BioProfile = z.infer<typeof profile>

/** Identities asked about together, the service's own limit. */
export const mostInBatch = 30

/**
 * What web3.bio knows of identities such as `farcaster,#3` and `ethereum,0x…`, at most `mostInBatch`. Fewer may come back
 * than were asked for, in any order, and those that are not known are left out. Throws as `Upstream.ask`.
 */
export async function bioProfiles({ ask }: Upstream, identities: readonly string[]): Promise<BioProfile[]> {
  const path = `/profile/batch/${encodeURIComponent(JSON.stringify(identities))}`
  const answer = await ask({ path }, z.array(profile))
  return answer.status === 'ok' ? answer.content.filter(({ error }) => !error) : []
}
