import type { Socket } from 'node:net'
import {
  createServer as createTlsServer,
  getCACertificates,
  type SecureVersion,
  setDefaultCACertificates,
  type TLSSocket,
} from 'node:tls'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Lookup } from '../../net/resolver.ts'
import { type Identity, issueCertificate } from './certificate.ts'
import { doorTo as doorToAll, failureOf, options, patiently } from './doors.ts'
import { startHost } from './host.ts'

const authority = issueCertificate('Test Authority')

const known = getCACertificates('default')
beforeAll(() => setDefaultCACertificates([...known, authority.pem.cert]))
afterAll(() => setDefaultCACertificates(known))

async function startSecureHost(identity: Identity, maxVersion?: SecureVersion) {
  const met: { servername: string | false | null; alpn: string | false | null; remote: string | undefined }[] = []
  const answer = (socket: TLSSocket) => {
    met.push({ servername: socket.servername, alpn: socket.alpnProtocol, remote: socket.remoteAddress })
    socket.on('error', () => {}).resume()
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntrue')
  }
  const old = maxVersion ? { minVersion: 'TLSv1' as const, maxVersion, ciphers: 'DEFAULT@SECLEVEL=0' } : {}
  const server = createTlsServer({ ...identity.pem, ...old, ALPNProtocols: ['h2', 'http/1.1'] }, answer)
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return { port: (server.address() as { port: number }).port, met }
}

const resolved: Lookup = async () => ['127.0.0.1']
const names = ['agent.shop.xyz', 'other.shop.xyz', '127.0.0.1']
const doorTo = (port: number, lookup = resolved) =>
  doorToAll(
    names.map((name) => `${name}:${port}`),
    { lookup },
  )

test('a certificate is checked against the name asked for, and the name is what the host is told', async () => {
  const { port, met } = await startSecureHost(issueCertificate('agent.shop.xyz', authority))
  const door = doorTo(port)
  const fetched = await door.fetchJson(`https://agent.shop.xyz:${port}/`, options)
  expect(fetched.json).toBe(true)
  expect(met).toEqual([{ servername: 'agent.shop.xyz', alpn: 'http/1.1', remote: '127.0.0.1' }])
  for (const other of ['other.shop.xyz', '127.0.0.1']) {
    expect((await failureOf(door.fetch(`https://${other}:${port}/`, options))).reason).toBe('tls_error')
  }
})

test('a certificate out of its time, self-signed or of an unknown authority is a TLS error', async () => {
  const stranger = issueCertificate('Stranger')
  const identities = [
    issueCertificate('agent.shop.xyz', authority, [-30, -1]),
    issueCertificate('agent.shop.xyz', authority, [1, 30]),
    issueCertificate('agent.shop.xyz'),
    issueCertificate('agent.shop.xyz', stranger),
  ]
  for (const identity of identities) {
    const { port } = await startSecureHost(identity)
    const failure = await failureOf(doorTo(port).fetch(`https://agent.shop.xyz:${port}/`, options))
    expect([failure.reason, failure.checkStatus]).toEqual(['tls_error', 'tls_error'])
  }
})

test('no environment variable turns the check off', async () => {
  const { port } = await startSecureHost(issueCertificate('agent.shop.xyz'))
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  try {
    const failure = await failureOf(doorTo(port).fetch(`https://agent.shop.xyz:${port}/`, options))
    expect(failure.reason).toBe('tls_error')
  } finally {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
  }
})

test('TLS older than 1.2 is refused', async () => {
  const { port } = await startSecureHost(issueCertificate('agent.shop.xyz', authority), 'TLSv1.1')
  expect((await failureOf(doorTo(port).fetch(`https://agent.shop.xyz:${port}/`, options))).reason).toBe('tls_error')
})

test('what breaks after the connection and before TLS stands is a TLS error, silence a timeout', async () => {
  const answers: [(socket: Socket) => void, number, string][] = [
    [(socket) => socket.end('HTTP/1.1 400 Plain HTTP request was sent\r\n\r\n'), 20_000, 'tls_error'],
    [(socket) => socket.end(), 20_000, 'tls_error'],
    [(socket) => socket.once('data', () => socket.resetAndDestroy()), 20_000, 'tls_error'],
    [(socket) => void socket.end(Buffer.of(0x15, 3, 3, 0, 2, 2, 40)), 20_000, 'tls_error'],
    [() => {}, 300, 'timeout'],
  ]
  for (const [answer, timeoutMs, reason] of answers) {
    const host = await startHost(answer, 'at once')
    onTestFinished(host.stop)
    const failure = await failureOf(
      doorTo(host.port).fetch(`https://agent.shop.xyz:${host.port}/`, { ...options, timeoutMs }),
    )
    expect([String(answer), failure.reason]).toEqual([String(answer), reason])
    await expect.poll(host.open, patiently).toBe(0)
  }
})

test('when one address of a name is silent to us the next is tried', async () => {
  const { port, met } = await startSecureHost(issueCertificate('agent.shop.xyz', authority))
  const door = doorTo(port, async () => ['127.0.0.3', '127.0.0.4', '::1', '127.0.0.1'])
  expect((await door.fetch(`https://agent.shop.xyz:${port}/`, options)).status).toBe(200)
  expect(met).toHaveLength(1)
  const nobody = doorTo(port, async () => ['127.0.0.3', '::1'])
  expect((await failureOf(nobody.fetch(`https://agent.shop.xyz:${port}/`, options))).reason).toBe('connect_error')
})

test('a name without an address is a DNS error, a resolver that never answers a timeout', async () => {
  const lookups: [Lookup, number, string][] = [
    [async () => Promise.reject(new Error('queryA ENOTFOUND')), 20_000, 'dns_error'],
    [async () => [], 20_000, 'dns_error'],
    [async () => Array<string>(65).fill('127.0.0.1'), 20_000, 'dns_error'],
    [() => new Promise(() => {}), 100, 'timeout'],
  ]
  for (const [lookup, timeoutMs, reason] of lookups) {
    const failure = await failureOf(doorTo(443, lookup).fetch('https://agent.shop.xyz/', { ...options, timeoutMs }))
    expect(failure.reason).toBe(reason)
  }
})
