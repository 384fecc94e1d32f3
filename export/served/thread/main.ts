import { once } from 'node:events'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { createPool } from '../../../db/pool.ts'
import { describeError } from '../../../ops/cli.ts'
import { writeDay } from '../day.ts'
import type { ThreadOrder, ThreadReport } from '../threads.ts'

/** A thread of an export: told by it which days to write, one after the other, and ended with it. */

const parent = parentPort as MessagePort
const tell = (report: ThreadReport) => parent.postMessage(report)
const pool = createPool({ databaseUrl: workerData, name: 'export', max: 1, statementTimeoutMs: 0 })

parent.on('message', (order: ThreadOrder) => {
  if (order.kind !== 'write') return
  writeDay(pool, order.task, async (rows) => {
    tell({ kind: 'wrote', rows })
    await once(parent, 'message')
  }).then(
    (day) => tell({ kind: 'done', day }),
    (error: Error) => tell({ kind: 'failed', text: describeError(error) }),
  )
})
