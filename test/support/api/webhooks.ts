import { createHmac, createPublicKey, verify } from 'node:crypto'
import { expect } from 'vitest'
import { derivations } from '../../../derive/derivations.ts'
import { settle } from '../../../derive/pass.ts'
import { runPass } from '../../../enrichment/schedule/scheduler.ts'
import { webhooks } from '../../../enrichment/webhooks/source.ts'
import { createDoor } from '../../../net/door.ts'
import { parseEgressAllow } from '../../../net/egress.ts'
import { insert } from '../seed.ts'
import type { TestApi } from './api.ts'
import { type Claimant, type ClaimStage, eip191Claim, freshClient, post, startClaimStage } from './claims.ts'

/** A message that an endpoint was sent. */
export interface Message {
  readonly id: string
  readonly timestamp: string
  readonly signature: string
  readonly body: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}
/** How an endpoint answers. */
interface Answer {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body: unknown
}
/** What the answer to a registration gives. */
export interface Registered {
  readonly id: string
  readonly secret: string
  readonly public_key: string
  readonly manage_token: string
}
/** Checks both signatures as Standard Webhooks says, by what the registration gave. */
export function expectSigned(
  { id, timestamp, signature, body }: Message,
  { secret, public_key }: Registered,
  now: number,
): void {
  const signed = Buffer.from(`${id}.${timestamp}.${body}`)
  const [v1, v1a] = signature.split(' ')
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  expect(v1).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  const raw = Buffer.from(public_key.replace('whpk_', ''), 'base64')
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }
  const theirs = Buffer.from(v1a!.replace('v1a,', ''), 'base64')
  expect(verify(null, signed, createPublicKey({ key: jwk, format: 'jwk' }), theirs)).toBe(true)
  expect(Math.abs(Number(timestamp) * 1_000 - now)).toBeLessThan(2_000)
}

const secret = 'a secret of the service that is long enough'

/** Endpoints of accounts at a host of somebody, with the API that they are registered at and the job that sends. */
export async function startWebhookStage() {
  const stage = await startClaimStage()
  const api = await stage.another({ webhookSecret: secret })
  return new WebhookStage(stage, api)
}

const agrees = ({ data }: Message): Answer => ({ body: String(data.challenge ?? '') })
const failed = (_source: string, _subjects: readonly string[], error: Error) => {
  throw error
}

class WebhookStage {
  /** What endpoints were sent since the last registration. */
  received: Message[] = []
  /** How every endpoint answers. */
  answer: (message: Message) => Answer | Promise<Answer> = agrees
  door: ReturnType<typeof createDoor>
  #urls = 0

  constructor(
    readonly stage: ClaimStage,
    readonly api: TestApi,
  ) {
    this.door = this.newDoor()
  }

  readonly agrees = agrees
  readonly now = () => new Date(this.stage.clock.now)

  newDoor() {
    return createDoor({
      userAgent: 'test/1.0 (+https://agents.example)',
      egressAllow: parseEgressAllow(this.stage.host.name),
      politeness: { intervalMs: 0, maxWaiting: 20, maxWaitMs: 10_000 },
    })
  }

  /** Ends every endpoint, so that the next test has its own alone. */
  async reset() {
    await this.stage.database.pool.query('update webhook set deleted_at = now() where deleted_at is null')
    this.received = []
    this.answer = agrees
  }

  async stop() {
    this.door.close()
    await this.stage.stop()
  }

  /** An address at the host of somebody, whose messages are kept and answered by `answer`. */
  newUrl(): string {
    const { host } = this.stage
    const path = `/hooks/${++this.#urls}`
    host.pages.set(path, (_method, body) => {
      const { headers } = host.requests.at(-1)!
      const { type, data } = JSON.parse(body)
      const message = {
        id: String(headers['webhook-id']),
        timestamp: String(headers['webhook-timestamp']),
        signature: String(headers['webhook-signature']),
        body,
        type,
        data,
      }
      this.received.push(message)
      return this.answer(message)
    })
    return host.url + path
  }

  call(method: string, path: string, token?: string, body?: unknown) {
    return this.api.get(path, {
      method,
      headers: {
        'x-forwarded-for': freshClient(),
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }

  async proofOf(claimant: Claimant, url: string) {
    return eip191Claim(this.stage, claimant, { action: 'webhook', url })
  }

  async register(url: string, more: object = {}, claimant?: Claimant): Promise<Registered> {
    const by = claimant ?? (await this.stage.claimant())
    const types = ['agent.claimed', 'agent.listed', 'agent.updated']
    const body = { ...(await this.proofOf(by, url)), url, types, ...more }
    const response = await this.call('POST', '/api/webhooks', undefined, body)
    const answered = (await response.json()) as Registered
    expect([response.status, answered]).toMatchObject([200, { ok: true, fid: by.fid, url }])
    this.received = []
    return answered
  }

  async shownOf({ id, manage_token }: Registered) {
    const response = await this.call('GET', `/api/webhooks/${id}`, manage_token)
    return (await response.json()) as { readonly next_attempt_at: string; readonly after_seq: number }
  }

  /** Appends events, and wakes the endpoints that want them or were moved. */
  async append() {
    const kinds = derivations.filter(({ kind }) => kind === 'webhook events')
    await settle(kinds, { pool: this.stage.database.pool, now: this.now, settlementOverloads: 'spec' })
  }

  /** What the job does: appends events, and sends what is due until nothing is. */
  async run() {
    const { pool } = this.stage.database
    const { now } = this
    await this.append()
    const source = webhooks({ pool, door: this.door, secret, baseUrl: 'https://api.agents.example', now })
    for (;;) if ((await runPass(source, { pool, now, random: Math.random, failed })).leased === 0) return
  }

  /** FID of an account that claimed. */
  async claimed(): Promise<number> {
    const claimant = await this.stage.claimant()
    await insert(this.stage.database.pool, 'social_profile', {
      fid: claimant.fid,
      handle: `ada${claimant.fid}`,
      updated_at: this.now(),
    })
    this.stage.clock.now += 1_000
    expect((await post(this.api, await eip191Claim(this.stage, claimant))).status).toBe(200)
    return claimant.fid
  }
}
