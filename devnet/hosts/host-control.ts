import type { ServerResponse } from 'node:http'
import { z } from 'zod'
import type { Faults } from '../hub/faults.ts'
import type { HostFault } from './host-faults.ts'

const retryAfter = z.union([z.number(), z.string()]).optional()
const plainKinds = [
  ...(['truncated', 'half-json', 'wrong-schema', 'html', 'hang', 'drip', 'bomb', 'redirect-loop', 'cut'] as const),
] as const

/** What a person can post to /control, by `do`. */
const order = z.discriminatedUnion('do', [
  z.strictObject({
    do: z.literal('fault'),
    fault: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('rate-limited'), retryAfter }),
      z.strictObject({ kind: z.literal('status'), status: z.int().min(400).max(599), retryAfter }),
      z.strictObject({ kind: z.literal('slow'), delayMs: z.int().positive() }),
      z.strictObject({ kind: z.literal('huge'), bytes: z.int().positive() }),
      z.strictObject({ kind: z.enum(plainKinds) }),
    ]),
    times: z.number().positive().optional(),
    path: z.string().optional(),
  }),
  z.strictObject({ do: z.literal('clear-faults') }),
])

const examples = [
  { do: 'fault', fault: { kind: 'rate-limited', retryAfter: 60 }, times: 3, path: '/.well-known/agent-card.json' },
  { do: 'fault', fault: { kind: plainKinds.join(' | ') } },
  { do: 'clear-faults' },
]

/** Answers /control. GET: the possible orders and the pending faults. POST: executes one order. */
export function answerControl(method: string, body: string, response: ServerResponse, faults: Faults<HostFault>) {
  const answer = (status: number, content: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(content, null, 2)}\n`)
  if (method !== 'POST') return answer(200, { post_one_of: examples, faults: faults.list() })
  const parsed = order.safeParse(parse(body))
  if (!parsed.success) return answer(400, { error: z.prettifyError(parsed.error) })
  const given = parsed.data
  if (given.do === 'fault') faults.add(given.fault, given)
  else faults.clear()
  return answer(200, { done: given.do })
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
