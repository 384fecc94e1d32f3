import { describe, expect, test } from 'vitest'
import { chainNames } from '../../config/chains.ts'
import { processorPort } from '../../config/settings.chains.ts'
import { UsageError } from '../../ops/cli.ts'
import { readConfig } from '../../processors/config.ts'

describe('the chain to index', () => {
  test.each(['base', 'Base', '8453', ' BASE '])('may be named %j', (name) => {
    expect(readConfig(name, {}, undefined).chain.name).toBe('base')
  })

  test.each([undefined, '', 'solana', '0'])('is not %j, and the message lists those there are', (name) => {
    expect(() => readConfig(name, {}, undefined)).toThrow(UsageError)
    expect(() => readConfig(name, {}, undefined)).toThrow(chainNames.join(', '))
  })

  test('is refused when it is switched off', () => {
    expect(() => readConfig('base', {}, { base: { enabled: false } })).toThrow(/base is switched off in CHAINS_FILE/)
  })
})

describe('the environment', () => {
  test('may be empty: then each chain has a metrics port of its own', () => {
    const ports = chainNames.map((name) => readConfig(name, {}, undefined).metricsPort)
    expect(ports).toEqual([9101, 9102, 9103, 9104, 9105, 9106, 9107])
    // With more chains, the ports skip 9110 to 9112, which are those of the enrichment, the API and GraphQL.
    expect([7, 8, 9, 20].map(processorPort)).toEqual([9108, 9109, 9113, 9124])
  })

  test('of empty values means the same', () => {
    const empty = { DATABASE_URL: '', PORTAL_API_KEY: '', METRICS_PORT: '', LOG_LEVEL: '', HOST: '' }
    expect(readConfig('base', empty, undefined)).toEqual(readConfig('base', {}, undefined))
  })

  test('is read', () => {
    const env = {
      DATABASE_URL: 'postgres://db/x',
      PORTAL_API_KEY: 'key',
      METRICS_PORT: '0',
      LOG_LEVEL: 'debug',
      HOST: '0.0.0.0',
      SETTLEMENT_SCOPE: 'verified',
    }
    expect(readConfig('celo', { ...env, RPC_CELO: 'https://rpc.example' }, undefined)).toMatchObject({
      databaseUrl: 'postgres://db/x',
      portalKey: 'key',
      scope: 'verified',
      metricsPort: 0,
      logLevel: 'debug',
      host: '0.0.0.0',
      chain: { name: 'celo', rpc: 'https://rpc.example' },
    })
    // Without dollars no recipients are known, by whom payments could be told apart.
    expect(readConfig('gnosis', { ...env }, undefined).scope).toBe('all')
  })

  test('is refused with every bad value at once', () => {
    const bad = () =>
      readConfig('base', { METRICS_PORT: '70000', LOG_LEVEL: 'loud', SETTLEMENT_SCOPE: 'some' }, undefined)
    expect(bad).toThrow(/METRICS_PORT/)
    expect(bad).toThrow(/SETTLEMENT_SCOPE/)
    expect(bad).toThrow(/LOG_LEVEL/)
    expect(() => readConfig('base', { RPC_BASE: 'ftp://x' }, undefined)).toThrow(/RPC_BASE must be an http/)
  })
})
