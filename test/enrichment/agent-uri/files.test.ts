import { expect, test } from 'vitest'
import { toRegistrationFile } from '../../../enrichment/agent-uri/registration-file.ts'
import { fixture } from '../../support/fixture.ts'

const recorded: unknown[] = fixture('chain/erc8004-registration-files.json.gz').documents.map(
  ({ registration }: { registration: unknown }) => registration,
)
const files = recorded.map(toRegistrationFile)
const understood = files.filter((file) => file !== undefined)
const counted = (has: (file: (typeof understood)[number]) => boolean) => understood.filter(has).length

test('of the 319 recorded documents all are read but seven, which are error messages and ciphertexts', () => {
  expect(recorded).toHaveLength(319)
  const refused = recorded.filter((_, index) => files[index] === undefined) as Record<string, unknown>[]
  expect(refused.map((value) => Object.keys(value)[0]).sort()).toEqual(
    ['code', 'detail', 'detail', 'status', 'status', 'v', 'v'].sort(),
  )
})

test('what the recorded documents say is understood under every key they say it with', () => {
  expect(counted(({ name }) => name !== null)).toBe(312)
  expect(counted(({ active }) => active !== null)).toBe(233)
  expect(counted(({ x402Support }) => x402Support !== null)).toBe(191)
  expect(counted(({ x402Support }) => x402Support === true)).toBe(113)
  expect(counted(({ supportedTrust }) => supportedTrust.length > 0)).toBe(193)
  expect(counted(({ services }) => services.length > 0)).toBe(231)
  const services = understood.flatMap((file) => file.services)
  expect(services).toHaveLength(551)
  expect(services.filter(({ endpoint }) => endpoint !== null)).toHaveLength(529)
  expect(services.filter(({ name }) => name !== null)).toHaveLength(547)
})

test('texts are cleaned and bounded, and an address that is too long is left out', () => {
  const file = toRegistrationFile({
    name: `  ${'n'.repeat(500)}`,
    description: 'nul \u0000 and \ud800',
    image: `https://images.example/${'x'.repeat(3_000)}`,
    services: Array.from({ length: 80 }, (_, index) => ({ name: `s${index}`, endpoint: 'https://a.example/' })),
    supportedTrust: ['reputation', 'reputation', 7, { type: 'zk' }, null],
  })
  expect(file?.name).toBe('n'.repeat(200))
  expect(file?.description).toBe('nul \ufffd and \ufffd')
  expect(file?.image).toBeNull()
  expect(file?.services).toHaveLength(50)
  expect(file?.supportedTrust).toEqual(['reputation', '7', 'zk'])
  expect(file?.truncated).toEqual({ services: 80 })
})

test('each list of a file that is cut is marked with how many entries it has', () => {
  const list = <T>(count: number, of: (n: number) => T) => Array.from({ length: count }, (_, n) => of(n))
  const registry = `eip155:8453:0x${'a1'.repeat(20)}`
  const of = (services: number, trust: number, registrations: number) =>
    toRegistrationFile({
      name: 'Ada',
      services: list(services, (n) => `https://a${n}.example`),
      mcpEndpoint: 'https://a.example/mcp',
      supportedTrust: list(trust, (n) => `t${n}`),
      registrations: list(registrations, (agentId) => ({ agentId, agentRegistry: registry })),
    })
  expect(of(49, 20, 50)?.truncated).toEqual({})
  const cut = of(50, 21, 51)
  expect(cut?.truncated).toEqual({ services: 51, supported_trust: 21, registrations: 51 })
  expect([cut?.services.length, cut?.supportedTrust.length, cut?.registrations?.length]).toEqual([50, 20, 50])
})

test('services are read whatever the list and its entries are made of', () => {
  const servicesOf = (value: unknown) => toRegistrationFile({ services: value })?.services
  const entry = (name: string | null, endpoint: string | null, version: string | null = null) => ({
    name,
    endpoint,
    version,
  })
  expect(servicesOf([{ type: 'a2a', serviceEndpoint: 'https://a.example/card', version: 1 }])).toEqual([
    entry('a2a', 'https://a.example/card', '1'),
  ])
  expect(servicesOf(['https://a.example/', 'other'])).toEqual([entry(null, 'https://a.example/'), entry('other', null)])
  expect(servicesOf({ mcp: { url: 'https://a.example/mcp' }, site: 'https://a.example' })).toEqual([
    entry('mcp', 'https://a.example/mcp'),
    entry('site', 'https://a.example'),
  ])
  expect(servicesOf([null, 5, [], {}, { endpoint: null }])).toBeUndefined()
})

test.each([[null], ['text'], [7], [[]], [{}], [{ name: '' }], [{ name: ['x'] }], [{ services: 'x' }]])(
  '%j is no registration file',
  (value) => {
    expect(toRegistrationFile(value)).toBeUndefined()
  },
)
