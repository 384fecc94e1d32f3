import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { withChosen } from '../../config/chains.choice.ts'
import { readChains } from '../../config/chains.file.ts'
import { readyChains } from '../../config/chains.more.ts'
import { chains, defaultChainNames } from '../../config/chains.ts'
import { runMain } from '../support/mains.ts'

const names = Object.keys(readyChains)
const lacking = names.filter((name) => refusal(name) !== undefined)
const ready = names.filter((name) => !lacking.includes(name))

const settingsFor = (chosen: string | undefined, file?: unknown, env = {}) =>
  readChains({ env, file: withChosen(chosen, file) })
const enabledIn = (settings: ReturnType<typeof readChains>) =>
  Object.values(settings).flatMap(({ name, enabled }) => (enabled ? [name] : []))

test('with the built-in ones they are the 25 mainnets on which ERC-8004 stands, each an own id, name and colour', () => {
  const all = [...Object.entries(chains), ...Object.entries(readyChains)]
  expect(all).toHaveLength(25)
  const columns = [
    all.map(([, { id }]) => id),
    all.flatMap(([name, { label }]) => [...new Set([name, label.toLowerCase()])]),
    all.map(([, { feedTerm }]) => feedTerm),
    all.flatMap(([, { dataset }]) => dataset ?? []),
    all.map(([, { hue }]) => hue),
  ]
  for (const column of columns) expect(new Set<unknown>(column).size).toBe(column.length)
  const { registry, reputation } = chains.base
  for (const [name, row] of Object.entries(readyChains)) {
    expect(row, name).toMatchObject({
      registry: { address: registry.address },
      reputation: { address: reputation.address },
    })
    expect(row.registry.fromBlock, name).toBe(row.reputation.fromBlock)
  }
})

test('unless CHAINS names one of them the seven are on, and no other chain is known', () => {
  for (const unset of [undefined, '', ' , ']) {
    expect(settingsFor(unset)).toEqual(readChains({ env: {} }))
    expect(enabledIn(settingsFor(unset))).toEqual(defaultChainNames)
  }
})

test('those that CHAINS names are indexed, ready-made ones behind the seven; what it leaves out is off', () => {
  const settings = settingsFor(' Base,avalanche, bsc ', undefined, { RPC_AVALANCHE: 'https://node.example' })
  expect(Object.keys(settings)).toEqual([...defaultChainNames, 'bsc', 'avalanche'])
  expect(enabledIn(settings)).toEqual(['base', 'bsc', 'avalanche'])
  const { dataset, finality, tokens, paymentContracts, explorer } = readyChains.avalanche!
  const row = { dataset, finalityConfirmation: finality, tokens, paymentContracts, explorer }
  expect(settings.avalanche).toMatchObject({ ...row, id: 43114, rpc: 'https://node.example' })
})

test.each(ready)('%s has every number that a chain needs', (name) => {
  const row = settingsFor(name)[name]
  expect(row).toMatchObject({ name, enabled: true, social: null })
  expect(row?.registry.fromBlock).toBeGreaterThan(0)
})

test('a chain with a number that nobody states is refused with what is not known of it', () => {
  const lack = (name: string, what: string, field: string) =>
    `  CHAINS ${name}: no source we know of states ${what}; state "${field}" in CHAINS_FILE, or leave the chain out`
  const finality = (name: string) => lack(name, 'how many blocks below its head may be replaced', 'finality')
  const dataset = (name: string) => lack(name, 'which dataset of the SQD Portal has it', 'dataset')
  expect(Object.fromEntries(lacking.map((name) => [name, refusal(name)?.split('\n').slice(1)]))).toEqual({
    megaeth: [finality('megaeth')],
    abstract: [finality('abstract')],
    goat: [dataset('goat'), finality('goat')],
    skale: [dataset('skale'), finality('skale')],
    robinhood: [dataset('robinhood'), finality('robinhood')],
    billions: [dataset('billions'), finality('billions'), lack('billions', 'its block explorer', 'explorer')],
    ...Object.fromEntries(
      ['injective', 'zerog'].map((name) => [
        name,
        [
          dataset(name),
          finality(name),
          lack(name, 'the first block of its IdentityRegistry', 'registry'),
          lack(name, 'the first block of its ReputationRegistry', 'reputation'),
        ],
      ]),
    ),
  })
})

