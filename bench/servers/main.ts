import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import fastify from 'fastify'
import { Hono } from 'hono'
import { pino } from 'pino'
import { createApp } from '../../api/app.ts'
import { boundedDatabase, createApiPool } from '../../api/http/database.ts'
import { installationOf } from '../../api/http/route.ts'
import { createHttpServer } from '../../api/http/server.ts'
import { MemoryStore } from '../../api/limits/memory-store.ts'
import { connectRedis } from '../../api/limits/redis-connection.ts'
import { FusedRedisStore } from '../../api/limits/redis-store.ts'
import type { Limits } from '../../api/limits/window.ts'
import { readChains } from '../../config/chains.file.ts'
import { agentProfile } from '../../db/queries/agents/profile.ts'

// One of the servers that a benchmark compares, alone in its process: node … bench/servers/main.ts <kind>
// `express` has only a route and a rate limit, which the service cannot do without.

const { DATABASE_URL = '', REDIS_URL = '' } = process.env
const chains = readChains({ env: {} })
const pool = DATABASE_URL ? createApiPool(DATABASE_URL) : undefined
const unlimited = { perMinute: 1_000_000_000, perDay: 1_000_000_000 }
const log = pino({ level: 'error' })

/** The service as it is; `cached`: no answer gets stale, else every answer is stale at once. */
function ours({ cached, shared, limits = unlimited }: { cached: boolean; shared: boolean; limits?: Limits }): Server {
  let time = Date.now()
  const begun = time
  const clock = limits === unlimited ? Date.now : () => begun // the minute of a used-up limit never ends
  const now = () => {
    if (!cached) time += 600_000
    return time
  }
  const store = shared
    ? new FusedRedisStore(connectRedis(REDIS_URL, log).send, limits, clock)
    : new MemoryStore(limits, clock)
  if (!pool) throw new Error('DATABASE_URL is needed')
  const app = createApp({
    chains,
    pool,
    log,
    now,
    settlementOverloads: 'spec',
    trustProxyHops: 0,
    serviceName: 'bench',
    baseUrl: 'http://127.0.0.1',
    siteUrl: 'http://127.0.0.1',
    notReady: () => undefined,
    database: boundedDatabase(pool),
    limiter: { limits, store, now: clock },
  })
  return createHttpServer(app)
}

/** Profile by the service's own statement, for the frameworks that answer with it alone. */
async function profile(fid: string): Promise<string> {
  if (!pool) throw new Error('DATABASE_URL is needed')
  const installation = installationOf({ chains, baseUrl: 'http://127.0.0.1' })
  const options = { fid: Number(fid), settlementOverloads: 'spec', installation } as const
  return (await agentProfile(pool, options)) ?? ''
}

/** Cached texts by path, which names their length in bytes. */
const constants = new Map<string, string>()
function constantOf(path = '/0'): string {
  const known = constants.get(path)
  if (known !== undefined) return known
  const made = 'x'.repeat(Number(path.slice(1)))
  constants.set(path, made)
  return made
}

const kinds: Record<string, () => Server | Promise<Server>> = {
  bare: () =>
    createServer((req, res) => {
      res.statusCode = Number(req.headers['x-status'] ?? 200)
      res.setHeader('content-type', 'application/json').end(res.statusCode === 304 ? undefined : constantOf(req.url))
    }),
  express() {
    const app = express()
    app.use(
      rateLimit({ windowMs: 60_000, limit: unlimited.perMinute, legacyHeaders: false, standardHeaders: 'draft-8' }),
    )
    app.get('/:bytes', (req, res) => void res.type('application/json').send(constantOf(req.url)))
    return createServer(app)
  },
  refusing: () => ours({ cached: true, shared: false, limits: { ...unlimited, perMinute: 1 } }),
  full: () => ours({ cached: true, shared: true }),
  'full-memory': () => ours({ cached: true, shared: false }),
  uncached: () => ours({ cached: false, shared: false }),
  async fastify() {
    const app = fastify()
    app.get<{ Params: { fid: string } }>('/api/agent/:fid', async (request, reply) => {
      return reply.type('application/json').send(await profile(request.params.fid))
    })
    await app.ready()
    return app.server
  },
  hono() {
    const app = new Hono()
    app.get('/api/agent/:fid', async (context) =>
      context.body(await profile(context.req.param('fid')), 200, { 'content-type': 'application/json' }),
    )
    return createAdaptorServer({ fetch: app.fetch }) as Server
  },
}

const server = await kinds[process.argv[2] as string]?.()
if (!server) throw new Error(`no such server; there are ${Object.keys(kinds).join(', ')}`)
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ cpu: user + system })
})
process.on('SIGTERM', () => process.exit(0))
process.on('disconnect', () => process.exit(0))
