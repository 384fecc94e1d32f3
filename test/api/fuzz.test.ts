import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { Pool } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { openApiDocument } from '../../api/docs/openapi.ts'
import { routes } from '../../api/routes.ts'
import { errorBody } from '../../api/schemas/error.ts'
import { chainNames } from '../../config/chains.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { type FuzzRequest, fuzzRequests } from '../support/api/fuzz-requests.ts'
import { testDatabase } from '../support/database.ts'
import { rounds } from '../support/rounds.ts'
import {
  addressOf,
  countSettlements,
  seedAgent,
  seedHolding,
  seedRegistration,
  seedSettlement,
} from '../support/seed.ts'

const runs = rounds(40, 600)
const requestsPerRun = 50
/** Tests that share the runs, so that each has a deadline of its own on a busy machine. */
const parts = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
/** How often each status was answered, in all parts together. */
const seen = new Map<number, number>()

const database = testDatabase()
let api: TestApi
let client: Pool
beforeAll(async () => {
  const { pool } = database
  for (let fid = 1; fid <= 40; fid++) {
    const address = addressOf(`agent ${fid}`)
    const chain = chainNames[fid % chainNames.length] ?? 'base'
    await seedAgent(pool, {
      fid,
      addresses: [address],
      chains: [chain],
      claimMethod: fid % 3 ? null : 'jfs',
      bio: 'bio',
    })
    await seedRegistration(pool, { chain, id: fid, owner: address })
    await seedHolding(pool, { fid, chain, id: fid, by: address })
    if (chain !== 'gnosis') await seedSettlement(pool, { chain, recipient: address, block: fid, at: new Date() })
  }
  await countSettlements(pool)
  for (let n = 41; n <= 60; n++) await seedRegistration(pool, { chain: 'base', id: n, owner: addressOf(`agent ${n}`) })
  api = await startApi(database)
  client = new Pool(api.url, { connections: 16, pipelining: 1 })
})
afterAll(async () => {
  await client.destroy()
  await api.stop()
})

const share = `${(runs * requestsPerRun) / parts.length} generated requests`
test.each(parts)(`of ${share} none gets a 5xx, and every body is what the document says (part %i)`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fuzzRequests(), { minLength: requestsPerRun, maxLength: requestsPerRun }),
      async (batch) => {
        const statuses = await Promise.all(batch.map(judgeByName))
        for (const status of statuses) seen.set(status, (seen.get(status) ?? 0) + 1)
      },
    ),
    { numRuns: runs / parts.length, endOnFailure: true }, // the error names the request: nothing to shrink
  )
})

test('the generated requests met each status often enough to prove something', () => {
  for (const status of [200, 204, 304, 400, 404])
    expect(seen.get(status)).toBeGreaterThan((runs * requestsPerRun) / 1_000)
})

/** Like judge(), with the request named in the error it throws. */
async function judgeByName(request: FuzzRequest): Promise<number> {
  try {
    return await judge(request)
  } catch (cause) {
    throw new Error(`${JSON.stringify(request)}: ${(cause as Error).message}`, { cause })
  }
}

async function judge(request: FuzzRequest): Promise<number> {
  const { method, path, headers, body } = request
  const mayHaveBody = ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method)
  const answer = await client.request({
    method: method as 'GET',
    path,
    headers,
    body: mayHaveBody ? (body ?? null) : null,
  })
  const bytes = Buffer.from(await answer.body.arrayBuffer())
  const { statusCode: status } = answer
  expect(status).toBeLessThan(500)
  expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  if (method === 'HEAD' || status === 204 || status === 304) {
    expect(bytes.length).toBe(0)
    return status
  }
  const text = decode(bytes, answer.headers['content-encoding'] as string | undefined)
  if (String(answer.headers['content-type']).startsWith('text/html')) {
    expect(text).toMatch(/^<!doctype html>/) // the page, or an error page
  } else if (status !== 200) {
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(faultsOf(request, status, JSON.parse(text))).toEqual([])
  } else if (String(answer.headers['content-type']).startsWith('application/json')) {
    expect(faultsOf(request, status, JSON.parse(text))).toEqual([])
  }
  return status
}

function decode(bytes: Buffer, encoding: string | undefined): string {
  if (encoding === 'br') return brotliDecompressSync(bytes).toString()
  return (encoding === 'gzip' ? gunzipSync(bytes) : bytes).toString()
}

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema({ $id: 'document', ...openApiDocument() })
const patterns = routes.map(({ path }) => ({
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}/?$`),
  pointer: path.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D'),
}))
const validators = new Map<string, ValidateFunction>()

const subgraphBody = z.strictObject({
  data: z.object({ agents: z.array(z.object({ id: z.string() })) }).nullish(),
  errors: z.array(z.looseObject({ message: z.string() })).optional(),
})

/** What in a body is not as the OpenAPI document's schema for this answer says, or the error schema where it has none. */
function faultsOf({ method, path: target }: FuzzRequest, status: number, body: unknown): unknown[] {
  const [path = ''] = target.split('?')
  if (path === '/openapi.json' && status === 200) return []
  if (path.startsWith('/subgraph') && !errorBody.safeParse(body).success) {
    const { errors } = subgraphBody.parse(body)
    return errors?.filter(({ message }) => message === 'ERR_INTERNAL') ?? []
  }
  const found = patterns.find(({ pattern }) => method === 'GET' && pattern.test(path))
  if (!found) return errorBody.safeParse(body).error?.issues ?? []
  const pointer = `document#/paths/${found.pointer}/get/responses/${status}/content/application~1json/schema`
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: pointer })
  validators.set(pointer, validate)
  return validate(body) ? [] : (validate.errors ?? [])
}
