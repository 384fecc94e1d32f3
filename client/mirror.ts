import { readFile, rename, writeFile } from 'node:fs/promises'
import { type AgentDirectory, type AgentProfile, DirectoryError } from './client.ts'

/** What a mirror keeps between its runs. */
interface Mirrored {
  /** Where to go on; empty: from the beginning. */
  readonly place: string
  /** By FID, as text. */
  readonly agents: Record<string, AgentProfile>
}

/** Brings a mirror up to date. A log that begins anew, as of a rebuilt database, is read from its beginning. */
async function catchUp(directory: AgentDirectory, { place: since, agents: known }: Mirrored): Promise<Mirrored> {
  try {
    const agents = { ...known }
    let place = since
    for await (const line of directory.log(since)) {
      if (line.kind === 'upsert') agents[line.fid] = line.profile as AgentProfile
      else delete agents[line.fid]
      place = line.place
    }
    return { place, agents }
  } catch (error) {
    if (since === '' || !(error instanceof DirectoryError) || error.code !== 'ERR_NOT_FOUND') throw error
    return catchUp(directory, { place: '', agents: {} })
  }
}

/** Brings a file up to date, whole or not at all. Returns the number of its agents. */
export async function mirrorFile(directory: AgentDirectory, path: string): Promise<number> {
  const mirrored = await catchUp(directory, await readMirror(path))
  await writeFile(`${path}.new`, `${JSON.stringify(mirrored)}\n`)
  await rename(`${path}.new`, path)
  return Object.keys(mirrored.agents).length
}

async function readMirror(path: string): Promise<Mirrored> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { place: '', agents: {} }
    throw error
  }
}
