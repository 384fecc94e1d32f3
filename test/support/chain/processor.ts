import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ChainName } from '../../../config/chains.ts'
import { createPool } from '../../../db/pool.ts'
import { type ChainState, readChainState } from '../../../db/queries/chain/chain-state.ts'
import { connectTimeoutMs } from '../database.ts'
import { startMain } from '../mains.ts'
import { testTimeoutMs } from '../until.ts'

export interface ProcessorOptions {
  readonly chain: ChainName
  readonly databaseUrl: string
  /** Content of CHAINS_FILE. */
  readonly chainSettings: object
  /** Further variables. */
  readonly env?: Record<string, string>
}

/** A real processor in a process of its own. */
export interface TestProcessor {
  readonly pid: number
  /** Resolves once the rows of all blocks up to this one are committed; throws when the process ends before. */
  untilIndexed(block: number, deadlineMs?: number): Promise<ChainState>
  /** Resolves once the process has printed a match; throws when it ends before. */
  untilOutput(pattern: RegExp, deadlineMs?: number): Promise<void>
  /** Resolves with the exit code, or with the signal that ended it. */
  untilExit(deadlineMs?: number): Promise<number | NodeJS.Signals>
  /** Everything it has printed. */
  output(): string
  /** Sends a signal; resolves once the process is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Sends SIGTERM, kills the process when it does not end, and removes its files. */
  stop(): Promise<void>
}

const stopDeadlineMs = 60_000
const pollMs = 50

/** Runs `processors/main.ts <chain>` against a migrated database. Its metrics port is a free one. */
export async function spawnProcessor(options: ProcessorOptions): Promise<TestProcessor> {
  const { chain, databaseUrl, chainSettings, env = {} } = options
  const folder = await mkdtemp(join(tmpdir(), 'processor-test-'))
  const chainsFile = join(folder, 'chains.json')
  await writeFile(chainsFile, JSON.stringify(chainSettings))
  const child = startMain('processors/main.ts', [chain], {
    env: { DATABASE_URL: databaseUrl, CHAINS_FILE: chainsFile, METRICS_PORT: '0', ...env },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const pool = createPool({ databaseUrl, name: 'processor test', max: 1, connectTimeoutMs })
  const waitFor = async <T>(what: string, deadlineMs: number, look: () => Promise<T | undefined>): Promise<T> => {
    for (const deadline = Date.now() + deadlineMs; Date.now() < deadline; await delay(pollMs)) {
      const ended = hasEnded(child)
      const found = await look()
      if (found !== undefined) return found
      if (ended) throw new Error(`the processor ended (${endOf(child)}) before ${what}:\n${output}`)
    }
    throw new Error(`${what} did not happen within ${deadlineMs} ms:\n${output}`)
  }
  const untilExit = async (deadlineMs = testTimeoutMs) => {
    if (!hasEnded(child)) {
      const late = new AbortController()
      const timeout = delay(deadlineMs, true, { signal: late.signal }).catch(() => false)
      const isLate = await Promise.race([new Promise((resolve) => child.once('close', () => resolve(false))), timeout])
      late.abort()
      if (isLate) throw new Error(`the processor did not end within ${deadlineMs} ms:\n${output}`)
    }
    return endOf(child)
  }
  const kill = async (signal: NodeJS.Signals = 'SIGKILL') => {
    child.kill(signal)
    await untilExit()
  }
  return {
    pid: child.pid as number,
    untilIndexed: (block, deadlineMs = testTimeoutMs) =>
      waitFor(`block ${block} was indexed`, deadlineMs, async () => {
        const state = await readChainState(pool, chain)
        return state && state.indexedBlock >= block ? state : undefined
      }),
    untilOutput: (pattern, deadlineMs = testTimeoutMs) =>
      waitFor(`it printed ${pattern}`, deadlineMs, async () => (pattern.test(output) ? true : undefined)).then(
        () => {},
      ),
    untilExit,
    output: () => output,
    kill,
    async stop() {
      child.kill('SIGTERM')
      await untilExit(stopDeadlineMs).catch(() => kill('SIGKILL'))
      await pool.end()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function endOf(child: ChildProcess): number | NodeJS.Signals {
  return child.exitCode ?? (child.signalCode as NodeJS.Signals)
}
