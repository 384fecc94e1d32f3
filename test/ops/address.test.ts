import { expect, test } from 'vitest'
import { chooseAddress } from '../../ops/ports.ts'

test.each([
  ['127.0.0.1', 'http://127.0.0.1:3000'],
  ['localhost', 'http://localhost:3000'],
  ['0.0.0.0', 'http://0.0.0.0:3000'],
  ['::1', 'http://[::1]:3000'],
  ['::', 'http://[::]:3000'],
])('an API on %s is asked at %s', async (host, url) => {
  expect(await chooseAddress({ host, port: 3_000 })).toEqual({ port: 3_000, url })
  expect(URL.canParse(url)).toBe(true)
})

test('of port 0 a free port is made, which the address names', async () => {
  const { port, url } = await chooseAddress({ host: '127.0.0.1', port: 0 })
  expect(port).toBeGreaterThan(0)
  expect(url).toBe(`http://127.0.0.1:${port}`)
})
