import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Ended } from '../command.ts'
import { root } from '../source-files.ts'

export interface BackfillOptions {
  readonly databaseUrl: string
  /** Content of CHAINS_FILE. */
  readonly chainSettings: object
  readonly args: readonly string[]
  /** Further variables. */
  readonly env?: Record<string, string>
}

export interface TestBackfill {
  readonly child: ChildProcess
  /** Resolves when the process has ended, however that was. */
  readonly ended: Promise<Ended>
}

/** A command that takes longer is killed, and its code is null. */
const timeoutMs = 60_000

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
  const entry = join(root, 'processors/backfill/main.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', entry, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl, CHAINS_FILE: chainsFile, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
  const ended = Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]).then(
    async ([[code], stdout, stderr]) => {
      await rm(folder, { recursive: true, force: true })
      return { code, stdout, stderr }
    },
  )
  return { child, ended }
}

/** Runs the backfill command to its end. */
export async function runBackfill(options: BackfillOptions): Promise<Ended> {
  return (await startBackfill(options)).ended
}
