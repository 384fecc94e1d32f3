import { afterAll, beforeAll, expect, test } from 'vitest'
import { errorTable } from '../../api/http/errors.ts'
import { errorBody, errorCatalogue } from '../../api/schemas/error.ts'
import { failure, startApi, type TestApi } from '../support/api/api.ts'
import { strangeScripts } from '../support/api/markup.ts'
import { testDatabase } from '../support/database.ts'

const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  api = await startApi(database)
})
afterAll(() => api.stop())

const baseUrl = 'https://api.agents.example'
const codes = Object.keys(errorTable)

test('the catalogue has every code of the closed list, with a page for each', async () => {
  const answer = await api.get('/api/errors')
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'public, max-age=300'])
  const { count, errors } = errorCatalogue.parse(await answer.json())
  expect([count, errors.map(({ code }) => code)]).toEqual([codes.length, codes])
  const limited = errors.find(({ code }) => code === 'ERR_RATE_LIMIT')
  expect(limited).toMatchObject({ status: 429, retry: 'retry-after', fields: ['limits', 'retryAfterSeconds'] })
  for (const { code, url, when } of errors) {
    expect(url).toBe(`${baseUrl}/docs/errors/${code}`)
    const page = await api.get(url.slice(baseUrl.length))
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const text = (await page.text()).replaceAll(/<\/?code>/g, '')
    expect(text).toContain(when.replaceAll('`', ''))
    const alone = await api.get(`/api/errors/${code}`)
    expect(await alone.json()).toEqual(errors.find((one) => one.code === code))
  }
  for (const none of ['ERR_NONE', 'err_not_found', 'toString', '%00']) {
    expect(await failure(await api.get(`/api/errors/${none}`))).toMatchObject({ status: 404, error: 'ERR_NOT_FOUND' })
  }
})

test('the page of all errors has an anchor a code, and nothing of others', async () => {
  const answer = await api.get('/docs/errors')
  expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self';/)
  const page = await answer.text()
  for (const code of codes) expect(page).toContain(`<section id="${code}">`)
  expect(strangeScripts(page)).toEqual([])
  expect(page).not.toMatch(/<style|<img|src="http|@import|url\(|\[object|undefined/)
  expect((await api.get('/docs/errors/ERR_NONE')).status).toBe(404)
})

test.for(['/api/agent/zero', '/api/by-address/0x1', '/api/none', '/data/none'])(
  'who accepts problem details alone gets %s as one, with all that the body of the contract says',
  async (path) => {
    const body = errorBody.parse(await (await api.get(path)).json())
    const answer = await api.get(path, { headers: { Accept: 'application/problem+json' } })
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const { status, title } = errorTable[body.error]
    expect(answer.status).toBe(status)
    expect(await answer.json()).toEqual({ type: `${baseUrl}/docs/errors/${body.error}`, title, status, ...body })
  },
)

test.for([
  '*/*',
  'application/json',
  'application/problem+json, application/json',
  'application/json, application/problem+json',
])('who accepts %s gets the body of the contract', async (accept) => {
  const answer = await api.get('/api/agent/zero', { headers: { Accept: accept } })
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(await answer.json()).toEqual({ error: 'ERR_FID_INVALID', detail: expect.any(String) })
})

test('a good answer is the same whatever form of errors is accepted', async () => {
  const [plain, problem] = await Promise.all([
    api.get('/api/errors'),
    api.get('/api/errors', { headers: { Accept: 'application/problem+json' } }),
  ])
  expect(problem.headers.get('etag')).toBe(plain.headers.get('etag'))
})

test('llms.txt has the form of its convention, and every link of it leads somewhere', async () => {
  const answer = await api.get('/llms.txt')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  const text = await answer.text()
  expect(text).toMatch(
    /^# .+\n\n> .+\n\n[^#]+\n## Reference\n\n(- .+\n)+\n## Requests\n\n(- .+\n)+\n## Optional\n\n(- .+\n)+$/,
  )
  const links = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\): /gm)].map((match) => match[1] as string)
  expect(links.length).toBeGreaterThan(15)
  for (const link of links) {
    expect(link.startsWith(baseUrl)).toBe(true)
    const [path = '', anchor] = link.slice(baseUrl.length).split('#')
    const page = await api.get(path)
    expect([link, page.status]).toEqual([link, 200])
    if (anchor !== undefined) expect(await page.text()).toContain(`id="${anchor}"`)
  }
})
