import { once } from 'node:events'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { createPool } from '../../../db/pool.ts'
import { describeError } from '../../../ops/cli.ts'
import { writeDay } from '../day-writer.ts'
import { daysAtOnce, type ThreadOrder, type ThreadReport } from '../writers.ts'

/** Worker thread of an export: writes the files that the main thread orders, several at once, and ends with it. */

const parent = parentPort as MessagePort
const pool = createPool({ databaseUrl: workerData, name: 'export', max: daysAtOnce, statementTimeoutMs: 0 })

parent.on('message', (order: ThreadOrder) => {
  const { kind, port } = order
  const say = (report: ThreadReport) => port.postMessage(report)
  const pace = async (rows: number) => {
    say({ kind: 'wrote', rows })
    await once(port, 'message')
  }
  const follow = async () => {
    if (kind === 'day') return writeDay(pool, order.task, pace)
    const { writeSnapshots } = await import('../snapshots.ts') // imported late: days need no code that proves claims
    return writeSnapshots(pool, order.task, pace, (line) => say({ kind: 'told', line }))
  }
  follow().then(
    (result) => say({ kind: 'done', result }),
    (error: Error) => {
      const of = kind === 'day' ? `${order.task.partition}: ` : ''
      say({ kind: 'failed', text: of + describeError(error) })
    },
  )
})
