import { z } from 'zod'
import { type ChainName, chainNames, findChain } from '../../config/chains.ts'
import { UsageError } from '../../ops/cli.ts'
import { day } from '../../ops/time.ts'
import { readRowsPerSecond } from '../request.ts'

export const options = {
  chain: { type: 'string' },
  before: { type: 'string' },
  plan: { type: 'boolean' },
  check: { type: 'boolean' },
  restore: { type: 'boolean' },
  reload: { type: 'boolean' },
  'rows-per-second': { type: 'string' },
} as const
type Values = { readonly [name in keyof typeof options]?: string | boolean | undefined }

export interface ArchiveRequest {
  readonly chain: ChainName
  /** ISO time that all archived settlements are older than; absent when nothing is archived. */
  readonly before: string
  readonly task: 'archive' | 'plan' | 'check' | 'restore'
  /** The rows to restore are read from the chain's source again: the files are lost. */
  readonly reload?: boolean
  readonly rowsPerSecond: number
}

/** Least age of settlements that may be archived, in days; younger ones are read for the counts of recent weeks. */
export const leastAgeDays = 90

/**
 * The request that the command line's arguments make. Throws a UsageError for the first one that is missing or wrong.
 */
export function readArchiveRequest(values: Values, now: Date): ArchiveRequest {
  const { before, plan, check, restore, reload } = values
  const chain = typeof values.chain === 'string' ? findChain(values.chain) : undefined
  if (!chain) throw new UsageError(`--chain must be one of ${chainNames.join(', ')}`)
  if ([plan, check, restore].filter(Boolean).length > 1)
    throw new UsageError('--plan, --check and --restore cannot be combined')
  if (reload && !restore) throw new UsageError('--reload goes with --restore')
  const task = plan ? 'plan' : check ? 'check' : restore ? 'restore' : 'archive'
  const rowsPerSecond = readRowsPerSecond(values['rows-per-second'] as string | undefined)
  if (task === 'check' || task === 'restore') {
    if (before !== undefined) throw new UsageError(`--before does not go with --${task}`)
    return { chain, before: '', task, rowsPerSecond, reload: reload === true }
  }
  if (!z.iso.date().safeParse(before).success) throw new UsageError('--before must be a day, as 2024-01-01')
  const time = new Date(String(before))
  if (time.getTime() > now.getTime() - leastAgeDays * day) {
    throw new UsageError(`--before must be at least ${leastAgeDays} days ago`)
  }
  return { chain, before: time.toISOString(), task, rowsPerSecond }
}
