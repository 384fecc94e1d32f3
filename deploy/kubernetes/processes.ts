import type { ChainName } from '../../config/chains.ts'

// What the pods of each process run and get; the objects of this folder are generated from it.

export interface Process {
  readonly name: string
  /** Command of the container: node, a script under dist/, and its arguments. */
  readonly command: readonly string[]
  readonly labels?: Record<string, string>
  readonly image?: string
  /** Memory that is requested, and at which the container is killed. */
  readonly memory: readonly [request: string, limit: string]
  /** Cores that are requested; it may take more. */
  readonly cpu: string
  /** Port for public clients; undefined: none. */
  readonly port?: number
  /** Whether the process runs until it is stopped, so that it gets probes and a metrics port. */
  readonly runsOn?: boolean
  /** Whether the process connects to hosts outside the cluster, so that its egress is allowed. */
  readonly asksOut?: boolean
  /** Secrets whose keys are variables that it reads. */
  readonly secrets?: readonly Secret[]
}

interface Secret {
  readonly name: string
  /** Whether its processes start without it. */
  readonly optional?: true
}

/**
 * Addresses of nodes and archives, and the key of the Portal. Without it no pod starts, and says which secret is missing: a
 * processor without its node follows final blocks alone, which nobody would notice.
 */
const nodes = { name: 'directory-nodes' } as const
/** All other keys, which are for sources that may be left out. */
const keys = { name: 'directory-secrets', optional: true } as const

/** Periods in seconds of the probes of processes that run on, and how many failures in a row count. */
export const probes = {
  startup: { path: '/healthz', periodSeconds: 2, failureThreshold: 60 },
  liveness: { path: '/healthz', periodSeconds: 15, failureThreshold: 4 },
  readiness: { path: '/readyz', periodSeconds: 5, failureThreshold: 2 },
} as const

export const processorOf = (chain: ChainName): Process => ({
  // Names of Kubernetes have no underscores, and those of chains no hyphens.
  name: `processor-${chain.replaceAll('_', '-')}`,
  command: ['node', 'dist/processors/main.js', chain],
  labels: { chain },
  memory: ['256Mi', '1Gi'],
  cpu: '100m',
  runsOn: true,
  asksOut: true,
  secrets: [nodes],
})
export const enrichment: Process = {
  name: 'enrichment',
  command: ['node', 'dist/enrichment/main.js'],
  memory: ['512Mi', '1Gi'],
  cpu: '200m',
  runsOn: true,
  asksOut: true,
  secrets: [nodes, keys],
}
export const api: Process = {
  name: 'api',
  command: ['node', 'dist/api/main.js'],
  memory: ['512Mi', '1Gi'],
  cpu: '500m',
  port: 3000,
  runsOn: true,
  asksOut: true,
  secrets: [nodes, keys],
}
export const graphql: Process = {
  name: 'graphql',
  command: ['node', 'dist/api/graphql/main.js'],
  image: 'agent-directory-graphql',
  memory: ['512Mi', '1Gi'],
  cpu: '200m',
  port: 3001,
  runsOn: true,
}
export const migrate: Process = {
  name: 'migrate',
  command: ['node', 'dist/db/main.js'],
  memory: ['128Mi', '512Mi'],
  cpu: '100m',
}
export const backfill: Process = {
  name: 'backfill',
  command: [
    'sh',
    '-c',
    'from=$((FIRST_BLOCK + JOB_COMPLETION_INDEX * BLOCKS_EACH)) && ' +
      'exec node dist/processors/backfill/main.js --chain "$CHAIN" --from $from --to $((from + BLOCKS_EACH - 1)) --workers 1',
  ],
  memory: ['1Gi', '2Gi'],
  cpu: '1',
  asksOut: true,
  secrets: [nodes],
}

/** Cores requested for Postgres, by gigabytes of memory, which also name its file in deploy/postgres. */
export const postgresCores = { 24: '4', 64: '16', 256: '32' } as const
/** Volumes of each server of Postgres: its data, and its write-ahead log. */
export const postgresVolumes = { data: '500Gi', log: '100Gi' } as const
