import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { knowsChainsOf } from '../config/chains.file.ts'
import { isLoopback } from '../config/settings.check.ts'
import { isLocked } from '../ops/lock.mjs'

/** Name of the file, in its state folder, with the settings by which commands work on a local world while it runs. */
export const worldSettingsName = 'devnet.env'

/** Shell command that puts the variables of a file into the environment of the commands that follow. */
export const loadingLine = (path: string) => `set -a; . ${path}; set +a`

interface WorldSettings {
  /** Of the file, for a shell in the working directory. */
  readonly path: string
  readonly settings: NodeJS.Dict<string>
}

/** Settings of the local world that runs in a state folder, relative to the working directory; undefined: none does. */
export async function runningWorld(stateFolder: string): Promise<WorldSettings | undefined> {
  const path = `./${stateFolder}/${worldSettingsName}`
  // Its folder's lock as well: a world that was killed leaves its file behind.
  if (!existsSync(path) || !(await isLocked(`stack ${realpathSync(stateFolder)}`))) return undefined
  return { path, settings: parseEnv(readFileSync(path, 'utf8')) }
}

/**
 * Throws when a database is that of the local world that runs in this state folder, and this process knows other chains:
 * by the table's blocks and hosts it would find nothing, or write what is not there.
 */
export async function refuseWithoutItsChains(databaseUrl: string, stateFolder: string): Promise<void> {
  const world = await runningWorld(stateFolder)
  const { DATABASE_URL, CHAINS_FILE } = world?.settings ?? {}
  if (!world || !DATABASE_URL || !CHAINS_FILE || !isSameDatabase(databaseUrl, DATABASE_URL)) return
  if (knowsChainsOf(CHAINS_FILE)) return
  throw new Error(
    'DATABASE_URL is that of npm start, which runs here, and CHAINS_FILE is not that of its chains: ' +
      `load both with ${loadingLine(world.path)}`,
  )
}

function isSameDatabase(one: string, other: string): boolean {
  const a = new URL(one)
  const b = new URL(other)
  const isSameHost = a.hostname === b.hostname || (isLoopback(a.hostname) && isLoopback(b.hostname))
  return isSameHost && a.port === b.port && a.pathname === b.pathname
}
