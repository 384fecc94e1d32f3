import type { Logger } from 'pino'
import { hideAddresses } from '../../hosts/host.ts'
import { Refusal } from '../../ops/cli.ts'

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
type Level = (typeof levels)[number]
type Write = (attributes: unknown, message?: string) => void

/** The methods of the SDK's logger that it calls. */
export interface SdkLog extends Record<Level, Write>, Record<`is${Capitalize<Level>}`, () => boolean> {
  child(space: string | object, attributes?: object): SdkLog
  write(level: number, attributes: unknown, message?: string): void
}

/** Sends what the SDK logs through ours, so that a process has one log in one form. */
export function toSdkLog(log: Logger): SdkLog {
  const write = (level: Level, attributes: unknown, message?: string) => {
    if (attributes === undefined || attributes === null) return
    const text = message && hideAddresses(message)
    if (typeof attributes === 'string') {
      log[level](hideAddresses(attributes))
    } else if (attributes instanceof Refusal) {
      log[level](attributes.message)
    } else if (attributes instanceof Error) {
      const error = describe(attributes)
      log[level]({ error }, text ?? error.message)
    } else {
      log[level](withoutAddresses(attributes), text)
    }
  }
  const perLevel = levels.flatMap((level) => [
    [level, (attributes: unknown, message?: string) => write(level, attributes, message)],
    [`is${level[0]?.toUpperCase()}${level.slice(1)}`, () => log.isLevelEnabled(level)],
  ])
  return {
    ...Object.fromEntries(perLevel),
    child: (space: string | object, attributes?: object) => {
      const named = typeof space === 'string' ? { part: space, ...attributes } : space
      return toSdkLog(log.child(withoutAddresses(named)))
    },
    write: (level: number, attributes: unknown, message?: string) =>
      write(levels[level] ?? 'info', attributes, message),
  }
}

/** An error for the log. Of the fields that the SDK adds only the block is kept: requests and answers are too long. */
function describe(error: Error & { blockHeight?: number; blockHash?: string }) {
  const { name, message, blockHeight, blockHash, stack = '' } = error
  return { type: name, message: hideAddresses(message), blockHeight, blockHash, stack: hideAddresses(stack) }
}

function withoutAddresses(attributes: object): object {
  const entries = Object.entries(attributes)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? hideAddresses(value) : value]),
  )
}
