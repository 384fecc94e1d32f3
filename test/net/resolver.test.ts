import { createSocket } from 'node:dgram'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { askNameServers, askSystem, judgedAddresses } from '../../net/resolver.ts'

/** What the name server knows: A records, AAAA records, or a refusal code; no entry: it stays silent. */
const zone: Record<string, { a: string[]; aaaa: string[][] } | { refusal: number }> = {
  'both.shop.xyz': {
    a: ['93.184.215.14', '10.0.0.1'],
    aaaa: [['2606', '2800', '21f', 'cb07', '6820', '80da', 'af6b', '8b2c']],
  },
  'old.shop.xyz': { a: ['93.184.215.14'], aaaa: [] },
  'new.shop.xyz': { a: [], aaaa: [['2606', '0', '0', '0', '0', '0', '0', '1']] },
  'empty.shop.xyz': { a: [], aaaa: [] },
  'missing.shop.xyz': { refusal: 3 },
  'failing.shop.xyz': { refusal: 2 },
}

const questions: string[] = []
const server = createSocket('udp4', (query, from) => {
  const labels: string[] = []
  let at = 12
  for (; query[at] !== 0; at += query[at]! + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
  const type = query.readUInt16BE(at + 1)
  const name = labels.join('.').toLowerCase()
  questions.push(`${name} ${type}`)
  const known = zone[name]
  if (!known) return
  const data =
    'refusal' in known
      ? []
      : type === 1
        ? known.a.map((address) => Buffer.from(address.split('.').map(Number)))
        : known.aaaa.map((groups) => Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex'))
  const records = data.map((bytes) =>
    Buffer.concat([Buffer.of(0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length), bytes]),
  )
  const flags = 0x8180 | ('refusal' in known ? known.refusal : 0)
  const head = Buffer.alloc(12)
  head.writeUInt16BE(query.readUInt16BE(0), 0)
  head.writeUInt16BE(flags, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  server.send(Buffer.concat([head, query.subarray(12, at + 5), ...records]), from.port, from.address)
})

let ask: ReturnType<typeof askNameServers>
beforeAll(async () => {
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve))
  ask = askNameServers([`127.0.0.1:${server.address().port}`])
})
afterAll(() => new Promise<void>((resolve) => server.close(resolve)))

const patience = new AbortController().signal

test('a name is answered with its addresses of both kinds', async () => {
  expect(await ask('both.shop.xyz', patience)).toEqual([
    '93.184.215.14',
    '10.0.0.1',
    '2606:2800:21f:cb07:6820:80da:af6b:8b2c',
  ])
  expect(await ask('old.shop.xyz', patience)).toEqual(['93.184.215.14'])
  expect(await ask('new.shop.xyz', patience)).toEqual(['2606::1'])
})

test('a name without addresses, unknown or failing is an error', async () => {
  for (const name of ['empty.shop.xyz', 'missing.shop.xyz', 'failing.shop.xyz']) {
    await expect(ask(name, patience)).rejects.toThrow(name)
  }
})

test('the same name is asked anew each time', async () => {
  questions.length = 0
  await ask('old.shop.xyz', patience)
  await ask('old.shop.xyz', patience)
  expect(questions.filter((question) => question === 'old.shop.xyz 1')).toHaveLength(2)
})

test('an aborted question to a silent name server ends', async () => {
  const impatience = new AbortController()
  const answer = ask('silent.shop.xyz', impatience.signal)
  await expect.poll(() => questions.includes('silent.shop.xyz 1'), { interval: 5 }).toBe(true)
  impatience.abort()
  await expect(answer).rejects.toThrow('silent.shop.xyz')
})

test('an address that got past the judgement of the text is stopped here', async () => {
  const url = new URL('https://8.8.8.8/')
  const target = { url, hostname: '8.8.8.8', port: 443, allowed: false }
  await expect(judgedAddresses(target, ask, patience)).rejects.toMatchObject({ reason: 'blocked' })
  expect(await judgedAddresses({ ...target, allowed: true }, ask, patience)).toEqual(['8.8.8.8'])
})

test('names an operator allows are looked up as the system does, hosts file included', async () => {
  expect(await askSystem('localhost', patience)).toContain('127.0.0.1')
})