test('docs/chains.md lists them all, with what each lacks', () => {
  const document = readFileSync(new URL('../../docs/chains.md', import.meta.url), 'utf8')
  const rows = Object.entries(readyChains).map(([name, { id, label, tokens }]) => {
    const fields = [...(refusal(name) ?? '').matchAll(/state "(\w+)"/g)].map(([, field]) => field).join(', ')
    const dollars = tokens.map(
      ({ symbol = 'USDC', decimals }) => symbol + (decimals === 6 ? '' : ` (${decimals} decimals)`),
    )
    return `| ${name} | ${label} | ${id} | ${dollars.join(', ') || 'none'} | ${fields || 'nothing'} |`
  })
  expect(document).toContain(
    `| name | label | chain id | dollars | missing |\n|---|---|---|---|---|\n${rows.join('\n')}\n\n`,
  )
})

test('the x402 contracts are read wherever the first block of the registries is known, whatever tokens there are', () => {
  for (const [name, { registry, paymentContracts }] of Object.entries(readyChains)) {
    const kinds = registry.fromBlock === null ? [] : ['permit2_exact', 'permit2_upto', 'batch_settlement']
    expect([name, paymentContracts.map(({ kind }) => kind)]).toEqual([name, kinds])
    for (const { fromBlock } of paymentContracts) expect(fromBlock, name).toBe(registry.fromBlock)
  }
})

test('a token of a built-in chain that docs/chains.md adds is counted along with its USDC', () => {
  const document = readFileSync(new URL('../../docs/chains.md', import.meta.url), 'utf8')
  const [, example = ''] =
    /list all tokens of its chain in `CHAINS_FILE`:\n\n```json\n([\s\S]*?)```/.exec(document) ?? []
  const { tokens } = readChains({ env: {}, file: JSON.parse(example) }).celo!
  expect(tokens[0]).toMatchObject({ address: chains.celo.tokens[0]?.address, fromBlock: 23000000 })
  expect(tokens[1]).toMatchObject({ symbol: 'USDT', decimals: 6 })
})

test('the file states what is missing, and goes before the row', () => {
  const file = {
    megaeth: { finality: 40 },
    bsc: { finality: 200, rpc: 'https://bsc.example' },
    celo: { enabled: true },
  }
  const settings = settingsFor('megaeth,bsc', file)
  expect(settings.megaeth).toMatchObject({ finalityConfirmation: 40, dataset: 'megaeth-mainnet' })
  expect(settings.bsc).toMatchObject({ finalityConfirmation: 200, rpc: 'https://bsc.example' })
  expect(enabledIn(settings)).toEqual(['celo', 'bsc', 'megaeth'])
})

test('every name that is no chain is named, with the chains there are', () => {
  expect(() => withChosen('base,solana,tron', { north: {} })).toThrow(
    /CHAINS solana: is not a chain; chains are ethereum, base, .*gnosis, bsc, .*zerog, north\n {2}CHAINS tron: is not/,
  )
  expect(() => settingsFor('bsc', { bsc: 'on' })).toThrow(/CHAINS_FILE bsc: /)
  expect(() => settingsFor('bsc', [])).toThrow(/CHAINS_FILE content: /)
})

test('a process knows the chains that its environment names, and a processor of another one is refused', async () => {
  const env = { CHAINS: 'scroll,mantle', DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
  const [other, none, wrong] = await Promise.all([
    runMain('processors/main.ts', ['base'], { env }),
    runMain('processors/main.ts', ['abstract'], { env }),
    runMain('processors/main.ts', ['scroll'], { env: { ...env, CHAINS: 'scroll,abstract' } }),
  ])
  expect(other.stderr).toContain('base is switched off in CHAINS, which does not name it')
  expect(none.stderr).toContain(
    `abstract is not a chain; chains are ${[...defaultChainNames, 'scroll', 'mantle'].join(', ')}`,
  )
  expect(wrong.stderr).toContain('CHAINS abstract: no source we know of states how many blocks')
})

function refusal(name: string): string | undefined {
  try {
    withChosen(name, undefined)
  } catch (error) {
    return (error as Error).message
  }
}
