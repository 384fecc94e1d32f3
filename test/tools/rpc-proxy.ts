import { createServer } from 'node:http'
import { freePort } from '../../ops/ports.ts'

interface Question {
  readonly id: unknown
  readonly method: string
}

export interface RpcProxy {
  readonly url: string
  /** Every method asked for so far, refused ones included. */
  readonly asked: ReadonlySet<string>
  close(): Promise<void>
}

/**
 * A JSON-RPC address in front of a node that refuses some methods as a public one does: "method not found", with
 * status 200, alone and inside a batch.
 */
export async function startRpcProxy(target: string, refuses: (method: string) => boolean): Promise<RpcProxy> {
  const asked = new Set<string>()
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    const body: Question | Question[] = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    const questions = Array.isArray(body) ? body : [body]
    for (const { method } of questions) asked.add(method)
    const allowed = questions.filter(({ method }) => !refuses(method))
    const answers = [...(await ask(target, allowed)), ...questions.filter(({ method }) => refuses(method)).map(refusal)]
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function ask(target: string, questions: Question[]): Promise<unknown[]> {
  if (questions.length === 0) return []
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(target, { method: 'POST', headers, body: JSON.stringify(questions) })
  return (await response.json()) as unknown[]
}

function refusal({ id, method }: Question) {
  return { jsonrpc: '2.0', id, error: { code: -32601, message: `the method ${method} does not exist` } }
}
