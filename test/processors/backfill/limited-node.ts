import { createServer, type ServerResponse } from 'node:http'
import { portOf } from '../../../ops/health.ts'

interface Question {
  readonly id: unknown
  readonly method: string
  // biome-ignore lint/suspicious/noExplicitAny: what a method takes is its own affair
  readonly params: any[]
}

interface Reply {
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

interface RawAnswer {
  readonly status: number
  readonly body: string
  readonly retryAfterSeconds?: number
}

/** Limits and failures of a provider's node; an absent limit is unlimited. */
export interface NodeLimits {
  /** Most blocks of one eth_getLogs; `logs`: most logs in its answer. */
  readonly blocks?: number
  readonly logs?: number
  /** Answer to the whole request when a call exceeds these limits; undefined: an error as the result of that call. */
  readonly refusal?: RawAnswer
  /** Most calls in one batch request. */
  readonly batch?: number
  /** Which requests fail, by their number from 1 and count of calls. `failure`: how; undefined: as rate limited. */
  readonly fails?: (request: number, calls: number) => boolean
  readonly failure?: RawAnswer | 'cut'
  /** Changes the node's reply to a call. */
  readonly alter?: (question: Question, reply: Reply) => Reply
}

export interface LimitedNode {
  readonly url: string
  /** All calls received, refused ones included. */
  readonly asked: Question[]
  limits: NodeLimits
  close(): Promise<void>
}

/** Starts a JSON-RPC proxy before the node at `target`; its limits can be changed at any time. */
export async function startLimitedNode(target: string): Promise<LimitedNode> {
  let requests = 0
  const node = { asked: [] as Question[], limits: {} as NodeLimits }
  const server = createServer(async (req, res) => {
    const pieces: Buffer[] = []
    for await (const piece of req) pieces.push(piece)
    const body: Question | Question[] = JSON.parse(Buffer.concat(pieces).toString())
    const questions = Array.isArray(body) ? body : [body]
    node.asked.push(...questions)
    const { fails, failure, refusal, batch = Infinity } = node.limits
    const send = (content: unknown) => res.end(JSON.stringify(content))
    res.setHeader('content-type', 'application/json')
    if (fails?.(++requests, questions.length)) {
      if (failure === 'cut') return res.destroy()
      if (failure) return sendRaw(res, failure)
      return send(questions.map(({ id }) => ({ id, error: { code: -32005, message: 'project rate limit reached' } })))
    }
    if (questions.length > batch) {
      return send({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batch too large' } })
    }
    const replies = await Promise.all(questions.map((question) => answer(target, question, node.limits)))
    if (refusal && replies.some(({ error }) => error?.code === beyondLimits)) return sendRaw(res, refusal)
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

const beyondLimits = -32614

async function answer(target: string, question: Question, limits: NodeLimits): Promise<Reply> {
  const { blocks = Infinity, logs = Infinity, alter = (_, reply) => reply } = limits
  const { id, method, params } = question
  const beyond = (message: string): Reply => ({ id, error: { code: beyondLimits, message } })
  if (method === 'eth_getLogs') {
    const length = Number(params[0].toBlock) - Number(params[0].fromBlock) + 1
    if (length > blocks) return beyond(`limited to a ${blocks} blocks range`)
  }
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(target, { method: 'POST', headers, body: JSON.stringify(question) })
  const reply = (await response.json()) as Reply
  if (method === 'eth_getLogs' && (reply.result as unknown[]).length > logs) {
    return beyond(`query returned more than ${logs} results`)
  }
  return alter(question, reply)
}

function sendRaw(res: ServerResponse, { status, body, retryAfterSeconds }: RawAnswer) {
  res.statusCode = status
  if (retryAfterSeconds !== undefined) res.setHeader('retry-after', retryAfterSeconds)
  res.end(body)
}
