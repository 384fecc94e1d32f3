import { spawnSync } from 'node:child_process'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { examples } from '../../api/docs/generated/examples.ts'
import { documentedPages, openApiDocument } from '../../api/docs/openapi.ts'
import { errorTable } from '../../api/http/errors.ts'
import { queryOf } from '../../api/http/signed.ts'
import { meteredPath } from '../../api/limits/limiter.ts'
import { actions, routes, streams } from '../../api/routes.ts'
import { errorSchemas } from '../../api/schemas/error.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { strangeScripts } from '../support/api/markup.ts'
import { testDatabase } from '../support/database.ts'
import { root } from '../support/source-files.ts'

const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  api = await startApi(database)
})
afterAll(() => api.stop())

test('the document in the repository is the one the definitions make; `npx vitest run test/api/openapi.test.ts -u` writes it again', async () => {
  await expect(`${JSON.stringify(openApiDocument(), null, 2)}\n`).toMatchFileSnapshot('../../openapi.json')
})

test('the types of the client are made of it; `node scripts/client-types.mjs --out client/generated/types.gen.ts` writes them again', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/client-types.mjs', '--by', 'hash'], { cwd: root })
  expect([status, String(stderr)]).toEqual([0, ''])
})

test('the document is served as it is', async () => {
  const response = await api.get('/openapi.json')
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
  expect(await response.json()).toEqual(openApiDocument())
})

test('it names every request, with every parameter, and nothing else', () => {
  type Named = Record<string, { parameters?: { name: string; in: string }[]; requestBody?: object }>
  const paths = openApiDocument().paths as Record<string, Named>
  const definitions = [
    ...routes.map((route) => ({ method: 'get' as const, headers: undefined, body: undefined, ...route })),
    ...actions.map((action) => ({ headers: undefined, signable: undefined, body: undefined, ...action })),
    ...streams.map((stream) => ({ method: 'get' as const, signable: undefined, body: undefined, ...stream })),
    ...documentedPages.map((page) => ({ method: 'get' as const, headers: undefined, body: undefined, ...page })),
  ]
  const named = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((name) => `${name} ${path}`),
  )
  expect(named).toEqual(definitions.map(({ method, path }) => `${method} ${path}`))
  for (const { method, path, params, headers, query, signable, body } of definitions) {
    const operation = paths[path]?.[method]
    expect((operation?.parameters ?? []).map((parameter) => `${parameter.in} ${parameter.name}`)).toEqual([
      ...Object.keys(params.shape).map((name) => `path ${name}`),
      ...Object.keys(headers?.shape ?? {}).map((name) => `header ${name}`),
      ...Object.keys(queryOf({ query, signable }).shape).map((name) => `query ${name}`),
    ])
    expect(operation?.requestBody !== undefined).toBe(body !== undefined)
  }
})

test('every request of it is counted by the limiter', () => {
  expect([...routes, ...actions, ...streams].filter(({ path }) => !meteredPath.test(path))).toEqual([])
})

test('every definition is registered: what is not one of the methods of its path is told those', async () => {
  for (const { path } of [...routes, ...streams, ...documentedPages]) {
    const target = path.replace('{fid}', '1').replace('{address}', `0x${'0'.repeat(40)}`)
    const answer = await api.get(target, { method: 'OPTIONS' })
    expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 204, 'GET, HEAD, OPTIONS'])
  }
})

test('its schemas are valid JSON Schema and every reference leads somewhere', () => {
  const document = openApiDocument() as { components: { schemas: Record<string, object> } }
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'document', ...document })
  expect(document.components.schemas).toHaveProperty('AgentProfile')
  for (const name of Object.keys(document.components.schemas)) {
    expect(ajv.compile({ $ref: `document#/components/schemas/${name}` })).toBeTypeOf('function')
  }
})

test('every request has an example answer; `npm run docs:examples` takes them again, with those of newer requests', () => {
  const requests = [...routes, ...documentedPages, ...actions, ...streams].map(({ operationId }) => operationId)
  expect(requests.filter((name) => !(name in examples))).toEqual([])
})

