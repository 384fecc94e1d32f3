import { type ChainClient, createChainClient } from './chain-client.ts'
import { createRegistries, type Registries } from './key-registry.ts'
import { createWallets, type Wallets } from './wallets.ts'

/** Readers of the chains that the on-chain checks of a proof ask. */
export interface ProofWorld {
  readonly registries: Registries
  readonly wallets: Wallets
}

/** The settings of a chain that checking proofs needs. */
export interface ProofChain {
  readonly id: number
  /** JSON-RPC URL of a node; null or absent: the chain cannot be asked. */
  readonly rpc?: string | null
  /** Farcaster's registries, on the one chain that has them; null or absent on the others. */
  readonly social?: { readonly keyRegistry: string; readonly idRegistry: string; readonly fromBlock: number } | null
}

/** Registries and contract wallets to check proofs against; `chains` by name. Connects on first use only. */
export function createProofWorld(chains: Readonly<Record<string, ProofChain>>): ProofWorld & {
  /** The reader of a chain by its id; undefined: not one of the table. */
  nodeOf(chainId: number): ChainClient | undefined
  close(): Promise<void>
} {
  const clients = new Map(
    Object.entries(chains).map(([name, { id, rpc }]) => [id, createChainClient(name, rpc ?? null)] as const),
  )
  const [name, home] = Object.entries(chains).find(([, { social }]) => social) ?? []
  const client = home && clients.get(home.id)
  if (!name || !home?.social || !client) throw new Error('no chain of the table has the social network’s registries')
  return {
    registries: createRegistries(client, { home: { name, id: home.id }, ...home.social }),
    wallets: createWallets((chainId) => clients.get(chainId)),
    nodeOf: (chainId) => clients.get(chainId),
    async close() {
      await Promise.all([...clients.values()].map((one) => one.close()))
    },
  }
}
