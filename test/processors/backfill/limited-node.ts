import { createServer } from 'node:http'
import { portOf } from '../../../ops/health.ts'

export interface Question {
  readonly id: unknown
  readonly method: string
  // biome-ignore lint/suspicious/noExplicitAny: what a method takes is its own affair
  readonly params: any[]
}

export interface Reply {
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

/** How a provider behaves that is no node of one's own. What is absent has no limit. */
export interface NodeLimits {
  /** Blocks of one eth_getLogs, and logs of its answer. */
  readonly blocks?: number
  readonly logs?: number
  /** Calls of one request. */
  readonly batch?: number
  /** Which requests are answered 429, by their number. */
  readonly isTooSoon?: (request: number) => boolean
  /** Seconds that a 429 asks to wait; undefined: it is an error inside of an answer with status 200. */
  readonly retryAfterSeconds?: number
  /** Changes what the node answers. */
  readonly alter?: (question: Question, reply: Reply) => Reply
}

export interface LimitedNode {
  readonly url: string
  /** Every call that came, refused ones included. */
  readonly asked: Question[]
  limits: NodeLimits
  close(): Promise<void>
}

/** A JSON-RPC address in front of a node. */
export async function startLimitedNode(target: string): Promise<LimitedNode> {
  let requests = 0
  const node = { asked: [] as Question[], limits: {} as NodeLimits }
  const answer = async (question: Question, text: string): Promise<Reply> => {
    const { blocks = Infinity, logs = Infinity, alter = (_, reply) => reply } = node.limits
    const { id, method, params } = question
    if (method === 'eth_getLogs') {
      const length = Number(params[0].toBlock) - Number(params[0].fromBlock) + 1
      if (length > blocks) return { id, error: { code: -32614, message: `limited to a ${blocks} blocks range` } }
    }
    const response = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: text,
    })
    const reply = (await response.json()) as Reply
    if (method === 'eth_getLogs' && (reply.result as unknown[]).length > logs) {
      return { id, error: { code: -32005, message: `query returned more than ${logs} results` } }
    }
    return alter(question, reply)
  }
  const server = createServer(async (req, res) => {
    const pieces: Buffer[] = []
    for await (const piece of req) pieces.push(piece)
    const body: Question | Question[] = JSON.parse(Buffer.concat(pieces).toString())
    const questions = Array.isArray(body) ? body : [body]
    node.asked.push(...questions)
    const { isTooSoon, retryAfterSeconds, batch = Infinity } = node.limits
    const send = (content: unknown) => res.end(JSON.stringify(content))
    res.setHeader('content-type', 'application/json')
    if (isTooSoon?.(++requests)) {
      const error = { code: -32005, message: 'project rate limit reached' }
      if (retryAfterSeconds === undefined) return send(questions.map(({ id }) => ({ jsonrpc: '2.0', id, error })))
      res.statusCode = 429
      res.setHeader('retry-after', retryAfterSeconds)
      return send({ jsonrpc: '2.0', id: null, error })
    }
    if (questions.length > batch) {
      return send({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batch too large' } })
    }
    const replies = await Promise.all(questions.map((question) => answer(question, JSON.stringify(question))))
    send(Array.isArray(body) ? replies : replies[0])
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(node, {
    url: `http://127.0.0.1:${portOf(server)}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  })
}
