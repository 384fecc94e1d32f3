import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const memoryPollMs = 50

export interface Run {
  readonly seconds: number
  /** Peak resident memory of all its processes together. */
  readonly peakBytes: number
  /** Peak resident memory of its largest process alone: without npm and its launcher, which a container has not. */
  readonly largestBytes: number
}

interface Surroundings {
  /** Working folder. Default: the project's. */
  readonly cwd?: string
  /** Called with the program's output as it comes. */
  readonly heard?: (text: string) => void
}

/** Runs a program to its end; throws with what it printed when it fails. */
export async function measure(
  program: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  { cwd = root, heard }: Surroundings = {},
): Promise<Run> {
  const { PATH, HOME } = process.env
  const began = performance.now()
  const child = spawn(program, args, { cwd, env: { PATH, HOME, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const end = () => child.kill() // no one waits for the program any more
  process.once('exit', end)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      heard?.(text)
    })
  }
  let peakBytes = 0
  let largestBytes = 0
  const timer = setInterval(async () => {
    const sizes = await residentBytes(child)
    peakBytes = Math.max(
      peakBytes,
      sizes.reduce((sum, bytes) => sum + bytes, 0),
    )
    largestBytes = Math.max(largestBytes, ...sizes)
  }, memoryPollMs)
  const [code] = await once(child, 'close')
  clearInterval(timer)
  process.off('exit', end)
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output}`)
  return { seconds: (performance.now() - began) / 1000, peakBytes, largestBytes }
}

/** Resident memory in bytes of a process and of each of its descendants. */
async function residentBytes({ pid }: ChildProcess): Promise<number[]> {
  const entries = await Promise.all((await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(readProcess))
  const family = new Set([pid])
  // Parents usually have lower ids than their children, but ids wrap around: further passes find what was missed.
  for (let look = 0; look < 4; look++) for (const one of entries) if (one && family.has(one.parent)) family.add(one.pid)
  return entries.flatMap((one) => (one && family.has(one.pid) ? [one.bytes] : []))
}

const pageBytes = 4096

async function readProcess(name: string) {
  try {
    const stat = await readFile(`/proc/${name}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { pid: Number(name), parent: Number(fields[1]), bytes: Number(fields[21]) * pageBytes }
  } catch {
    return undefined // gone while we looked
  }
}
