import { isIP } from 'node:net'
import type { Reader, Setting } from './settings.row.ts'
import { ofProcesses, type SettingsOf } from './settings.ts'

/** Settings that are missing or invalid; the message has one line for each, beginning with the variable's name. */
class SettingsError extends Error {
  override readonly name = 'SettingsError'
  constructor(readonly problems: readonly string[]) {
    super(`the settings are wrong:\n  ${problems.join('\n  ')}`)
  }
}

/**
 * The settings of one reader. Throws a SettingsError that names every bad variable, so that a bad deploy never listens.
 * Errors that `others` throws are reported together with these.
 */
export function readSettings<R extends Reader, T>(
  reader: R,
  env: NodeJS.ProcessEnv,
  others?: () => T,
): { vars: SettingsOf<R>; others: T } {
  const problems: string[] = []
  const vars: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries<Setting>(ofProcesses)) {
    if (!setting.readers.includes(reader)) continue
    const given = env[name] || setting.default
    if (given === undefined) continue
    const parsed = setting.form.safeParse(given)
    if (parsed.success) vars[name] = parsed.data
    else problems.push(...parsed.error.issues.map(({ message }) => `${name} ${message}`))
  }
  try {
    const read = others?.() as T
    problems.push(...exposureProblems(vars))
    if (problems.length === 0) return { vars: vars as SettingsOf<R>, others: read }
  } catch (error) {
    problems.push((error as Error).message)
  }
  throw new SettingsError(problems)
}

/** A line when HOST is public and BASE_URL a loopback address: claims and links would name each user's own machine. */
function exposureProblems({ HOST: host, BASE_URL: baseUrl }: { HOST?: string; BASE_URL?: string }): string[] {
  if (host === undefined || baseUrl === undefined) return []
  const named = new URL(baseUrl).hostname
  if (isLoopback(host) || !isLoopback(named)) return []
  return [`BASE_URL must be the address that users know: HOST ${host} is for others, and ${named} is each one's own`]
}

/** Whether a host name or an IP address (IPv6 with or without brackets) is a loopback one. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  if (isIP(name) === 4) return name.startsWith('127.')
  return isIP(name) === 6 ? /^(0*:)*:?0*1$/.test(name) : name === 'localhost' || name.endsWith('.localhost')
}
