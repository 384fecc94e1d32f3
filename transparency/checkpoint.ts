import { hashBytes } from './hashes.ts'
import type { TreeHead } from './proofs.ts'

/** What a log signs, by C2SP tlog-checkpoint. */
export interface Checkpoint extends TreeHead {
  /** Name of the log: its address without scheme. */
  readonly origin: string
}

/** Name of a log of a service, its origin: where it is served, without scheme. Logs behind the first, 1, have their number in it. */
export function logName(baseUrl: string, epoch = 1): string {
  const log = `${baseUrl.replace(/^https?:\/\//, '').replace(/\/$/, '')}/log`
  return epoch === 1 ? log : `${log}/${epoch}`
}

/** Number of the log that an origin names. */
export function epochOf(origin: string): number {
  return Number(/\/log\/([1-9]\d{0,8})$/.exec(origin)?.[1] ?? 1)
}

/** Whether a log is one that the same service began behind another, by their origins. */
export function isLaterLog(origin: string, than: string): boolean {
  const service = (of: string) => of.replace(/\/[1-9]\d{0,8}$/, '')
  return service(origin) === service(than) && epochOf(origin) > epochOf(than)
}

/** Text of the note that a log signs. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`
}

/** What the text of a checkpoint's note says. Throws when it has another form; lines behind the third are passed over. */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin = '', decimal = '', base64 = '', ...others] = text.split('\n')
  const size = Number(decimal)
  const root = Buffer.from(base64, 'base64')
  const isWhole =
    origin !== '' && others.at(-1) === '' && root.length === hashBytes && root.toString('base64') === base64
  if (!isWhole || !/^(0|[1-9]\d*)$/.test(decimal) || !Number.isSafeInteger(size)) {
    throw new Error('the text is not that of a checkpoint')
  }
  return { origin, size, root }
}
