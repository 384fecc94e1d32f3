import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Ended, endOf, startMain } from '../mains.ts'
import { testTimeoutMs } from '../until.ts'

export interface BackfillOptions {
  readonly databaseUrl: string
  /** Content of CHAINS_FILE. */
  readonly chainSettings: object
  readonly args: readonly string[]
  /** Further variables. */
  readonly env?: Record<string, string>
}

interface TestBackfill {
  readonly child: ChildProcess
  /** Resolves when the process has ended, with or without success. */
  readonly ended: Promise<Ended>
}

/** Starts the backfill command. */
export async function startBackfill({
  databaseUrl,
  chainSettings,
  args,
  env = {},
}: BackfillOptions): Promise<TestBackfill> {
  const folder = await mkdtemp(join(tmpdir(), 'backfill-test-'))
  const chainsFile = join(folder, 'chains.json')
  await writeFile(chainsFile, JSON.stringify(chainSettings))
  const child = startMain('processors/backfill/main.ts', args, {
    env: { DATABASE_URL: databaseUrl, CHAINS_FILE: chainsFile, ...env },
    timeoutMs: testTimeoutMs,
  })
  const ended = endOf(child).finally(() => rm(folder, { recursive: true, force: true }))
  return { child, ended }
}

/** Runs the backfill command to its end. */
export async function runBackfill(options: BackfillOptions): Promise<Ended> {
  return (await startBackfill(options)).ended
}
