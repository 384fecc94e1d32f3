import { expect, test } from 'vitest'
import { parseTarget } from '../../net/target.ts'

const parse = (url: string, ports: number[] = [], allow: string[] = []) => parseTarget(url, ports, new Set(allow))

test('a public name by https passes, in any of its spellings', () => {
  const names: [string, string][] = [
    ['https://agent.shop.xyz/card.json', 'agent.shop.xyz'],
    ['HTTPS://Agent.Shop.XYZ:443', 'agent.shop.xyz'],
    ['https://a.co', 'a.co'],
    ['https://xn--bcher-kva.example-shop.de/', 'xn--bcher-kva.example-shop.de'],
    ['https://bücher.de/', 'xn--bcher-kva.de'],
    ['https://例子.中国/', 'xn--fsqu00a.xn--fiqs8s'],
    ['https://my_app.vercel.app/', 'my_app.vercel.app'],
    ['https://1-2-3-4.sslip.io/', '1-2-3-4.sslip.io'],
    ['https://localhost.shop.xyz/', 'localhost.shop.xyz'],
    ['https://test.com/', 'test.com'],
    ['https://myexample.com/', 'myexample.com'],
    ['https://agent.shop.xyz\\@evil/', 'agent.shop.xyz'],
  ]
  for (const [url, hostname] of names) {
    expect([url, parse(url)]).toMatchObject([url, { hostname, port: 443, allowed: false }])
  }
})

test('further ports are open to those who ask for them', () => {
  expect(parse('https://agent.shop.xyz:8443/', [8443]).port).toBe(8443)
  expect(() => parse('https://agent.shop.xyz:8443/')).toThrow('port 8443 is not open, 443 is')
  expect(() => parse('https://agent.shop.xyz:444/', [8443])).toThrow('port 444 is not open, 443, 8443 is')
  expect(() => parse('http://agent.shop.xyz:8443/', [8443])).toThrow('not https')
})

test('a refusal says which rule was broken', () => {
  const refusals: [string, string][] = [
    ['nonsense', 'not a URL'],
    ['ftp://agent.shop.xyz/', 'not https'],
    ['http://agent.shop.xyz/', 'not https'],
    ['https://a:b@agent.shop.xyz/', 'a user or a password'],
    ['https://1.1.1.1/', 'an address instead of a name'],
    ['https://[2606:4700::1111]/', 'an address instead of a name'],
    ['https://agent.shop.xyz./', 'a trailing dot'],
    ['https://intranet/', 'without a public suffix'],
    ['https://agents.local/', 'local is a reserved name'],
    ['https://www.example.com/', 'example.com is a reserved name'],
    [`https://agent.shop.xyz/${'a'.repeat(2_048)}`, 'longer than 2048 characters'],
  ]
  for (const [url, problem] of refusals) expect(() => parse(url), url).toThrow(problem)
})

test('an allowed host may be an address and may speak plain http', () => {
  const allow = ['127.0.0.1:8080', '[::1]:8080', 'localhost:80', 'redis:443']
  expect(parse('http://127.0.0.1:8080/a', [], allow)).toMatchObject({
    hostname: '127.0.0.1',
    port: 8080,
    allowed: true,
  })
  expect(parse('https://[::1]:8080/a', [], allow)).toMatchObject({ hostname: '::1', port: 8080, allowed: true })
  expect(parse('http://localhost/', [], allow)).toMatchObject({ hostname: 'localhost', port: 80, allowed: true })
  expect(parse('https://redis/', [], allow)).toMatchObject({ hostname: 'redis', port: 443, allowed: true })
  expect(() => parse('https://localhost/', [], allow)).toThrow('without a public suffix')
  expect(() => parse('http://u@127.0.0.1:8080/', [], allow)).toThrow('a user or a password')
})
