import type pg from 'pg'
import { type Hex, toHex } from 'viem'
import { sources } from '../../config/sources.ts'
import { messagesToProve, type ProvedMessage, storeProofs } from '../../db/queries/sources/farcaster-messages.ts'
import {
  claimGrounds,
  keyFactsOf,
  type StoredKeyStanding,
  storeCustodyReading,
  storeKeyStandings,
} from '../../db/queries/sources/signer-keys.ts'
import { askForSubjects } from '../../db/queries/sources/source-state.ts'
import { endTakenBack, lockVerifications } from '../../db/queries/verifications/verified-addresses.ts'
import type { Host } from '../../hosts/host.ts'
import { NoAnswer } from '../../hosts/no-answer.ts'
import { askKeyStanding, type KeyStanding } from '../../social/key-standing.ts'
import { proveMessage } from '../../social/message-proof.ts'
import type { ProofWorld } from '../../social/proof-world.ts'
import { readHubMessage } from '../../trust/hub-message.ts'
import { numberOf, type Source } from '../schedule/source.ts'

interface ProofOptions {
  readonly pool: pg.Pool
  readonly world: ProofWorld
  readonly host: Host
  readonly now: () => Date
}

const { cadenceMs } = sources.proofs

/** Source that checks on the chains the messages that an account's addresses rest on, and stores each verdict. */
export function socialProofs({ pool, world, host, now }: ProofOptions): Source {
  const { registries } = world
  const proofWorld = { registries, wallets: blamingWallets(world.wallets) }

  return {
    ...sources.proofs,
    host,

    async read([subject]) {
      const fid = numberOf(subject!)
      const proofs: ProvedMessage[] = []
      const keys: StoredKeyStanding[] = []
      let isOpen = false
      let isUndone = false
      const logs = new KeyLogs(registries, fid)
      for (const { hash, address, message: json } of await messagesToProve(pool, fid)) {
        const message = readHubMessage(json)
        if (!message) continue // it can never be checked
        const facts = await keyFactsOf(pool, { fid, key: message.signer, hash })
        await host.slot()
        const provable = { message, fid, address: address as `0x${string}`, key: facts, now: now() }
        const { verdict, claim, key, keyStanding, wallet } = await answered(() => proveMessage(provable, proofWorld))
        if (verdict === 'forged' || key === 'unknown') continue
        isUndone ||= facts.messageHeld && key === 'failed'
        proofs.push({ fid, hash, verdict, claim, key, wallet: wallet ?? null })
        const { source = null, beforeCustody = false } = keyStanding ?? {}
        const place = { custodyBlock: facts.transferBlock, ...(await logs.added(message.signer, { source })) }
        keys.push({ fid, key: message.signer, source, beforeCustody, ...place, removal: null })
        // Verdicts that may change: a contract wallet's, and those on keys still to be added or handed over.
        isOpen ||= wallet !== undefined || verdict !== 'proven' || beforeCustody
      }
      const grounds = await claimGrounds(pool, fid)
      for (const key of grounds.keys) {
        const facts = await keyFactsOf(pool, { fid, key })
        await host.slot()
        const standing = await answered(() => askKeyStanding(registries, { fid, key: toHex(key) }, facts))
        const { source, beforeCustody } = standing
        const place = { custodyBlock: facts.transferBlock, ...(await logs.added(key, standing)) }
        keys.push({ fid, key, source, beforeCustody, ...place, removal: await logs.removal(key, standing) })
      }
      const custody = grounds.claimed || grounds.named ? await answered(() => registries.custodyOf(fid)) : undefined
      return {
        outcome: proofs.length > 0 || custody ? 'ok' : 'empty',
        async write(db) {
          if (custody) await storeCustodyReading(db, { fid, ...custody, now: now() })
          await lockVerifications(db, [fid])
          await storeProofs(db, proofs, now())
          await storeKeyStandings(db, keys, now())
          const isEnded = await endTakenBack(db, fid, now())
          const claims = grounds.claimed && (isEnded || isUndone) ? [`fid:${fid}`] : []
          await askForSubjects(db, sources.claims.name, claims, { priority: 2, dueAt: now() })
          if (keys.some(({ isFinal }) => isFinal === false)) return cadenceMs.pending
          return isOpen || grounds.claimed ? cadenceMs.open : cadenceMs.settled
        },
      }
    },
  }
}

/**
 * Wallets whose silence is their account's own affair: the registries have answered by then, so the node is there, and the
 * wallet may be on another chain or fail in a way that its contract chose.
 */
function blamingWallets(wallets: ProofWorld['wallets']): ProofWorld['wallets'] {
  return {
    ...wallets,
    async ask(wallet, hash, signature) {
      try {
        return await wallets.ask(wallet, hash, signature)
      } catch (cause) {
        throw new NoAnswer('unavailable', (cause as Error).message, { cause, isAboutOne: true })
      }
    },
  }
}

/** Logs of the KeyRegistry about an account's keys; those that added a key are asked for once. */
class KeyLogs {
  readonly #asked = new Map<string, Promise<Pick<StoredKeyStanding, 'addedLog' | 'isFinal'>>>()

  constructor(
    private readonly registries: ProofWorld['registries'],
    private readonly fid: number,
  ) {}

  /** The log that added a key, and whether it is final. */
  added(key: Uint8Array, { source }: Pick<KeyStanding, 'source'>) {
    if (source !== 'chain') return { addedLog: null, isFinal: null }
    const hex = toHex(key)
    const added = this.#asked.get(hex) ?? answered(() => this.#askAdded(hex))
    this.#asked.set(hex, added)
    return added
  }

  async #askAdded(key: Hex) {
    const isFinal = await this.registries.isFinallyAdded(this.fid, key) // first: a log found after it is the final one
    return { addedLog: await this.registries.addedLog(this.fid, key), isFinal }
  }

  /** Whether the KeyRegistry lists a key as removed at its final block, which nothing undoes. */
  async removal(key: Uint8Array, { source }: KeyStanding): Promise<StoredKeyStanding['removal']> {
    if (source !== 'chain') return null
    const removal = await answered(() => this.registries.removalOf(this.fid, toHex(key), 'finalized'))
    return { isRemoved: removal !== undefined, log: removal?.place ?? null }
  }
}

/** Turns a node's failure into NoAnswer, so that the account is asked about again later. */
async function answered<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof NoAnswer) throw error
    throw new NoAnswer('unavailable', (error as Error).message, { cause: error })
  }
}
