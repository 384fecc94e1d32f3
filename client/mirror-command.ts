import { setTimeout as delay } from 'node:timers/promises'
import { AgentDirectory } from './client.ts'
import { checkLog } from './log-check.ts'
import { followFile, mirrorFile } from './mirror.ts'
import { mostLooks, ProfileCheck } from './profile-check.ts'
import { oneLine } from './rows.ts'

/** A mistake of the caller: one line, and exit code 2. */
export class UsageError extends Error {}

/** Retries with --follow: enough to wait some minutes for a service that restarts. */
const followRetries = 10
/** Most seconds from one look at the transparency log to the next. */
const mostEverySeconds = 86_400

const text = { type: 'string' } as const

/** Options of a mirror, for `parseArgs`. */
export const mirrorOptions = {
  file: text,
  follow: { type: 'boolean' },
  from: text,
  'log-key': text,
  checkpoint: text,
  every: text,
} as const

/** What a mirror was told to do. */
interface MirrorValues {
  readonly file?: string | undefined
  readonly follow?: boolean | undefined
  readonly from?: string | undefined
  readonly 'log-key'?: string | undefined
  readonly checkpoint?: string | undefined
  readonly every?: string | undefined
}

/** Address of the service, as it was named, or by the environment. Throws UsageError without one. */
export function addressOf(named: string | undefined, env: string | undefined): string {
  const api = named ?? env
  if (!api || !URL.canParse(api)) throw new UsageError('--api must be the address of a service')
  return api
}

/**
 * Brings a mirror up to date and checks the transparency log; with `follow` it does both without end. Throws UsageError for
 * values that are none.
 */
export async function runMirror(api: string, values: MirrorValues): Promise<void> {
  const { file, from = 'log', every = '60' } = values
  if (!file) throw new UsageError('mirror takes --file')
  if (from !== 'log' && from !== 'snapshot') throw new UsageError('--from must be log or snapshot')
  const seconds = Number(every)
  if (!/^[1-9]\d*$/.test(every) || seconds > mostEverySeconds)
    throw new UsageError(`--every must be a number of seconds from 1 to ${mostEverySeconds}`)
  const directory = new AgentDirectory(api, values.follow ? { retries: followRetries } : {})
  const tell = (words: string) => void process.stderr.write(`${oneLine(words)}\n`)
  const told = (agents: number) => tell(`${file}: ${agents} agents`)
  const known = { key: values['log-key'], checkpoint: values.checkpoint }
  const profiles = new ProfileCheck()
  let overdue = 0
  const check = async () => {
    await checkLog(directory, file, known, tell, profiles)
    if (profiles.overdue > overdue)
      tell(`the transparency log: it has no entry yet for ${profiles.overdue} profiles that changed`)
    overdue = profiles.overdue
  }
  if (values.follow) {
    await Promise.race([followFile(directory, file, from, told, profiles), repeat(check, seconds * 1_000)])
  } else {
    told(await mirrorFile(directory, file, from, profiles))
    await check()
    for (let looks = 1; profiles.waiting > 0 && !profiles.lacksEntries && looks < mostLooks; looks++) {
      await directory.afterCaches()
      await mirrorFile(directory, file, from, profiles)
      await check()
    }
  }
}

/** Does something again and again, with a pause, until it throws. Profiles may not change for hours: it waits for none. */
async function repeat(task: () => Promise<void>, pauseMs: number): Promise<never> {
  for (;;) {
    await task()
    await delay(pauseMs)
  }
}
