import { type AgentDirectory, DirectoryError, type LogLine } from './client.ts'
import { type Mirrored, profileText, readMirrorFile, writeMirrorFile } from './mirror-format.ts'
import type { ProfileCheck } from './profile-check.ts'

/** How long changes are gathered before the file is written, milliseconds. */
const gatherMs = 1_000

/** Brings a copy of a mirror up to date. If the log is another one, as after a rebuilt database, it starts over, once. */
async function catchUp(directory: AgentDirectory, known: Mirrored, profiles?: ProfileCheck): Promise<Mirrored> {
  const mirrored = { ...known, agents: new Map(known.agents) }
  try {
    for await (const line of directory.log(known.place)) take(mirrored, line, profiles)
    return mirrored
  } catch (error) {
    // What is missing in a log that was read from its beginning would be missing again.
    if (known.place === '' || !isOfAnotherLog(error)) throw error
    return catchUp(directory, nothing(profiles), profiles)
  }
}

function take(mirrored: Mirrored, line: LogLine, profiles: ProfileCheck | undefined): void {
  profiles?.took(line, mirrored.agents.get(line.fid))
  if (line.kind === 'upsert') mirrored.agents.set(line.fid, profileText(line.text))
  else mirrored.agents.delete(line.fid)
  mirrored.place = line.place
}

function nothing(profiles: ProfileCheck | undefined): Mirrored {
  profiles?.begin()
  return { place: '', agents: new Map() }
}

const isOfAnotherLog = (error: unknown) => error instanceof DirectoryError && error.code === 'ERR_NOT_FOUND'

const hasPlace = (directory: AgentDirectory, place: string) =>
  directory
    .log(place)
    .next()
    .then(
      () => true,
      (error) => {
        if (!isOfAnotherLog(error)) throw error
        return false
      },
    )

/** What a new mirror starts from: the whole log, or the newest snapshot and the log after it. */
type Beginning = 'log' | 'snapshot'

/**
 * Brings a mirror's file up to date and replaces it atomically. Returns the number of its agents. `profiles` is told of
 * each line.
 */
export async function mirrorFile(
  directory: AgentDirectory,
  path: string,
  beginning: Beginning,
  profiles?: ProfileCheck,
): Promise<number> {
  return write(path, await catchUp(directory, await readMirror({ directory, path, beginning, profiles }), profiles))
}

/**
 * Brings a mirror's file up to date and keeps it so, without end. `onWritten` gets its number of agents each time; nothing
 * goes on before it is done, and what it throws ends the mirror.
 */
export async function followFile(
  directory: AgentDirectory,
  path: string,
  beginning: Beginning,
  onWritten: (agents: number) => Promise<void> | void,
  profiles?: ProfileCheck,
): Promise<never> {
  for (;;) {
    const mirrored = await catchUp(directory, await readMirror({ directory, path, beginning, profiles }), profiles)
    const save = async () => onWritten(await write(path, mirrored))
    await save()
    try {
      await keepUp(directory, mirrored, save, profiles)
    } catch (error) {
      // What is not found while the log has the place is the stream itself, and would not be the next time either.
      if (!isOfAnotherLog(error) || (await hasPlace(directory, mirrored.place))) throw error
    }
  }
}

async function keepUp(
  directory: AgentDirectory,
  mirrored: Mirrored,
  save: () => Promise<void>,
  profiles: ProfileCheck | undefined,
): Promise<void> {
  const lines = directory.follow(mirrored.place)
  let gathered: Promise<undefined> | undefined
  for (let next = lines.next(); ; ) {
    const line = await (gathered ? Promise.race([next, gathered]) : next)
    if (line === undefined) {
      await save()
      gathered = undefined
    } else if (line.done) return
    else {
      take(mirrored, line.value, profiles)
      gathered ??= new Promise((resolve) => setTimeout(resolve, gatherMs, undefined))
      next = lines.next()
    }
  }
}

async function write(path: string, mirrored: Mirrored): Promise<number> {
  await writeMirrorFile(path, mirrored)
  return mirrored.agents.size
}

/** A mirror made from the newest snapshot. */
async function snapshotOf(directory: AgentDirectory, profiles: ProfileCheck | undefined): Promise<Mirrored> {
  const { place, lines } = await directory.snapshot()
  const mirrored = { ...nothing(profiles), place }
  for await (const line of lines) take(mirrored, { ...line, place }, profiles)
  return mirrored
}

async function readMirror({
  directory,
  path,
  beginning,
  profiles,
}: {
  readonly directory: AgentDirectory
  readonly path: string
  readonly beginning: Beginning
  readonly profiles: ProfileCheck | undefined
}): Promise<Mirrored> {
  const known = await readMirrorFile(path)
  if (known) return known
  return beginning === 'snapshot' ? snapshotOf(directory, profiles) : nothing(profiles)
}
