import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { freePort } from '../../ops/ports.ts'
import { type RpcAnswer, type RpcFault, RpcFaults, type RpcQuestion } from './rpc-faults.ts'

export interface RpcProxy {
  readonly url: string
  /** Every method asked for so far, refused ones included. */
  readonly asked: ReadonlySet<string>
  /** When a request came, milliseconds since 1970, in order. */
  readonly times: readonly number[]
  /** Faults planned for coming requests. */
  readonly faults: RpcFaults
  close(): Promise<void>
}

export interface RpcProxyOptions {
  /** Methods refused as public nodes do: "method not found", with status 200, alone and inside a batch. */
  readonly refuses?: (method: string) => boolean
}

/** Starts a JSON-RPC proxy to a node, or to several, of which `target` chooses one by the request. */
export async function startRpcProxy(
  target: string | ((questions: readonly RpcQuestion[]) => string),
  { refuses = () => false }: RpcProxyOptions = {},
): Promise<RpcProxy> {
  const asked = new Set<string>()
  const times: number[] = []
  const faults = new RpcFaults()
  const nodeOf = typeof target === 'string' ? () => target : target
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    times.push(Date.now())
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    const body: RpcQuestion | RpcQuestion[] = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    const questions = Array.isArray(body) ? body : [body]
    for (const { method } of questions) asked.add(method)
    const fault = faults.take(questions)
    if (answersNothing(fault, res)) return
    const allowed = questions.filter(({ method }) => !refuses(method))
    let answers = [
      ...(await ask(nodeOf(questions), allowed)),
      ...questions.filter(({ method }) => refuses(method)).map(refusal),
    ]
    if (fault?.kind === 'answers') answers = fault.change(answers, questions)
    const text = JSON.stringify(Array.isArray(body) ? answers : answers[0])
    res.setHeader('content-type', 'application/json')
    res.end(fault?.kind === 'text' ? fault.change(text) : text)
  }
  // When the node or the client is gone, the connection ends too, as a provider's would.
  const server = createServer((req, res) => void answer(req, res).catch(() => res.destroy()))
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    times,
    faults,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** True when the fault is all that the request gets. */
function answersNothing(fault: RpcFault | undefined, res: ServerResponse): boolean {
  if (fault?.kind === 'silence') return true
  if (fault?.kind === 'reset') {
    res.socket?.resetAndDestroy()
    return true
  }
  if (fault?.kind !== 'status') return false
  if (fault.retryAfterSeconds !== undefined) res.setHeader('retry-after', fault.retryAfterSeconds)
  res.writeHead(fault.status).end('busy')
  return true
}

async function ask(target: string, questions: RpcQuestion[]): Promise<RpcAnswer[]> {
  if (questions.length === 0) return []
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(target, { method: 'POST', headers, body: JSON.stringify(questions) })
  return (await response.json()) as RpcAnswer[]
}

function refusal({ id, method }: RpcQuestion): RpcAnswer {
  return { jsonrpc: '2.0', id, error: { code: -32601, message: `the method ${method} does not exist` } }
}
