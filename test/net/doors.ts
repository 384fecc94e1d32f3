import type { Socket } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { createDoor, type Door, type DoorOptions, type FetchOptions } from '../../net/door.ts'
import { parseEgressAllow } from '../../net/egress.ts'
import { DoorError } from '../../net/errors.ts'
import { testTimeoutMs } from '../support/until.ts'
import { startHost } from './host.ts'

export const userAgent = 'agent-directory-test/1.0 (+https://agents.shop.xyz/about)'
/** Requests to the tests' own hosts are not spaced out. */
const impatient = { intervalMs: 0, maxWaiting: 1_000, maxWaitMs: 10_000 }
/** Options of a fetch with a timeout long enough for a loaded machine. */
export const options = { maxBytes: 65_536, timeoutMs: testTimeoutMs }
/** Options of a fetch from a host whose answer never ends: its timeout is long enough to connect. */
export const briefly = { maxBytes: 65_536, timeoutMs: 300 }
/** Options of `expect.poll`: a check every 5 ms. */
export const patiently = { interval: 5 }

/** A door for this test, closed after it; `allowed` are entries of EGRESS_ALLOW. */
export function doorTo(allowed: readonly string[], settings: Partial<DoorOptions> = {}): Door {
  const egressAllow = parseEgressAllow(allowed.join())
  const door = createDoor({ userAgent, egressAllow, politeness: impatient, ...settings })
  onTestFinished(door.close)
  return door
}

/** A raw host for this test, stopped after it, and a door to it. */
export async function hostAnswering(answer: (socket: Socket, head: string) => void) {
  const host = await startHost(answer)
  onTestFinished(host.stop)
  return { host, door: doorTo([host.name]), url: `${host.origin}/card.json` }
}

/** A complete HTTP answer with status 200, as raw bytes. */
export function ok(body: string | Buffer, ...headers: string[]): Buffer {
  const head = ['HTTP/1.1 200 OK', `content-length: ${Buffer.byteLength(body)}`, ...headers, '', ''].join('\r\n')
  return Buffer.concat([Buffer.from(head), Buffer.from(body)])
}

/** The reason the door gives for `answer`; asserts that the connection does not outlive it. */
export async function reasonFor(answer: string | Buffer | ((socket: Socket) => void), settings: FetchOptions) {
  const script = typeof answer === 'function' ? answer : (socket: Socket) => socket.end(answer)
  const { host, door, url } = await hostAnswering(script)
  const { reason } = await failureOf(door.fetchJson(url, settings))
  await expect.poll(host.open, patiently).toBe(0)
  return reason
}

/** The DoorError `request` ends with. */
export async function failureOf(request: Promise<unknown>): Promise<DoorError> {
  const error = await request.then(
    () => expect.fail('the request went through'),
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(DoorError)
  return error as DoorError
}
