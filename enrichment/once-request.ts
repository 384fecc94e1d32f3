import { UsageError } from '../ops/cli.ts'
import { namesOf } from '../sources.config.ts'

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
