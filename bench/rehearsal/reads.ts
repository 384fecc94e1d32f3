import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Answered, Reading } from './asks.ts'

const entry = fileURLToPath(new URL('../reader/main.ts', import.meta.url))

/** Reads every route in turn until `stop`, which resolves with latencies and failures. Resolves once it has begun. */
export async function readMeanwhile(task: Reading): Promise<{ stop(): Promise<Answered[]> }> {
  const reader = startReader(task)
  await reader.begun
  return {
    stop() {
      reader.child.send('stop')
      return reader.answered
    },
  }
}

/** Requests every route `rounds` times, one request after the other. */
export function readOnce(task: Omit<Reading, 'readers' | 'pauseMs'>): Promise<Answered[]> {
  return startReader({ ...task, readers: 1, pauseMs: 0 }).answered
}

function startReader(task: Reading) {
  const child = fork(entry, [JSON.stringify(task)], { serialization: 'advanced' })
  const ended = once(child, 'exit').then(([code]): never => {
    throw new Error(`the reader ended with ${code}`)
  })
  const begun = Promise.race([once(child, 'message'), ended])
  const answered = begun
    .then(() => Promise.race([once(child, 'message'), ended]))
    .then(([seen]) => {
      child.disconnect()
      return seen as Answered[]
    })
  answered.catch(() => {}) // stop() throws the error
  return { child, begun, answered }
}
