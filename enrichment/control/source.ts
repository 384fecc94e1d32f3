import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import type { Address } from 'viem'
import type { ChainName } from '../../config/chains.ts'
import { sources } from '../../config/sources.ts'
import {
  type ControlQuestion,
  forgetControlReading,
  noteControlUnread,
  readControlQuestion,
  storeControlReading,
} from '../../db/queries/sources/control-readings.ts'
import { type Host, HostClosed } from '../../hosts/host.ts'
import { minute } from '../../ops/time.ts'
import type { ChainClient } from '../../social/chain-client.ts'
import type { ChainIdentities } from '../networks.ts'
import type { Reading, Source } from '../schedule/source.ts'
import { type AccountRead, notChecked, readAccount } from './accounts.ts'
import { type BindingRead, bindingNotChecked, readBinding } from './binding.ts'
import { FinalNode } from './final-node.ts'
import { ensChainId, type NameRead, nameNotChecked, readName, registrationKey } from './names.ts'

interface ControlOptions {
  readonly pool: pg.Pool
  readonly host: Host
  readonly chains: ChainIdentities
  /** The node of a chain by its id. */
  readonly nodeOf: (chainId: number) => ChainClient | undefined
  readonly now: () => Date
}

const { cadenceMs } = sources.control
/** Accounts that were read, and for how many milliseconds: an owner of many registrations is asked for once. */
const mostKept = 10_000
const keptMs = 10 * minute

type Identity = NonNullable<ChainIdentities[ChainName]>

/** What was read of a registration. */
interface Read {
  readonly accounts: readonly AccountRead[]
  readonly binding: BindingRead | null
  readonly names: readonly NameRead[]
  /** Whether a node failed. */
  readonly isUnanswered: boolean
  /** Whether the final block is older than the registration's last event. */
  readonly isBehind: boolean
}

/**
 * Asks chains, at a final block, what the addresses are that may act for a registration, what it is bound to, and whether
 * the names that its document claims say so too. A node that fails changes nothing that was read before.
 */
export function controlReadings({ pool, host, chains, nodeOf, now }: ControlOptions): Source {
  const time = { ttl: keptMs, ttlResolution: 0, perf: { now: () => now().getTime() } }
  const known = new LRUCache<string, AccountRead>({ max: mostKept, ...time })

  async function read(question: ControlQuestion, { id, registry }: Identity): Promise<Read> {
    const nodes = new Nodes(nodeOf, () => host.slot('spare'))
    const accounts: AccountRead[] = []
    for (const address of question.accounts as readonly Address[]) {
      const key = `${question.chain} ${address}`
      const kept = known.get(key)
      const account = kept ?? (await nodes.ask(id, (node) => readAccount(node, id, address))) ?? notChecked(address)
      if (account.kind !== 'not_checked') known.set(key, account)
      accounts.push(account)
    }
    const { binding: contract } = question
    const binding =
      contract === null
        ? null
        : ((await nodes.ask(id, (node) => readBinding(node, contract as Address, question.agentId))) ??
          bindingNotChecked)
    const key = registrationKey(id, registry.address, question.agentId)
    const names: NameRead[] = []
    for (const name of question.names)
      names.push((await nodes.ask(ensChainId, (node) => readName(node, name, key))) ?? nameNotChecked(name))
    const final = accounts.map(({ block_number }) => block_number ?? question.updatedBlock)
    const isBehind = Math.min(question.updatedBlock, ...final) < question.updatedBlock
    return { accounts, binding, names, isUnanswered: nodes.areSilent, isBehind }
  }

  return {
    ...sources.control,
    host,

    async read([subject]): Promise<Reading> {
      const [, chain, agentId] = subject!.subject.split(':') as [string, string, string]
      const identity = chains[chain as ChainName]
      const question = identity && (await readControlQuestion(pool, { chain, agentId }))
      if (!question)
        return { outcome: 'gone', write: (db) => forgetControlReading(db, { chain, agentId }).then(() => undefined) }
      const found = await read(question, identity)
      return {
        outcome: found.isUnanswered ? 'unreachable' : 'ok',
        failed: found.isUnanswered,
        async write(db) {
          if (found.isUnanswered) {
            await noteControlUnread(db, { question, ...found, now: now() })
            return 0
          }
          await storeControlReading(db, { question, ...found, now: now() })
          return found.isBehind ? cadenceMs.behind : question.isHeld ? cadenceMs.held : cadenceMs.others
        },
      }
    },
  }
}

/** The nodes that are asked for one registration, each at one block; one that failed is not asked again. */
class Nodes {
  readonly #final = new Map<number, FinalNode>()
  readonly #silent = new Set<number>()

  constructor(
    private readonly nodeOf: (chainId: number) => ChainClient | undefined,
    private readonly slot: () => Promise<void>,
  ) {}

  get areSilent(): boolean {
    return this.#silent.size > 0
  }

  /** Undefined: no node is set for the chain, or it does not answer. Throws when it may not be asked now. */
  async ask<T>(chainId: number, ask: (node: FinalNode) => Promise<T>): Promise<T | undefined> {
    const node = this.nodeOf(chainId)
    if (!node?.isSet || this.#silent.has(chainId)) return undefined
    try {
      const final = this.#final.get(chainId) ?? (await FinalNode.of(node, this.slot))
      this.#final.set(chainId, final)
      return await ask(final)
    } catch (error) {
      if (error instanceof HostClosed) throw error
      this.#silent.add(chainId)
      return undefined
    }
  }
}
