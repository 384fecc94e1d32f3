import { randomUUID } from 'node:crypto'
import { namesOf, sourceNamed } from '../config/sources.ts'
import { registrationsHeldBy } from '../db/queries/sources/registration-documents.ts'
import { leaseSubject } from '../db/queries/sources/source-state.ts'
import { liveAddresses, standingOf } from '../db/queries/verifications/verified-addresses.ts'
import type { DeriveContext } from '../derive/derivation.ts'
import { derivations } from '../derive/derivations.ts'
import { settle } from '../derive/pass.ts'
import { UsageError } from '../ops/cli.ts'
import { minute } from '../ops/time.ts'
import { type Pass, readGroup } from './schedule/scheduler.ts'
import type { AnySource } from './schedule/source.ts'
import { endings } from './schedule/storing.ts'

/** Most subjects read by one `--once`; some agents hold thousands of registrations. */
const mostSubjects = 100

/**
 * Reads what a source says about one FID now, due or not, as the job would, and derives what follows. Returns the
 * outcome of each subject's read, and what is known of the FID afterwards. Outcomes are as in
 * `source_state.last_outcome`; the overall one is the first that is not an answer, else `ok` if any is, else `empty`:
 * also when there was nothing to ask about, such as the registrations of a FID that holds none.
 */
export async function readOnce(source: AnySource, fid: number, pass: Pass, context: DeriveContext) {
  const reads: { subject: string; outcome: string }[] = []
  for (const subject of await subjectsOf(source, fid, pass)) {
    const leaseId = randomUUID()
    const until = new Date(pass.now().getTime() + minute)
    const leased = await leaseSubject(pass.pool, { source: source.name, subject, leaseId, until })
    const [outcome = ''] = await readGroup(source, pass, [leased], endings(source, pass)(leaseId))
    reads.push({ subject, outcome })
  }
  await settle(
    derivations.filter(({ rest }) => rest === 'soon'),
    context,
  )
  const { listed, claimed } = await standingOf(pass.pool, fid)
  const verified = await liveAddresses(pass.pool, [fid])
  const outcomes = reads.map((read) => read.outcome)
  const outcome = outcomes.find((one) => !isAnswer(one)) ?? (outcomes.includes('ok') ? 'ok' : 'empty')
  const known = { listed, claimed, verified_addresses: verified.get(fid) ?? [] }
  return { source: source.name, fid, outcome, reads, ...known }
}

/** Whether an outcome says that the source answered. */
export function isAnswer(outcome: string): boolean {
  return outcome === 'ok' || outcome === 'empty'
}

async function subjectsOf({ name }: AnySource, fid: number, { pool }: Pass): Promise<string[]> {
  const { once } = sourceNamed(name) ?? {}
  if (once === 'registrations') {
    const held = await registrationsHeldBy(pool, fid, mostSubjects)
    return held.map(({ chain, agentId }) => `token:${chain}:${agentId}`)
  }
  if (once === 'addresses') {
    const addresses = (await liveAddresses(pool, [fid])).get(fid) ?? []
    return addresses.slice(0, mostSubjects).map((address) => `address:${address}`)
  }
  return [`fid:${fid}`]
}

/**
 * Names of the sources that can be asked about one FID: their subjects are FIDs, or a FID's addresses or registrations.
 * The others follow the whole network.
 */
export const onceSources: readonly string[] = namesOf(({ once }) => once !== undefined)

/** Request to ask one source about one account. */
export interface OnceRequest {
  readonly source: string
  readonly fid: number
}

/** Parses `--source` and `--fid`. Throws a UsageError. */
export function parseOnce({ source, fid }: { source?: string; fid?: string }): OnceRequest {
  if (source === undefined || !onceSources.includes(source)) {
    throw new UsageError(`--source must be one of: ${onceSources.join(', ')}`)
  }
  if (fid === undefined || !/^[1-9]\d{0,14}$/.test(fid)) throw new UsageError('--fid must be a positive integer')
  return { source, fid: Number(fid) }
}
