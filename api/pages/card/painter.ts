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
  const thread = new PaintingThread()
  return {
    async paint(svg) {
      const key = createHash('sha256').update(svg).digest('base64url')
      const paint = async () => new Content('image/png', Buffer.from((await thread.paint(svg)).buffer))
      return (await kept.get(key, keptMs, paint)).value as Content
    },
    close: () => thread.close(),
  }
}

class PaintingThread {
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #timer: NodeJS.Timeout | undefined
  #lastId = 0
  #isClosed = false

  async paint(svg: string): Promise<Uint8Array> {
    if (this.#isClosed) throw new Error('the painter is closed')
    this.#worker ??= this.#start()
    const id = ++this.#lastId
    const painted = new Promise<Uint8Array>((done, failed) => this.#waiting.set(id, { done, failed }))
    this.#worker.postMessage({ id, svg })
    if (this.#waiting.size === 1) this.#watch()
    return painted
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const ending = this.#worker
    if (!ending) return
    this.#giveUp(ending, new Error('the painter is closed'))
    await ending.terminate()
  }

  #start(): Worker {
    // Empty execArgv: the thread needs none of this process's loaders.
    const started = new Worker(new URL('worker.mjs', import.meta.url), { execArgv: [], stdin: false })
    started.on('message', (told: Told) => this.#settle(told))
    // A thread that has ended answers no more: reject what waits; the next picture starts another thread.
    started.once('error', (error) => this.#giveUp(started, error))
    started.once('exit', (code) => this.#giveUp(started, new Error(`the painting thread ended with ${code}`)))
    return started
  }

  #settle(told: Told): void {
    const one = this.#waiting.get(told.id)
    this.#waiting.delete(told.id)
    this.#watch()
    if ('png' in told) one?.done(told.png)
    else one?.failed(new Error(told.error))
  }

  /** Restarts the timeout for the next picture in the queue; an idle thread does not keep the process alive. */
  #watch(): void {
    clearTimeout(this.#timer)
    const watched = this.#worker
    if (!watched) return
    if (this.#waiting.size === 0) {
      watched.unref()
      return
    }
    watched.ref()
    this.#timer = setTimeout(() => this.#giveUp(watched, new Error(`no picture within ${paintMs} ms`)), paintMs)
    this.#timer.unref()
  }

  #giveUp(given: Worker, error: Error): void {
    if (given !== this.#worker) return
    this.#worker = undefined
    clearTimeout(this.#timer)
    for (const { failed } of this.#waiting.values()) failed(error)
    this.#waiting.clear()
    void given.terminate()
  }
}
