import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import type { Answer, Faults } from './faults.ts'
import type { HubState } from './state.ts'

const mostBodyBytes = 64 * 1024

const fid = z.int().positive()
const address = z.string().min(1)
const retryAfter = z.union([z.number(), z.string()]).optional()
const scope = { times: z.number().positive().optional(), path: z.string().optional() }

/** What a person can post to /control, by `do`. */
const order = z.discriminatedUnion('do', [
  z.strictObject({
    do: z.literal('fault'),
    fault: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('rate-limited'), retryAfter }),
      z.strictObject({ kind: z.literal('status'), status: z.int().min(400).max(599), retryAfter }),
      z.strictObject({ kind: z.literal('slow'), delayMs: z.int().positive() }),
      z.strictObject({ kind: z.literal('huge'), bytes: z.int().positive() }),
      ...(['truncated', 'half-json', 'wrong-schema', 'html', 'hang'] as const).map((kind) =>
        z.strictObject({ kind: z.literal(kind) }),
      ),
    ]),
    ...scope,
  }),
  z.strictObject({ do: z.literal('clear-faults') }),
  z.strictObject({ do: z.literal('verify'), fid, address }),
  z.strictObject({
    do: z.literal('unverify'),
    fid,
    address,
    how: z.enum(['message', 'revoke', 'prune', 'merge']).optional(),
  }),
  z.strictObject({ do: z.literal('move'), address, from: fid, to: fid }),
  z.strictObject({
    do: z.literal('profile'),
    fid,
    username: z.string().optional(),
    displayName: z.string().optional(),
    bio: z.string().optional(),
    pfp: z.string().optional(),
    url: z.string().optional(),
    github: z.string().optional(),
    twitter: z.string().optional(),
  }),
  z.strictObject({ do: z.literal('cast'), fid, text: z.string() }),
  z.strictObject({ do: z.literal('follow'), fid, target: fid }),
])

const examples = [
  { do: 'verify', fid: 1001, address: '0x…' },
  { do: 'unverify', fid: 1001, address: '0x…', how: 'message | revoke | prune | merge' },
  { do: 'move', address: '0x…', from: 1001, to: 1002 },
  { do: 'profile', fid: 1001, displayName: 'New name' },
  { do: 'cast', fid: 1001, text: 'hello' },
  { do: 'follow', fid: 1001, target: 1002 },
  { do: 'fault', fault: { kind: 'rate-limited', retryAfter: 5 }, times: 3, path: '/v1/events' },
  { do: 'fault', fault: { kind: 'hang' } },
  { do: 'clear-faults' },
]

/** Answers /control. GET: the possible orders and the pending faults. POST: executes one order. */
export async function control(request: IncomingMessage, hub: { state: HubState; faults: Faults }): Promise<Answer> {
  if (request.method !== 'POST') {
    return {
      status: 200,
      body: { post_one_of: examples, faults: hub.faults.list(), fids: [...hub.state.accounts.keys()] },
    }
  }
  try {
    const text = await readBody(request)
    const parsed = order.safeParse(JSON.parse(text))
    if (!parsed.success) return { status: 400, body: { error: z.prettifyError(parsed.error) } }
    carryOut(parsed.data, hub)
    return { status: 200, body: { done: parsed.data.do } }
  } catch (error) {
    return { status: 400, body: { error: (error as Error).message } }
  }
}

function carryOut(given: z.infer<typeof order>, { state, faults }: { state: HubState; faults: Faults }) {
  switch (given.do) {
    case 'fault':
      return faults.add(given.fault, given)
    case 'clear-faults':
      return faults.clear()
    case 'verify':
      return void state.addVerification(given.fid, given.address)
    case 'unverify':
      return state.removeVerification(given.fid, given.address, given.how)
    case 'move':
      return state.moveVerification(given.address, given.from, given.to)
    case 'profile': {
      const { do: _, fid, ...profile } = given
      return state.setProfile(fid, profile)
    }
    case 'cast':
      return void state.cast(given.fid, given.text)
    case 'follow':
      return state.follow(given.fid, given.target)
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request) {
    size += piece.length
    if (size > mostBodyBytes) throw new Error(`the body must be at most ${mostBodyBytes} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}
