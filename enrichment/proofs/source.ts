import type pg from 'pg'
import { messagesToProve, type ProvedMessage, storeProofs } from '../../db/queries/sources/farcaster-messages.ts'
import { keyFactsOf, type StoredKeyStanding, storeKeyStandings } from '../../db/queries/sources/signer-keys.ts'
import type { Host } from '../../hosts/host.ts'
import { NoAnswer } from '../../hosts/no-answer.ts'
import { type ProofWorld, type Proved, proveMessage } from '../../social/proving.ts'
import { sources } from '../../sources.ts'
import { readHubMessage } from '../../trust/hub-message.ts'
import { numberOf, type Source } from '../schedule/source.ts'

interface ProofOptions {
  readonly pool: pg.Pool
  readonly world: ProofWorld
  readonly host: Host
  readonly now: () => Date
}

const { cadenceMs } = sources.proofs

/** Asks the chains about the messages that an account's addresses rest on, and stores what each is worth. */
export function socialProofs({ pool, world, host, now }: ProofOptions): Source {
  return {
    ...sources.proofs,
    host,

    async read([subject]) {
      const fid = numberOf(subject!)
      const proofs: ProvedMessage[] = []
      const keys: StoredKeyStanding[] = []
      let isOpen = false
      for (const { hash, address, message: json } of await messagesToProve(pool, fid)) {
        const message = readHubMessage(json)
        if (!message) continue // nothing of it can be checked, today or later
        const facts = await keyFactsOf(pool, fid, message.signer)
        await host.slot()
        const provable = { message, fid, address: address as `0x${string}`, key: facts, now: now() }
        const { verdict, claim, key, keyStanding, wallet } = await prove(provable, world)
        if (verdict === 'forged' || key === 'unknown') continue
        proofs.push({ fid, hash, verdict, claim, key, wallet: wallet ?? null })
        const { source = null, beforeCustody = false } = keyStanding ?? {}
        keys.push({ fid, key: message.signer, source, beforeCustody, custodyBlock: facts.transferBlock })
        // What may be another answer tomorrow: of a contract, and about a key that is added yet or was handed over.
        isOpen ||= wallet !== undefined || verdict !== 'proven' || beforeCustody
      }
      return {
        outcome: proofs.length > 0 ? 'ok' : 'empty',
        async write(db) {
          await storeProofs(db, proofs, now())
          await storeKeyStandings(db, keys, now())
          return isOpen ? cadenceMs.open : cadenceMs.settled
        },
      }
    },
  }
}

/** A node that does not answer is no fault of ours: the account is asked about again later. */
async function prove(...given: Parameters<typeof proveMessage>): Promise<Proved> {
  try {
    return await proveMessage(...given)
  } catch (error) {
    if (error instanceof NoAnswer) throw error
    throw new NoAnswer('unavailable', (error as Error).message, { cause: error })
  }
}
