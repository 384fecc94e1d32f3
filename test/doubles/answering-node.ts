import { createServer } from 'node:http'
import { portOf } from '../../ops/health.ts'

/** What a node answers to one call: its result, or an error. */
type NodeAnswer = { readonly result: unknown } | { readonly error: { code: number; message: string } }

/** Answers a call; `times`: calls of this method so far, this one included. */
export type Answering = (method: string, params: readonly unknown[], times: number) => NodeAnswer

/** What a node does with a whole request; undefined: it answers call by call. */
type Refusing = (calls: number, requests: number) => object | 'cut' | undefined

export interface AnsweringNode {
  readonly url: string
  /** Methods asked for, in order. */
  readonly asked: string[]
  /** Calls of each request, in order. */
  readonly sizes: number[]
  answering: Answering
  refusing: Refusing
  stop(): Promise<void>
}

/** Starts a JSON-RPC node that answers as it is told; both functions can be replaced at any time. */
export async function startAnsweringNode(answering: Answering): Promise<AnsweringNode> {
  const times = new Map<string, number>()
  const node: AnsweringNode = {
    url: '',
    asked: [],
    sizes: [],
    answering,
    refusing: () => undefined,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  const server = createServer(async (req, res) => {
    const pieces: Buffer[] = []
    for await (const piece of req) pieces.push(piece)
    const body = JSON.parse(Buffer.concat(pieces).toString())
    const calls: { id: unknown; method: string; params?: unknown[] }[] = Array.isArray(body) ? body : [body]
    node.asked.push(...calls.map(({ method }) => method))
    node.sizes.push(calls.length)
    const refusal = node.refusing(calls.length, node.sizes.length)
    if (refusal === 'cut') return void res.destroy()
    res.setHeader('content-type', 'application/json')
    if (refusal) {
      const told = Array.isArray(body) ? refusal : { ...refusal, id: calls[0]?.id }
      return void res.end(JSON.stringify({ jsonrpc: '2.0', id: null, ...told }))
    }
    const answers = calls.map(({ id, method, params = [] }) => {
      const time = (times.get(method) ?? 0) + 1
      times.set(method, time)
      return { jsonrpc: '2.0', id, ...node.answering(method, params, time) }
    })
    res.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(node, { url: `http://127.0.0.1:${portOf(server)}` })
}