test('every example is an answer of its type, but for fields that came since, and small', () => {
  const withoutRequired = (name: string, value: unknown) => (name === 'required' ? undefined : value)
  const document = JSON.parse(JSON.stringify(openApiDocument(), withoutRequired)) as {
    paths: Record<string, Record<string, Exampled>>
  }
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'document', ...document })
  const shown: string[] = []
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { operationId, responses }] of Object.entries(methods)) {
      const [[type, { example }] = ['', {}]] = Object.entries(responses['200'].content)
      if (example === undefined) continue
      shown.push(operationId)
      const pointer = ['paths', path, method, 'responses', '200', 'content', type, 'schema']
        .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
        .join('/')
      const isAnswer = ajv.compile({ $ref: `document#/${pointer}` })
      expect([operationId, isAnswer(example), isAnswer.errors]).toEqual([operationId, true, null])
      expect(JSON.stringify(example).length, operationId).toBeLessThan(6_000)
      expect(JSON.stringify(example), operationId).not.toMatch(/(127\.0\.0\.1|localhost):\d/)
    }
  }
  expect(shown.sort()).toEqual(Object.keys(examples).sort())
})

interface Exampled {
  readonly operationId: string
  readonly responses: { readonly '200': { readonly content: Record<string, { readonly example?: unknown }> } }
}

test('every code of the closed list has a status and a schema of its own', () => {
  expect(Object.keys(errorSchemas)).toEqual(Object.keys(errorTable))
})

test('the reference for people has a page for every request and answer, small, and with nothing of others', async () => {
  const response = await api.get('/docs')
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const pages = new Map([['/docs', await response.text()]])
  const linked = (page: string) => [...page.matchAll(/href="(\/docs[^"#]*)/g)].map((match) => match[1] as string)
  // Iterating a Map also visits the entries added on the way.
  for (const [path, page] of pages) {
    expect([path, page.length < 60_000, strangeScripts(page)]).toEqual([path, true, []])
    expect(page).not.toMatch(/<style|<img|src="http|@import|url\(|\[object|undefined/)
    expect([path, page.replaceAll(/<pre[\s\S]*?<\/pre>/g, '').includes('`')]).toEqual([path, false])
    for (const target of linked(page)) {
      if (pages.has(target)) continue
      const answer = await api.get(target)
      expect([path, target, answer.status]).toEqual([path, target, 200])
      expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self';/)
      pages.set(target, await answer.text())
    }
  }
  const overview = pages.get('/docs') as string
  for (const { path, operationId } of [...routes, ...streams]) {
    expect(overview).toContain(
      `<li id="${operationId}"><a href="/docs/requests/${operationId}"><code>GET ${path}</code>`,
    )
    expect(pages.get(`/docs/requests/${operationId}`)).toContain(`<code>GET ${path}</code>`)
  }
  const chapterOf = (path: string) =>
    /<nav class="contents"[\s\S]*?aria-current="(?:page|true)">([^<]*)/.exec(pages.get(path) ?? '')?.[1]
  expect(chapterOf('/docs/requests/claim')).toBe('Overview')
  expect(chapterOf('/docs/answers/Settlement')).toBe('Answers')
  expect(chapterOf('/docs/errors/ERR_NOT_FOUND')).toBe('Errors')
  expect(pages.get('/docs/requests/claim')).toContain('--data')
  expect(pages.get('/docs/requests/refreshAgent')).not.toContain('--data')
  for (const code of Object.keys(errorTable)) expect([code, pages.has(`/docs/errors/${code}`)]).toEqual([code, true])
  for (const [name, field] of [
    ['Settlement', 'amount_usdc'],
    ['AgentProfile', 'historical_registrations'],
  ]) {
    expect(pages.get(`/docs/answers/${name}`)).toContain(`<code>${field}</code>`)
  }
})

test('requests that need a token name its scheme, and readers of the document find it', () => {
  const { paths, components } = openApiDocument() as {
    paths: Record<string, Record<string, { security?: Record<string, string[]>[]; parameters?: { name: string }[] }>>
    components: { securitySchemes: object }
  }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  )
  const secured = operations.filter(({ security }) => security !== undefined)
  expect(secured.map(({ security }) => security)).toEqual(secured.map(() => [{ webhookToken: [] }]))
  expect(new Set(secured.map(({ path }) => path))).toEqual(
    new Set(Object.keys(paths).filter((path) => path.startsWith('/api/webhooks/{id}'))),
  )
  expect(components.securitySchemes).toMatchObject({ webhookToken: { type: 'http', scheme: 'bearer' } })
  // OpenAPI has such a header ignored where it is a parameter.
  expect(operations.flatMap(({ parameters = [] }) => parameters).map(({ name }) => name.toLowerCase())).not.toContain(
    'authorization',
  )
})
