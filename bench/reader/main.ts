import { setTimeout as delay } from 'node:timers/promises'
import { type Answered, asksOf, type Reading } from '../rehearsal/asks.ts'

// Reads an API in a process of its own, so that no other work adds to the latencies: node bench/reader/main.ts <JSON of
// a Reading>. Reports that it has begun, reads until it is told to stop or for the given rounds, sends the results, and
// ends with the process that started it.

/** Timeout of an answer, in milliseconds; after it the request counts as a failure. */
const answerMs = 60_000

const task: Reading = JSON.parse(process.argv[2] ?? '')
const asks = asksOf(task)
const answered = asks.map(({ route }): Answered => ({ route, milliseconds: [], failures: [] }))
let isOver = false
let next = 0
process.on('disconnect', () => process.exit(0))
process.once('message', () => {
  isOver = true
})

async function readOn(): Promise<void> {
  const last = task.rounds ? task.rounds * asks.length : Number.POSITIVE_INFINITY
  for (let n = next++; !isOver && n < last; n = next++) {
    await ask(n)
    await delay(task.pauseMs)
  }
}

async function ask(n: number): Promise<void> {
  const at = n % asks.length
  const one = answered[at] as Answered
  const path = asks[at]?.path(Math.floor(n / asks.length)) ?? ''
  const began = performance.now()
  try {
    const answer = await fetch(task.url + path, { signal: AbortSignal.timeout(answerMs) })
    const body = await answer.text()
    one.milliseconds.push(performance.now() - began)
    if (answer.status >= 500) one.failures.push(`${path}: ${answer.status} ${body.slice(0, 200)}`)
  } catch (error) {
    one.failures.push(`${path}: no answer, ${error}`)
  }
}

process.send?.('begun')
await Promise.all(Array.from({ length: task.readers }, readOn))
process.send?.(answered)
