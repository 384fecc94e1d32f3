import { getAddress, type Hex } from 'viem'
import {
  startUpstream,
  type UpstreamAnswer,
  type UpstreamOptions,
  type UpstreamRequest,
  type UpstreamServer,
} from './server.ts'

interface MetadataTag {
  readonly slug: string
  readonly name: string
  readonly tagType: string
  readonly ordinal: number
  /** JSON in a string. */
  readonly meta: string
}

interface Label {
  readonly tag_id: string
  readonly tag_value: string | boolean
  readonly chain_id: string
  readonly time: string
  readonly attester: string
}

/** Blockscout's metadata service and the labels of the Open Labels Initiative, on one host. */
export interface Explorer extends UpstreamServer {
  /** Tags an address on a chain; chain id null: on all chains. */
  addTag(address: string, chainId: number | null, tag: MetadataTag): void
  addLabel(address: string, label: Label): void
}

export async function startExplorer(options: UpstreamOptions = {}): Promise<Explorer> {
  const tags = new Map<string, { chainId: number | null; tag: MetadataTag }[]>()
  const labels = new Map<string, Label[]>()

  function metadata({ searchParams }: URL): UpstreamAnswer {
    const chainId = searchParams.get('chainId')
    const limit = Number(searchParams.get('tagsLimit') ?? 20)
    const found = (searchParams.get('addresses') ?? '').split(',').flatMap((address) => {
      const own = (tags.get(address.toLowerCase()) ?? []).filter(
        (one) => one.chainId === null || String(one.chainId) === chainId,
      )
      const shown = own.slice(0, limit).map(({ tag }) => tag)
      return shown.length > 0 ? [[getAddress(address as Hex), { tags: shown }]] : []
    })
    return { body: { addresses: Object.fromEntries(found) } }
  }

  function bulk(body: unknown): UpstreamAnswer {
    const { addresses = [], limit_per_address = 10 } = (body ?? {}) as {
      addresses?: string[]
      limit_per_address?: number
    }
    const results = addresses.map((address) => ({
      address,
      labels: (labels.get(address.toLowerCase()) ?? []).slice(0, limit_per_address),
    }))
    return { body: { results } }
  }

  function answer({ url, body }: UpstreamRequest): UpstreamAnswer | undefined {
    if (url.pathname === '/services/metadata/api/v1/metadata') return metadata(url)
    if (url.pathname === '/labels/bulk') return bulk(body)
    return undefined
  }

  return {
    ...(await startUpstream(answer, options)),
    addTag: (address, chainId, tag) => add(tags, address, { chainId, tag }),
    addLabel: (address, label) => add(labels, address, label),
  }
}

function add<T>(map: Map<string, T[]>, address: string, one: T) {
  const key = address.toLowerCase()
  map.set(key, [...(map.get(key) ?? []), one])
}
