import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../ops/ports.ts'
import { endLeftovers, ProcessFile } from '../../stack/processes.ts'
import { createStack, type Stack, type Task } from '../../stack/supervisor.ts'
import { planTasks } from '../../stack/tasks.ts'
import { baseUrl, siteUrl } from '../../test/support/api/claims.ts'
import { nowhere } from '../../test/support/enrichment-process.ts'
import { until } from '../../test/support/until.ts'
import { measure, type Run } from '../measured-run.ts'
import { notePeak } from './memory.ts'
import { headChains } from './shape.ts'
import { say } from './show.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Processes that are kept running. */
export interface Running {
  /** Process ids, by name. */
  readonly pids: ReadonlyMap<string, number>
  /** Path of a process's log file. */
  logOf(name: string): string
  /** Sends a signal to the process of a name; throws when it does not run. */
  signal(name: string, signal: NodeJS.Signals): void
  stop(): Promise<void>
}

/** Groups of processes, each with a file of its pids, so that leftovers of a killed rehearsal are found. */
const groups = ['jobs', 'api', 'oracle'] as const
type Group = (typeof groups)[number]
const noteOf = (folder: string, group: Group) => join(folder, `${group}-processes.json`)

/** Ends what a killed rehearsal left running. */
export async function endProcesses(folder: string): Promise<void> {
  for (const group of groups) await endLeftovers(noteOf(folder, group))
}

/** URLs that processes are given. */
interface Sources {
  readonly databaseUrl: string
  readonly chainsFile: string
  readonly hubUrl: string
}

/** Starts the processors of all chains and the enrichment job. */
export async function runJobs(folder: string, sources: Sources): Promise<Running> {
  const { processors, enrichment } = await plan(sources, {})
  return run(folder, 'jobs', [processors, enrichment])
}

/** Starts processors alone. */
export async function runProcessors(folder: string, sources: Sources): Promise<Running> {
  const { processors } = await plan(sources, {})
  return run(folder, 'oracle', [processors])
}

/** Starts the API, and waits until it answers. */
export async function runApi(folder: string, sources: Sources): Promise<Running & { readonly url: string }> {
  const port = String(await freePort())
  const plenty = { LIMIT_PER_MINUTE: '1000000', LIMIT_PER_DAY: '100000000' }
  const { api } = await plan(sources, { PORT: port, ...plenty })
  const running = run(folder, 'api', [api])
  const url = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('the API answers', answers)
  return { ...running, url }
}

function plan({ databaseUrl, chainsFile, hubUrl }: Sources, more: NodeJS.ProcessEnv) {
  const { PATH, HOME } = process.env
  return planTasks(headChains, {
    PATH,
    HOME,
    DATABASE_URL: databaseUrl,
    CHAINS_FILE: chainsFile,
    HUB_URL: hubUrl,
    HUB_POLL_SECONDS: '0.5',
    BASE_URL: baseUrl,
    SITE_URL: siteUrl,
    TRUST_PROXY_HOPS: '1',
    ...nowhere,
    ...more,
  })
}

function run(folder: string, group: Group, tasks: readonly (readonly Task[])[]): Running {
  const pids = new Map<string, number>()
  const processes = new (class extends ProcessFile {
    override add(name: string, pid: number) {
      pids.set(name, pid)
      super.add(name, pid)
    }
  })(noteOf(folder, group))
  const logFolder = join(folder, `${group}-logs`)
  const stack: Stack = createStack({ logFolder, processes, say: (line) => say(`  ${line}`) })
  for (const one of tasks) stack.start(one.map(onAnyPort))
  return {
    pids,
    logOf: (name) => join(logFolder, `${name}.log`),
    signal(name, signal) {
      const pid = pids.get(name)
      if (pid === undefined) throw new Error(`${name} was never started`)
      process.kill(pid, signal)
    },
    stop: () => stack.stop(),
  }
}

/** Other installations of this machine may have the usual ports of metrics. */
const onAnyPort = ({ env, ...task }: Task): Task => ({
  ...task,
  env: { ...env, METRICS_PORT: env.METRICS_PORT && '0' },
})

/** Node arguments with this process's loader, resolved so that they work in any folder. */
const loader = process.execArgv.map((argument) => (argument === 'tsx' ? import.meta.resolve(argument) : argument))

/** Runs one of the project's commands to its end, with the loader that this process has. */
export async function command(
  entry: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  surroundings: { cwd?: string; heard?: (text: string) => void } = {},
): Promise<Run> {
  const ran = await measure(process.execPath, [...loader, join(root, entry), ...args], env, surroundings)
  notePeak(entry.replace('/main.ts', ''), ran.peakBytes)
  return ran
}

export async function writeChainsFile(path: string, rows: object): Promise<string> {
  await writeFile(path, JSON.stringify(rows))
  return path
}
