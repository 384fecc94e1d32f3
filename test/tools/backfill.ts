import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Ended, runMain } from './command.ts'

export interface BackfillOptions {
  readonly databaseUrl: string
  /** Content of CHAINS_FILE. */
  readonly chainSettings: object
  readonly args: readonly string[]
}

/** Runs the backfill command to its end. */
export async function runBackfill({ databaseUrl, chainSettings, args }: BackfillOptions): Promise<Ended> {
  const folder = await mkdtemp(join(tmpdir(), 'backfill-test-'))
  const chainsFile = join(folder, 'chains.json')
  await writeFile(chainsFile, JSON.stringify(chainSettings))
  try {
    const env = { DATABASE_URL: databaseUrl, CHAINS_FILE: chainsFile }
    return await runMain('processors/backfill/main.ts', [...args], { env })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
