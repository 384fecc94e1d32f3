import { extname } from 'node:path'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { DayTask, WrittenDay } from './day-writer.ts'
import type { Pace } from './pace.ts'
import type { SnapshotTask, WrittenSnapshots } from './snapshots.ts'

/** Writes files, several days at once. */
export interface Writers {
  /** Days that may be written at once. */
  readonly atOnce: number
  writeDay(task: DayTask, pace: Pace): Promise<WrittenDay>
  /** To be called only while no day is being written. */
  writeSnapshots(task: SnapshotTask, pace: Pace, tell: (line: string) => void): Promise<WrittenSnapshots>
  close(): Promise<void>
}

type Order =
  | { readonly kind: 'day'; readonly task: DayTask }
  | { readonly kind: 'snapshots'; readonly task: SnapshotTask }

/**
 * Message to the thread. It reports through `port`, and after each `wrote` waits there for a reply before it goes on.
 */
export type ThreadOrder = Order & { readonly port: MessagePort }

/** Report of the thread about an order. */
export type ThreadReport =
  | { readonly kind: 'wrote'; readonly rows: number }
  | { readonly kind: 'told'; readonly line: string }
  | { readonly kind: 'done'; readonly result: WrittenDay | WrittenSnapshots }
  | { readonly kind: 'failed'; readonly text: string }

/**
 * Days written at once: while one waits for the database or the disk, the other is encoded, which keeps a core busy.
 */
export const daysAtOnce = 2
/** Heap limits of the thread, so that it collects garbage early. The buffers of row groups are outside the heap. */
const resourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 96 }

/** Starts a thread that writes files over its own connections, so that no row passes through the calling thread. */
export function startThread(databaseUrl: string): Writers {
  let thread = start(databaseUrl)
  return {
    atOnce: daysAtOnce,
    writeDay: (task, pace) => run<WrittenDay>(thread, { kind: 'day', task }, { pace }),
    async writeSnapshots(task, pace, tell) {
      await thread.terminate() // frees the buffers of days
      thread = start(databaseUrl)
      return run<WrittenSnapshots>(thread, { kind: 'snapshots', task }, { pace, tell })
    },
    async close() {
      await thread.terminate()
    },
  }
}

function start(databaseUrl: string): Worker {
  const entry = new URL(`./thread/main${extname(import.meta.url)}`, import.meta.url)
  return new Worker(entry, { workerData: databaseUrl, resourceLimits })
}

function run<T extends WrittenDay | WrittenSnapshots>(
  thread: Worker,
  order: Order,
  { pace, tell = () => {} }: { readonly pace: Pace; readonly tell?: (line: string) => void },
): Promise<T> {
  const { port1: own, port2: port } = new MessageChannel()
  return new Promise<T>((resolve, reject) => {
    const end = () => {
      thread.off('error', fail).off('exit', leave)
      own.close()
    }
    const fail = (error: Error) => {
      end()
      reject(error)
    }
    const leave = () => fail(new Error('the thread that writes files ended'))
    own.on('message', (report: ThreadReport) => {
      if (report.kind === 'wrote') pace(report.rows).then(() => own.postMessage('go on'), fail)
      else if (report.kind === 'told') tell(report.line)
      else if (report.kind === 'failed') fail(new Error(report.text))
      else {
        end()
        resolve(report.result as T)
      }
    })
    thread.on('error', fail).on('exit', leave)
    thread.postMessage({ ...order, port } satisfies ThreadOrder, [port])
  })
}
