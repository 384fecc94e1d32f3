import { readyChains } from './chains.more.ts'
import { chainNames, chainOf } from './chains.ts'
import { processors, type Setting } from './settings.row.ts'
import { httpUrl, keyText, nodeUrl, text } from './settings.schema.ts'

// Settings of the chains: where they are read from, and the ports of their processors. config/chains.file.ts reads them,
// together with CHAINS_FILE, which may override them; the Portal's key and the ports are read with the other settings.

const rpc = {
  form: nodeUrl,
  unset: 'history only',
  about: "JSON-RPC address of the chain's node, http(s) or ws(s), for the tip",
  more:
    "Unset: the chain follows only the Portal's final blocks, and claims by its contract wallets cannot be checked. " +
    "Claims by app key, and proofs of the keys behind verified addresses, need Optimism's.",
  readers: [...processors, 'enrichment', 'api'],
} as const satisfies Setting
const gateway = {
  form: httpUrl,
  unset: 'the Portal',
  about: 'a self-hosted v2 archive for the chain, used instead of the Portal',
  readers: processors,
} as const satisfies Setting
export const portalKey = {
  PORTAL_API_KEY: {
    form: keyText,
    unset: 'none',
    about: 'key of the Portal, where one is needed',
    readers: processors,
  },
} as const satisfies Record<string, Setting>
const readersOfTable: Setting['readers'] = [
  'migrate',
  ...processors,
  'enrichment',
  'api',
  'graphql',
  'export',
  'docker-compose.yml',
]
/** RPC_* and GATEWAY_* of each built-in chain, CHAINS, and CHAINS_FILE, which may override and add rows. */
export const perChain: Readonly<Record<string, Setting>> = {
  ...Object.fromEntries(chainNames.map((name) => [chainOf(name).rpcVariable, rpc])),
  ...Object.fromEntries(chainNames.map((name) => [chainOf(name).gatewayVariable, gateway])),
  CHAINS: {
    form: text,
    unset: 'the seven',
    about: 'names of the chains to index, separated by commas: of the seven above and the ready-made ones',
    more:
      `Ready-made, off unless named: ${Object.keys(readyChains).join(', ')}; see docs/chains.md. Of the seven, those that ` +
      'are not named are off. RPC_<NAME> and GATEWAY_<NAME> are read for each. Set it alike for all processes.',
    readers: readersOfTable,
  },
  CHAINS_FILE: {
    form: text,
    unset: 'none',
    about: 'path of a JSON file that overrides rows of the chain table or adds chains to it, keyed by chain',
    more:
      'Fields: enabled, rpc, portal, dataset, gateway, finality (blocks), registry, reputation {address, fromBlock}, tokens ' +
      '[{address, decimals, fromBlock}], paymentContracts [{kind, address, fromBlock, collectors [address]}], partitions {blocks, oneBelow}, keyRegistry {address}, ' +
      'idRegistry {address, fromBlock; 0 if left out}. portal, gateway or rpc null: that source is off. An added chain also has id, label, feedTerm, hasTraces, explorer {transaction, address, block, token}, ' +
      'hue, and its own variables RPC_<NAME> and GATEWAY_<NAME>.',
    readers: readersOfTable,
  },
}
export const portal = {
  form: httpUrl,
  default: 'https://portal.sqd.dev',
  about: 'SQD Network Portal, which serves the history of the chains',
  readers: processors,
} as const satisfies Setting

/** Port for health and metrics, unless METRICS_PORT is set, of the processor of the table's first chain. */
const firstProcessorPort = 9101
export const enrichmentPort = 9110
/** Ports from the enrichment's on that no processor has: its own, and those that the units of systemd give the API and GraphQL. */
const othersPorts = 3
/** Default port of `npm run export -- --served`, the process that keeps the served files up to date. */
export const exportPort = 9099

/** Default port of the processor of the chain at `place` (from 0) in the table; those of other processes are left out. */
export function processorPort(place: number): number {
  const port = firstProcessorPort + place
  return port < enrichmentPort ? port : port + othersPorts
}
