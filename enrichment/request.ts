import { UsageError } from '../ops/cli.ts'
import { namesOf } from '../sources.ts'

/**
 * Sources whose subjects are FIDs, or come of one: its addresses, its registrations. The others follow the whole
 * network.
 */
export const onceSources: readonly string[] = namesOf(({ once }) => once !== undefined)

/** One source is to be asked about one account. */
export interface OnceRequest {
  readonly source: string
  readonly fid: number
}

/** Parses what a person asked for. Throws UsageError. */
export function parseOnce({ source, fid }: { source?: string; fid?: string }): OnceRequest {
  if (source === undefined || !onceSources.includes(source)) {
    throw new UsageError(`--source must be one of: ${onceSources.join(', ')}`)
  }
  if (fid === undefined || !/^[1-9]\d{0,14}$/.test(fid)) throw new UsageError('--fid must be a positive integer')
  return { source, fid: Number(fid) }
}
