import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Chain } from '../../../config/chains.row.ts'
import { root } from '../source-files.ts'

/** A chain that no table has; its name and its label have two words. */
export const eighthName = 'north_star'
export const eighthRow: Chain = {
  id: 8_004_008,
  label: 'North Star',
  feedTerm: 'north-star',
  dataset: 'north-star-mainnet',
  hasTraces: false,
  rpcVariable: 'RPC_NORTH_STAR',
  gatewayVariable: 'GATEWAY_NORTH_STAR',
  finalityConfirmation: 1,
  registry: { address: '0x8004a169fb4a3325136eb29fa0ceb6d2e539a432', fromBlock: 0 },
  reputation: { address: '0x8004baa17c55a88189ae136b182e5fda19de9b63', fromBlock: 0 },
  tokens: [{ address: `0x${'8d'.repeat(20)}`, decimals: 6, fromBlock: 0 }],
  paymentContracts: [],
  partitions: { blocks: 1_000_000, oneBelow: 1_000_000 },
  explorer: {
    transaction: 'https://north-star.example/tx/{hash}',
    address: 'https://north-star.example/address/{address}',
    block: 'https://north-star.example/block/{block}',
    token: 'https://north-star.example/nft/{address}/{id}',
  },
  hue: '#12ab9f',
  social: null,
}

interface Installation {
  /** Variables of every process. */
  readonly env: Record<string, string>
  remove(): Promise<void>
}

/** An installation where only CHAINS_FILE has the chain, with the URL of its node. */
export async function addedByFile(rpc: string, name = eighthName): Promise<Installation> {
  const { rpcVariable: _, gatewayVariable: __, finalityConfirmation: finality, social: ___, ...facts } = eighthRow
  return inFolder({ 'chains.json': JSON.stringify({ [name]: { ...facts, finality, rpc, portal: null } }) })
}

/** An installation whose chain table has one more row, with the URL of the chain's node in the environment. */
export async function addedByRow(rpc: string): Promise<Installation> {
  const table = await readFile(join(root, 'config/chains.ts'), 'utf8')
  const end = '} as const satisfies Record<string, Chain>'
  const longer = table.replace(end, `  ${eighthName}: ${JSON.stringify(eighthRow)},\n${end}`)
  if (longer === table) throw new Error('the table of chains does not end as it did')
  const files = { 'chains.json': JSON.stringify({ [eighthName]: { portal: null } }), 'chains.ts': longer }
  return inFolder(files, (folder) => ({
    [eighthRow.rpcVariable]: rpc,
    TEST_CHAIN_TABLE: join(folder, 'chains.ts'),
  }))
}

async function inFolder(
  files: Readonly<Record<string, string>>,
  more: (folder: string) => Record<string, string> = () => ({}),
): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'eighth-chain-'))
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  return {
    env: { CHAINS_FILE: join(folder, 'chains.json'), ...more(folder) },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
