import { randomUUID } from 'node:crypto'
import { leaseSubject } from '../db/queries/source-state.ts'
import { liveAddresses, standingOf } from '../db/queries/verified-addresses.ts'
import { UsageError } from '../ops/cli.ts'
import { type JoinOptions, runJoin } from './join.ts'
import { type Pass, readGroup } from './scheduler.ts'
import { minute, type Source, sourceNames } from './source.ts'

/** Sources that read one FID. */
const ofFids: readonly string[] = [
  sourceNames.fids,
  sourceNames.specs,
  sourceNames.explorer,
  sourceNames.labels,
  sourceNames.identity,
  sourceNames.codehost,
  sourceNames.follows,
]

/** Parses what a person asked for. Throws UsageError. */
export function parseOnce({ source, fid }: { source?: string; fid?: string }): { source: string; fid: number } {
  if (source === undefined || !ofFids.includes(source)) {
    throw new UsageError(`--source must be one of: ${ofFids.join(', ')}`)
  }
  if (fid === undefined || !/^[1-9]\d{0,14}$/.test(fid)) throw new UsageError('--fid must be a positive integer')
  return { source, fid: Number(fid) }
}

/**
 * Reads one FID now, due or not, as the job would, and derives what follows. Returns what is known of it then; `outcome`
 * is as in `source_state.last_outcome`.
 */
export async function readOnce(source: Source, fid: number, pass: Pass, join: JoinOptions) {
  const at = pass.now()
  const order = { source: source.name, token: randomUUID(), now: at, until: new Date(at.getTime() + minute) }
  const subject = await leaseSubject(pass.pool, { ...order, subject: `fid:${fid}` })
  const outcome = await readGroup(source, pass, [subject], order.token)
  while ((await runJoin(join)) > 0);
  const { listed, claimed } = await standingOf(pass.pool, fid)
  const verified = await liveAddresses(pass.pool, [fid])
  return { source: source.name, fid, outcome, listed, claimed, verified_addresses: verified.get(fid) ?? [] }
}
