import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** A way to misbehave. */
export type Fault =
  /** 429; `retryAfter` is seconds or an HTTP date, left out when absent. */
  | { readonly kind: 'rate-limited'; readonly retryAfter?: number | string }
  /** Any status with a short text body. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: number | string }
  /** The right answer, delayed. */
  | { readonly kind: 'slow'; readonly delayMs: number }
  /** Half of the right answer, then the connection breaks. */
  | { readonly kind: 'truncated' }
  /** Half of the right answer, sent as if it were whole. */
  | { readonly kind: 'half-json' }
  /** 200 and JSON of another shape. */
  | { readonly kind: 'wrong-schema' }
  /** 200 and a web page. */
  | { readonly kind: 'html' }
  /** 200 and a body larger than `bytes`, in pieces. */
  | { readonly kind: 'huge'; readonly bytes: number }
  /** No answer at all. */
  | { readonly kind: 'hang' }

interface FaultScope {
  /** How many requests are hit; Infinity: until `clear`. Default 1. */
  readonly times?: number
  /** Only requests whose path and query contain this text. Default: all. */
  readonly path?: string
}

interface Planned<F> {
  readonly fault: F
  readonly path: string
  left: number
}

export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** Faults planned for a server. The oldest one that fits a request is used. */
export class Faults<F = Fault> {
  private planned: Planned<F>[] = []
  /** Requests that were answered with a fault. */
  hits = 0

  add(fault: F, { times = 1, path = '' }: FaultScope = {}) {
    this.planned.push({ fault, path, left: times })
  }

  clear() {
    this.planned = []
  }

  list(): readonly { fault: F; path: string; left: number }[] {
    return this.planned
  }

  /** The fault for this request, counted as used once; undefined: none. */
  take(url: string): F | undefined {
    const found = this.planned.find(({ path }) => url.includes(path))
    if (!found) return undefined
    this.hits++
    if (--found.left <= 0) this.planned = this.planned.filter((planned) => planned !== found)
    return found.fault
  }
}

/** Sends an answer as JSON, or in the way of a fault when there is one. */
export async function send(response: ServerResponse, answer: Answer, fault?: Fault): Promise<void> {
  const text = JSON.stringify(answer.body)
  const json = (status: number, body: string) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  switch (fault?.kind) {
    case undefined:
      json(answer.status, text)
      return
    case 'rate-limited':
    case 'status': {
      const status = fault.kind === 'status' ? fault.status : 429
      const headers = fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) }
      response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(`status ${status}\n`)
      return
    }
    case 'slow':
      await delay(fault.delayMs, undefined, { ref: false })
      json(answer.status, text)
      return
    case 'truncated':
      response.writeHead(answer.status, {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(text)),
      })
      response.write(text.slice(0, Math.ceil(text.length / 2)), () => response.destroy())
      return
    case 'half-json':
      json(answer.status, text.slice(0, Math.ceil(text.length / 2)))
      return
    case 'wrong-schema':
      json(200, JSON.stringify({ messages: 'none', fids: {}, events: null, users: 7, data: [] }))
      return
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Welcome</title><p>Hello.</p>')
      return
    case 'huge':
      await sendHuge(response, fault.bytes)
      return
    case 'hang':
      return
  }
}

async function sendHuge(response: ServerResponse, bytes: number) {
  response.writeHead(200, { 'content-type': 'application/json' })
  const piece = Buffer.alloc(64 * 1024, ' ')
  for (let sent = 0; sent <= bytes && !response.destroyed; sent += piece.length) {
    if (!response.write(piece)) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          response.off('drain', wake).off('close', wake)
          resolve()
        }
        response.on('drain', wake).on('close', wake)
      })
    }
  }
  response.end('{}')
}
