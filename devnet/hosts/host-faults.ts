import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { type Answer, type Fault, send } from '../hub/faults.ts'

/** What strangers' hosts do to whoever asks them, beside what any server does. */
export type HostFault =
  | Fault
  /** A byte now and then, for ever. */
  | { readonly kind: 'drip' }
  /** Compressed although nobody asked for it: a few kilobytes that would become 50 MB. */
  | { readonly kind: 'bomb' }
  /** Each redirect leads to the next. */
  | { readonly kind: 'redirect-loop' }
  /** The connection ends before the answer begins. */
  | { readonly kind: 'cut' }

const dripMs = 200
const bombBytes = 50 * 1024 * 1024

/** Answers as a host would that has this fault; `answer` is what it should have said. */
export async function sendFaulty(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  fault: HostFault,
): Promise<void> {
  switch (fault.kind) {
    case 'drip': {
      response.writeHead(200, { 'content-type': 'application/json' })
      const timer = setInterval(() => response.write(' '), dripMs)
      response.once('close', () => clearInterval(timer))
      return
    }
    case 'bomb': {
      const body = gzipSync(Buffer.alloc(bombBytes, ' '))
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(body)
      return
    }
    case 'redirect-loop': {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://host')
      response.writeHead(302, { location: `${pathname}?n=${Number(searchParams.get('n')) + 1}` }).end()
      return
    }
    case 'cut':
      response.destroy()
      return
    default:
      await send(response, answer, fault)
  }
}
