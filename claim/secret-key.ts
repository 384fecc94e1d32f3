import { text as readAll } from 'node:stream/consumers'
import { UsageError } from '../ops/cli.ts'

/** Hosts of this machine, whose keys are those of a local world. */
const local = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** The value of an option that the method needs. Throws UsageError when it is missing. */
export function given(option: string, value: string | boolean | undefined): string {
  if (typeof value !== 'string' || value === '') throw new UsageError(`${option} is needed for this method`)
  return value
}

/**
 * Secret key of 32 bytes from an option, or from standard input for `-`. Throws UsageError for any other form. A key that
 * came as an argument for a service elsewhere is warned of: other users of the machine can read arguments, and shells
 * keep them.
 */
export async function keyOf(option: string, value: string | boolean | undefined, api: string): Promise<`0x${string}`> {
  if (value !== '-' && value !== undefined && !local.test(new URL(api).hostname)) {
    process.stderr.write(
      `warning: a key among the arguments can be read by others; ${option} - reads it from the input\n`,
    )
  }
  const text = given(option, value) === '-' ? (await readAll(process.stdin)).trim() : given(option, value)
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) throw new UsageError(`${option} must be 0x and 64 hex digits`)
  return text as `0x${string}`
}
