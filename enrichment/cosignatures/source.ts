import type pg from 'pg'
import { sources } from '../../config/sources.ts'
import { cosignCheckpoint, lastCheckpoint, tileReader } from '../../db/queries/transparency/tree.ts'
import { createHost } from '../../hosts/host.ts'
import { hour, second } from '../../ops/time.ts'
import { cosignedBy, withCosignature } from '../../transparency/cosignature.ts'
import { partsOf } from '../../transparency/note.ts'
import { consistencyProof } from '../../transparency/tree.ts'
import type { Reading, Source } from '../schedule/source.ts'
import type { LogWitness, WitnessClient } from './witness.ts'

interface CosignaturesOptions {
  readonly pool: pg.Pool
  readonly witnesses: readonly WitnessClient[]
  readonly now: () => Date
}

const { cadenceMs } = sources.cosignatures
/** Milliseconds after which a witness is asked again about the same checkpoint: a cosignature has a time. */
const staleMs = hour

export const witnessSubject = ({ url }: LogWitness) => `witness:${url}`

/**
 * Source that has witnesses cosign the last checkpoint of the transparency log, and puts what they sign on it. A witness that
 * does not answer, or refuses, keeps nobody else waiting.
 */
export function logCosignatures({ pool, witnesses, now }: CosignaturesOptions): Source {
  return {
    ...sources.cosignatures,
    host: createHost({ name: 'log witnesses', requestsPerSecond: Number.POSITIVE_INFINITY, now }),

    async read([leased]): Promise<Reading> {
      const witness = witnesses.find((one) => witnessSubject(one) === leased?.subject)
      if (!witness) return { outcome: 'gone', write: async () => undefined }
      const last = await lastCheckpoint(pool)
      const cosigned = last && cosignedBy(last.note, witness.key)
      if (!last || (cosigned && now().getTime() - cosigned.at * second < staleMs)) {
        return { outcome: last ? 'ok' : 'empty', write: async () => cadenceMs.all }
      }
      const { note, size, epoch } = last
      const readTile = tileReader(pool, epoch)
      const answer = await witness.cosign({
        note,
        size,
        proofFrom: (before) => consistencyProof(before, size, readTile),
      })
      if (typeof answer === 'string') return { outcome: answer, failed: true, write: async () => 0 }
      const { text } = partsOf(note)
      return {
        outcome: 'ok',
        async write(db) {
          const isMeant = (there: string) => partsOf(there).text === text
          await cosignCheckpoint(db, isMeant, (there) => withCosignature(there, answer))
          return cadenceMs.all
        },
      }
    },
  }
}
