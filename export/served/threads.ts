import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { DayTask, DayWriters, WrittenDay } from './day.ts'
import type { Pace } from './pace.ts'

/** What a thread says; after `wrote` it waits to be told to go on. */
export type ThreadReport =
  | { readonly kind: 'wrote'; readonly rows: number }
  | { readonly kind: 'done'; readonly day: WrittenDay }
  | { readonly kind: 'failed'; readonly text: string }

/** What a thread is told. */
export type ThreadOrder = { readonly kind: 'write'; readonly task: DayTask } | { readonly kind: 'go on' }

/** Encoding keeps a core busy as long as the database keeps another: two days at once use two of each. */
const threads = 2
/** What a thread holds are the bytes of a row group, which are none of these; without limits it would let garbage lie. */
const resourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 96 }

/** Threads that write days, each over a connection of its own; no row comes into this one. */
export function startThreads(databaseUrl: string): DayWriters {
  const entry = new URL(`./thread/main${extname(import.meta.url)}`, import.meta.url)
  const all: Worker[] = []
  const free: Worker[] = []
  return {
    atOnce: threads,
    async write(task, pace) {
      let thread = free.pop()
      if (!thread) {
        thread = new Worker(entry, { workerData: databaseUrl, resourceLimits })
        all.push(thread)
      }
      const day = await writeIn(thread, task, pace)
      free.push(thread)
      return day
    },
    async close() {
      await Promise.all(all.splice(0).map((thread) => thread.terminate()))
      free.length = 0
    },
  }
}

function writeIn(thread: Worker, task: DayTask, pace: Pace): Promise<WrittenDay> {
  const tell = (order: ThreadOrder) => thread.postMessage(order)
  return new Promise((resolve, reject) => {
    const end = () => void thread.off('message', hear).off('error', fail).off('exit', leave)
    const fail = (error: Error) => {
      end()
      reject(error)
    }
    const leave = () => fail(new Error(`the thread that wrote ${task.partition} ended`))
    const hear = (report: ThreadReport) => {
      if (report.kind === 'wrote') pace(report.rows).then(() => tell({ kind: 'go on' }), fail)
      else if (report.kind === 'failed') fail(new Error(`${task.partition}: ${report.text}`))
      else {
        end()
        resolve(report.day)
      }
    }
    thread.on('message', hear).on('error', fail).on('exit', leave)
    tell({ kind: 'write', task })
  })
}
