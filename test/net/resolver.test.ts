import { afterAll, beforeAll, expect, test } from 'vitest'
import { askNameServers, askSystem, judgedAddresses } from '../../net/resolver.ts'
import { type NameServer, startNameServer, type Zone } from './name-server.ts'

const zone: Zone = {
  'both.shop.xyz': ['93.184.215.14', '10.0.0.1', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'old.shop.xyz': ['93.184.215.14'],
  'new.shop.xyz': ['2606::1'],
  'empty.shop.xyz': [],
  'missing.shop.xyz': { refusal: 3 },
  'failing.shop.xyz': { refusal: 2 },
}

let server: NameServer
let ask: ReturnType<typeof askNameServers>
beforeAll(async () => {
  server = await startNameServer(zone)
  ask = askNameServers([`127.0.0.1:${server.port}`])
})
afterAll(() => server.close())

const unaborted = new AbortController().signal

test('a name is answered with its addresses of both kinds', async () => {
  expect(await ask('both.shop.xyz', unaborted)).toEqual([
    '93.184.215.14',
    '10.0.0.1',
    '2606:2800:21f:cb07:6820:80da:af6b:8b2c',
  ])
  expect(await ask('old.shop.xyz', unaborted)).toEqual(['93.184.215.14'])
  expect(await ask('new.shop.xyz', unaborted)).toEqual(['2606::1'])
})

test('a name without addresses, unknown or failing is an error', async () => {
  for (const name of ['empty.shop.xyz', 'missing.shop.xyz', 'failing.shop.xyz']) {
    await expect(ask(name, unaborted)).rejects.toThrow(name)
  }
})

test('the same name is asked again each time', async () => {
  server.questions.length = 0
  await ask('old.shop.xyz', unaborted)
  await ask('old.shop.xyz', unaborted)
  expect(server.questions.filter((question) => question === 'old.shop.xyz 1')).toHaveLength(2)
})

test('an aborted question to a silent name server ends', async () => {
  const leaving = new AbortController()
  const answer = ask('silent.shop.xyz', leaving.signal)
  await expect.poll(() => server.questions.includes('silent.shop.xyz 1'), { interval: 5 }).toBe(true)
  leaving.abort()
  await expect(answer).rejects.toThrow('silent.shop.xyz')
})

test('an address that got past the judgement of the text is stopped here', async () => {
  const url = new URL('https://8.8.8.8/')
  const target = { url, hostname: '8.8.8.8', port: 443, allowed: false }
  await expect(judgedAddresses(target, ask, unaborted)).rejects.toMatchObject({ reason: 'blocked' })
  expect(await judgedAddresses({ ...target, allowed: true }, ask, unaborted)).toEqual(['8.8.8.8'])
})

test('names an operator allows are looked up as the system does, hosts file included', async () => {
  expect(await askSystem('localhost', unaborted)).toContain('127.0.0.1')
})
