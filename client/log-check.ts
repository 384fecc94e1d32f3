import { readFile } from 'node:fs/promises'
import {
  checkpointOf,
  type Followed,
  followLog,
  LogFork,
  readEntries,
  readNewest,
  type SignedCheckpoint,
} from '../transparency/follow.ts'
import { keepFollowed, keepFork } from '../transparency/fork-evidence.ts'
import { NoLogFile, type ReadLogFile } from '../transparency/log-files.ts'
import { logMemory, noteIn } from '../transparency/log-memory.ts'
import { type AgentDirectory, DirectoryError } from './client.ts'
import type { ProfileCheck } from './profile-check.ts'

/** What a reader knows of a service's transparency log, besides what the mirror has kept. */
export interface LogKnown {
  /** The log's key; undefined: the first that was seen. */
  readonly key?: string | undefined
  /** File with a checkpoint that another reader was shown. */
  readonly checkpoint?: string | undefined
}

/**
 * Checks that a service's transparency log goes on from the checkpoint next to a mirror's file, and from what else is known
 * of it, and keeps the newest checkpoint there. A service without a log is left alone until it had one. `profiles`: what the
 * mirror was shown is compared with the entries.
 *
 * Throws when the log contradicts what is known, after it has kept both sides next to the file: docs/log.md.
 */
export async function checkLog(
  directory: AgentDirectory,
  file: string,
  known: LogKnown,
  tell: (words: string) => void,
  profiles?: ProfileCheck,
): Promise<void> {
  const path = `${file}.log`
  const readLogFile = readerOf(directory)
  const own = logMemory(path).read()
  const first = own ?? (await firstSeen(readLogFile, known))
  if (!first) return profiles?.giveUp()
  if (known.key !== undefined && known.key !== first.key)
    throw new Error(`the transparency log has the key ${first.key}, not the one that was named`)
  const others =
    known.checkpoint === undefined ? [] : [{ note: noteIn(await readFile(known.checkpoint, 'utf8')), key: first.key }]
  for (const one of [first, ...others]) {
    try {
      const followed = await followLog(one, { readFile: readLogFile, wait: () => directory.afterCaches() })
      const changes = one === first ? keepFollowed(followed, path) : followed.changes
      for (const change of changes) tell(`the transparency log: ${change}`)
      if (one === first && profiles) await compareProfiles(profiles, followed, readLogFile)
    } catch (error) {
      throw error instanceof LogFork ? keepFork(error, file) : error
    }
  }
}

/** Compares profiles with the entries that were appended, or with all of them. Throws when one is in none. */
async function compareProfiles(profiles: ProfileCheck, { signed, said }: Followed, readFile: ReadLogFile) {
  profiles.log(profiles.lacksEntries ? await readEntries(signed, readFile) : said)
  profiles.lacksEntries = false
  const fid = profiles.compare()
  if (fid !== undefined)
    throw new Error(`the profile of agent ${fid} is another than any entry of the transparency log tells`)
}

/** Files of a service's log. */
export function readerOf(directory: AgentDirectory): ReadLogFile {
  return async (path) => {
    try {
      return Buffer.from(await directory.logFile(path))
    } catch (error) {
      if (error instanceof DirectoryError && error.status === 404) throw new NoLogFile(`has no ${path} any more`)
      throw error
    }
  }
}

/** What a log shows a reader who knows nothing of it. Undefined: the service has no log. */
export async function firstSeen(read: ReadLogFile, { key }: LogKnown): Promise<SignedCheckpoint | undefined> {
  try {
    const shown = await readNewest(read, key === undefined ? undefined : { key })
    if (!checkpointOf(shown)) throw new Error('the checkpoint of the transparency log is not signed with its key')
    return shown
  } catch (error) {
    if (error instanceof NoLogFile) return undefined
    throw error
  }
}
