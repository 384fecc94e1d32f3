import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SourceFailure } from '../../hosts/retries.ts'
import type { Job, Report } from './job.ts'

/** A process that loads one shard. */
export interface Worker {
  /** Sends the process its job; resolves when all of it is committed, rejects with the reason when it gives up. */
  run(job: Job, report: (report: Report) => void): Promise<void>
  /** Kills the process at once; rows that are not committed are lost. */
  kill(): void
}

/** Starts the process; it takes a moment to load, and can do so before there is work. */
export function startWorker(): Worker {
  const entry = fileURLToPath(new URL(`./worker/main${extname(import.meta.url)}`, import.meta.url))
  const child = fork(entry, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const gone = once(child, 'exit').catch(() => {})
  return {
    run: (job, report) => runJob(child, gone, job, report),
    kill: () => void child.kill('SIGKILL'),
  }
}

async function runJob(child: ChildProcess, gone: Promise<unknown>, job: Job, report: (report: Report) => void) {
  let outcome: Extract<Report, { kind: 'failed' | 'done' }> | undefined
  child.on('message', (message: Report) => {
    if (message.kind === 'failed' || message.kind === 'done') outcome = message
    else report(message)
  })
  child.send(job)
  await gone
  if (outcome?.kind === 'done') return
  const reason = outcome?.text ?? `its process ended (${child.signalCode ?? child.exitCode})`
  const problem = `blocks from ${job.firstBlock} on: ${reason}`
  throw outcome?.isPassing ? new SourceFailure(problem) : new Error(problem)
}
