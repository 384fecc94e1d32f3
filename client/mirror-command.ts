import { AgentDirectory } from './client.ts'
import { checkLog, type LogKnown } from './log-check.ts'
import { followFile, mirrorFile } from './mirror.ts'

/** A mistake of the caller: one line, and exit code 2. */
export class UsageError extends Error {}

/** Retries with --follow: enough to wait some minutes for a service that restarts. */
const followRetries = 10
/** Milliseconds from one look at the transparency log to the next while a mirror follows. */
const logCheckEveryMs = 60_000

const text = { type: 'string' } as const

/** Options of a mirror, for `parseArgs`. */
export const mirrorOptions = {
  file: text,
  follow: { type: 'boolean' },
  from: text,
  'log-key': text,
  checkpoint: text,
} as const

/** What a mirror was told to do. */
interface MirrorValues {
  readonly file?: string | undefined
  readonly follow?: boolean | undefined
  readonly from?: string | undefined
  readonly 'log-key'?: string | undefined
  readonly checkpoint?: string | undefined
}

/** Address of the service, as it was named, or by the environment. Throws UsageError without one. */
export function addressOf(named: string | undefined, env: string | undefined): string {
  const api = named ?? env
  if (!api || !URL.canParse(api)) throw new UsageError('--api must be the address of a service')
  return api
}

/** Brings a mirror up to date, and keeps it so with `follow`. Throws UsageError for values that are none. */
export async function runMirror(api: string, values: MirrorValues): Promise<void> {
  const { file, from = 'log' } = values
  if (!file) throw new UsageError('mirror takes --file')
  if (from !== 'log' && from !== 'snapshot') throw new UsageError('--from must be log or snapshot')
  const directory = new AgentDirectory(api, values.follow ? { retries: followRetries } : {})
  const tell = (words: string) => void process.stderr.write(`${words}\n`)
  const check = logChecks(directory, file, { key: values['log-key'], checkpoint: values.checkpoint })
  const told = async (agents: number) => {
    tell(`${file}: ${agents} agents`)
    await check(tell)
  }
  if (values.follow) await followFile(directory, file, from, told)
  else await told(await mirrorFile(directory, file, from))
}

/** Checks the transparency log each time it is called, but for the times soon after another. */
function logChecks(directory: AgentDirectory, file: string, known: LogKnown) {
  let checkedAt = Number.NEGATIVE_INFINITY
  return async (tell: (words: string) => void) => {
    if (Date.now() - checkedAt < logCheckEveryMs) return
    await checkLog(directory, file, known, tell)
    checkedAt = Date.now()
  }
}
