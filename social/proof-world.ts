import { createChainClient } from './chain-client.ts'
import { createRegistries } from './key-registry.ts'
import type { ProofWorld } from './proving.ts'
import { createWallets } from './wallets.ts'

/** A chain as far as proofs are asked of it. */
export interface ProofChain {
  readonly id: number
  /** JSON-RPC address of a node; null or absent: there is none to ask. */
  readonly rpc?: string | null
  /** The network's registries, on the one chain that has them. */
  readonly social?: { readonly keyRegistry: string; readonly idRegistry: string; readonly fromBlock: number } | null
}

/** Whom proofs are asked of, by the chains' names. Connects when first asked; nothing is asked for being created. */
export function createProofWorld(
  chains: Readonly<Record<string, ProofChain>>,
): ProofWorld & { close(): Promise<void> } {
  const clients = new Map(
    Object.entries(chains).map(([name, { id, rpc }]) => [id, createChainClient(name, rpc ?? null)] as const),
  )
  const [name, home] = Object.entries(chains).find(([, { social }]) => social) ?? []
  const client = home && clients.get(home.id)
  if (!name || !home?.social || !client) throw new Error('no chain of the table has the social network’s registries')
  return {
    registries: createRegistries(client, { home: { name, id: home.id }, ...home.social }),
    wallets: createWallets((chainId) => clients.get(chainId)),
    async close() {
      await Promise.all([...clients.values()].map((one) => one.close()))
    },
  }
}
