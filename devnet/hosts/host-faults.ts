import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Answer, type Fault, send } from '../hub/faults.ts'

/** Faults of an agent's host, besides those of any server. */
export type HostFault =
  | Fault
  /** The body drips, a byte now and then, without an end. */
  | { readonly kind: 'drip' }
  /** A compressed body that was not asked for: a few kilobytes that inflate to 50 MB. */
  | { readonly kind: 'bomb' }
  /** Each redirect leads to the next. */
  | { readonly kind: 'redirect-loop' }
  /** The connection ends before the answer begins. */
  | { readonly kind: 'cut' }

const dripMs = 200
const bombBytes = 50 * 1024 * 1024
/** Made once, during other work: whoever asks may share this process and have other answers to wait for. */
let bomb: Promise<Buffer> | undefined

/** Answers with this fault; `answer` is the right answer. */
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
      bomb ??= promisify(gzip)(Buffer.alloc(bombBytes, ' '))
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(await bomb)
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
