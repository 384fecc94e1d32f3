import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { Cache } from '../../http/cache.ts'
import { Content } from '../../http/content.ts'

/** Renders SVG as PNG and caches the result by the hash of the SVG. The queue has no bound: callers set one. */
export interface Painter {
  paint(svg: string): Promise<Content>
  /** Rejects all waiting pictures, ends the thread and refuses further ones. */
  close(): Promise<void>
}

const keptBytes = 16 * 1024 * 1024
const keptMs = 86_400_000
/** Timeout of one picture, after which the thread is ended; a picture takes some 10 ms, the first also a start. */
const paintMs = 30_000

interface Waiting {
  readonly done: (png: Uint8Array) => void
  readonly failed: (error: Error) => void
}

type Told = { readonly id: number } & ({ readonly png: Uint8Array } | { readonly error: string })

/** A painter in a thread of its own, started by the first picture, so that rendering blocks no other request. */
export function createPainter(now: () => number): Painter {
  const kept = new Cache<Content>({ maxBytes: keptBytes, now })
  const waiting = new Map<number, Waiting>()
  let worker: Worker | undefined
  let timer: NodeJS.Timeout | undefined
  let lastId = 0
  let isClosed = false

  function start(): Worker {
    // Empty execArgv: the thread needs none of this process's loaders.
    const started = new Worker(new URL('worker.mjs', import.meta.url), { execArgv: [], stdin: false })
    started.on('message', settle)
    // A thread that has ended answers no more: reject what waits; the next picture starts another thread.
    started.once('error', (error) => giveUp(started, error))
    started.once('exit', (code) => giveUp(started, new Error(`the painting thread ended with ${code}`)))
    return started
  }

  function settle(told: Told): void {
    const one = waiting.get(told.id)
    waiting.delete(told.id)
    watch()
    if ('png' in told) one?.done(told.png)
    else one?.failed(new Error(told.error))
  }

  /** Restarts the timeout for the next picture in the queue; an idle thread does not keep the process alive. */
  function watch(): void {
    clearTimeout(timer)
    const watched = worker
    if (!watched) return
    if (waiting.size === 0) {
      watched.unref()
      return
    }
    watched.ref()
    timer = setTimeout(() => giveUp(watched, new Error(`no picture within ${paintMs} ms`)), paintMs)
    timer.unref()
  }

  function giveUp(given: Worker, error: Error): void {
    if (given !== worker) return
    worker = undefined
    clearTimeout(timer)
    for (const { failed } of waiting.values()) failed(error)
    waiting.clear()
    void given.terminate()
  }

  function paint(svg: string): Promise<Content> {
    if (isClosed) throw new Error('the painter is closed')
    worker ??= start()
    const id = ++lastId
    const painted = new Promise<Uint8Array>((done, failed) => waiting.set(id, { done, failed }))
    worker.postMessage({ id, svg })
    if (waiting.size === 1) watch()
    return painted.then((png) => new Content('image/png', Buffer.from(png.buffer)))
  }

  return {
    async paint(svg) {
      const key = createHash('sha256').update(svg).digest('base64url')
      return (await kept.get(key, keptMs, async () => paint(svg))).value as Content
    },
    async close() {
      isClosed = true
      const ending = worker
      if (!ending) return
      giveUp(ending, new Error('the painter is closed'))
      await ending.terminate()
    },
  }
}
