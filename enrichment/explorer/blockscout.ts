import { z } from 'zod'
import { chainNames, chainOf } from '../../config/chains.ts'
import type { StoredTag } from '../../db/queries/sources/oli-tags.ts'
import { NoAnswer } from '../../hosts/no-answer.ts'
import type { Upstream } from '../upstream.ts'
import { type RawTag, toTags } from './tags.ts'

const route = '/services/metadata/api/v1/metadata'

/** Answer of `route`, on the free host too; an address that is absent has no tags. */
const metadata = z.object({
  addresses: z.record(
    z.string(),
    z.object({
      tags: z.array(
        z.object({
          slug: z.string(),
          name: z.string(),
          tagType: z.string(),
          ordinal: z.number().nullish(),
          meta: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
        }),
      ),
    }),
  ),
})

const tagsLimit = 20

/**
 * Tags that Blockscout's metadata service has for addresses, on every chain of the table. Addresses are lowercase, at
 * most `addressesPerAsk`. Throws as `Upstream.ask`.
 *
 * The service answers for one chain at a time, including tags that hold on every chain; without a chain, only these.
 */
export async function blockscoutTags(
  { ask }: Upstream,
  addresses: readonly string[],
): Promise<Map<string, StoredTag[]>> {
  const found = new Map<string, RawTag[]>(addresses.map((address) => [address, []]))
  for (const chain of [null, ...chainNames]) {
    const query = new URLSearchParams({ addresses: addresses.join(','), tagsLimit: String(tagsLimit) })
    if (chain) query.set('chainId', String(chainOf(chain).id))
    const answer = await ask({ path: `${route}?${query}` }, metadata)
    // A route that is gone, not addresses without tags: those are left out of an answer.
    if (answer.status !== 'ok') throw new NoAnswer('refused', `${route} is not found`)
    for (const [key, { tags }] of Object.entries(answer.content.addresses)) {
      const known = found.get(key.toLowerCase()) // undefined: an address that was not asked for
      const isKnown = (tag: { slug: string; tagType: string }) =>
        known?.some((one) => one.chain === null && one.slug === tag.slug && one.tagType === tag.tagType)
      const fresh = tags.filter((tag) => !isKnown(tag))
      known?.push(
        ...fresh.map((tag): RawTag => ({ ...tag, ordinal: tag.ordinal, meta: tag.meta, chain, attester: null })),
      )
    }
  }
  return new Map([...found].map(([address, tags]) => [address, toTags(address, tags)]))
}
