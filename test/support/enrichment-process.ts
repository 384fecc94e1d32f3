import type { ChildProcess } from 'node:child_process'
import { startMain } from './mains.ts'
import { until } from './until.ts'

/** The real job in a process of its own. */
export interface EnrichmentProcess {
  /** Resolves once it has printed a match; throws when it ends before. */
  untilOutput(pattern: RegExp): Promise<void>
  /** Resolves with the exit code, or with the signal that ended it. */
  untilExit(): Promise<number | NodeJS.Signals>
  output(): string
  signal(signal: NodeJS.Signals): void
  /** Sends a signal and waits for the end. */
  kill(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>
}

/** Settings that point the public services to a port where nothing listens. */
export const nowhere = { WEB3BIO_URL: 'http://127.0.0.1:9', GITHUB_URL: 'http://127.0.0.1:9', FACILITATOR_HOSTS: 'off' }

/** Runs `enrichment/main.ts` with these variables alone; its metrics port is a free one. */
export function spawnEnrichment(env: Record<string, string>, args: readonly string[] = []): EnrichmentProcess {
  const child = startMain('enrichment/main.ts', args, { env: { METRICS_PORT: '0', ...nowhere, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const untilExit = async () => {
    await until('the job ended', () => endOf(child) !== undefined)
    return endOf(child)!
  }
  return {
    untilOutput: (pattern) =>
      until(`the job printed ${pattern}`, () => {
        if (!pattern.test(output) && endOf(child) !== undefined) throw new Error(`the job ended:\n${output}`)
        return pattern.test(output)
      }),
    untilExit,
    output: () => output,
    signal: (signal) => void child.kill(signal),
    kill: (signal) => {
      child.kill(signal)
      return untilExit()
    },
  }
}

function endOf(child: ChildProcess): number | NodeJS.Signals | undefined {
  return child.exitCode ?? child.signalCode ?? undefined
}
