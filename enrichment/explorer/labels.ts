import { z } from 'zod'
import { chainNames, chainOf } from '../../config/chains.ts'
import type { StoredTag } from '../../db/queries/sources/oli-tags.ts'
import { NoAnswer } from '../../hosts/no-answer.ts'
import type { Upstream } from '../upstream.ts'
import { type RawTag, toTags } from './tags.ts'

/** Answer of `/labels/bulk`. Anybody may attest anything, so the attester is kept with each label. */
const labels = z.object({
  results: z.array(
    z.object({
      address: z.string(),
      labels: z.array(
        z.object({
          tag_id: z.string(),
          tag_value: z.union([z.string(), z.number(), z.boolean()]).nullish(),
          chain_id: z.string().nullish(),
          attester: z.string().nullish(),
        }),
      ),
    }),
  ),
})

const labelsPerAddress = 100
/** Tags of the Open Labels schema that name an address, and the type of tag each becomes; other tags only describe it. */
const typeOf: Readonly<Record<string, string>> = {
  contract_name: 'name',
  owner_project: 'protocol',
  usage_category: 'classifier',
}

/** Labels of the Open Labels Initiative for addresses, on the chains of the table. Throws as `Upstream.ask`. */
export async function oliLabels({ ask }: Upstream, addresses: readonly string[]): Promise<Map<string, StoredTag[]>> {
  const found = new Map<string, RawTag[]>(addresses.map((address) => [address, []]))
  const body = { addresses, limit_per_address: labelsPerAddress }
  const answer = await ask({ path: '/labels/bulk', body }, labels)
  // A route that is gone, not addresses without labels: those are listed with none.
  if (answer.status !== 'ok') throw new NoAnswer('refused', '/labels/bulk is not found')
  for (const result of answer.content.results) {
    const known = found.get(result.address.toLowerCase()) // undefined: an address that was not asked for
    known?.push(...result.labels.flatMap(toTag))
  }
  return new Map([...found].map(([address, tags]) => [address, toTags(address, tags)]))
}

type Label = z.infer<typeof labels>['results'][number]['labels'][number]

/** A label as a tag; labels of chains that are not in the table are left out. */
function toTag({ tag_id, tag_value, chain_id, attester }: Label): RawTag[] {
  const chain = nameOf(chain_id)
  if (tag_value == null || chain === undefined) return []
  const tagType = typeOf[tag_id] ?? 'oli'
  const by = attester && /^0x[0-9a-f]{40}$/i.test(attester) ? attester.toLowerCase() : null
  return [{ chain, slug: tag_id, name: String(tag_value), tagType, ordinal: null, meta: null, attester: by }]
}

/** Name of a chain by its CAIP-2 id; null: every chain; undefined: a chain that is not in the table. */
function nameOf(id: string | null | undefined): string | null | undefined {
  if (id == null || id === 'eip155:any') return null
  return chainNames.find((name) => `eip155:${chainOf(name).id}` === id)
}
