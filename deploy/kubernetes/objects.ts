import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, stringify } from 'yaml'
import { busiestChain, type ChainName, chainOf } from '../../config/chains.ts'
import { agentPorts, publicHubs } from '../../config/hosts.ts'
import {
  api,
  backfill,
  enrichment,
  graphql,
  migrate,
  type Process,
  postgresCores,
  postgresVolumes,
  probes,
  processorOf,
} from './processes.ts'

// The objects of deploy/kubernetes that repeat for every process or every chain, generated from its processes.ts and
// other tables.

const root = fileURLToPath(new URL('../..', import.meta.url))
const partOf = { 'part-of': 'agent-directory' }
const metricsPort = 9100

const clusterHead = {
  apiVersion: 'postgresql.cnpg.io/v1',
  kind: 'Cluster',
  metadata: { name: 'postgres' }, // its secret is postgres-app, its services postgres-rw and postgres-ro
}

interface Generated {
  /** First line of each file. */
  readonly notice: string
  /** Texts of the alerts, by file. */
  readonly rules?: Readonly<Record<string, string>>
  /** Text of the file CHAINS_FILE names, which each pod reads then. */
  readonly chainsFile?: string | undefined
}

/** Text of each generated file by its path under deploy/kubernetes, for an installation that indexes these chains. */
export function generatedFiles(
  chains: readonly ChainName[],
  { notice, rules = readRuleFiles(), chainsFile }: Generated,
): Record<string, string> {
  const backfilled = backfilledChain(chains)
  const objects: Record<string, readonly object[]> = {
    'components/postgres/cluster.yaml': [cluster()],
    'components/postgres-64gb/size.yaml': [{ ...clusterHead, spec: sizeOf(64) }],
    'components/postgres-256gb/size.yaml': [{ ...clusterHead, spec: sizeOf(256) }],
    'base/processors.yaml': chains.map(processorOf).map(single),
    'base/migrate.yaml': [
      {
        ...headOf('batch/v1', 'Job', migrate),
        spec: {
          backoffLimit: 5,
          ttlSecondsAfterFinished: 86_400,
          template: podOf(migrate, { restartPolicy: 'Never' }),
        },
      },
    ],
    'base/servers.yaml': [single(enrichment), ...[api, graphql].flatMap(served)],
    'base/network-policy.yaml': policies(),
    ...(backfilled === undefined ? {} : { 'components/backfill/backfill.yaml': [indexedJob(backfilled)] }),
    'components/monitoring/rules.yaml': Object.entries(rules).map(([file, text]) => ({
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: basename(file, '.yaml') },
      spec: parse(text),
    })),
  }
  if (chainsFile !== undefined) {
    for (const { spec } of Object.values(objects).flat() as readonly Pod[]) mountChainsFile(spec?.template?.spec)
    objects['base/chains.yaml'] = [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'directory-chains' },
        data: { 'chains.json': chainsFile },
      },
    ]
  }
  return Object.fromEntries(Object.entries(objects).map(([path, made]) => [path, textOf(made, notice)]))
}

interface Pod {
  readonly spec?: { readonly template?: { readonly spec: ReturnType<typeof podOf>['spec'] } }
}

/** Where pods find the file that CHAINS_FILE names. */
export const chainsFilePath = '/etc/agent-directory/chains.json'

function mountChainsFile(pod: ReturnType<typeof podOf>['spec'] | undefined): void {
  for (const { volumeMounts } of pod?.containers ?? [])
    volumeMounts.push({ name: 'chains', mountPath: dirname(chainsFilePath), readOnly: true })
  pod?.volumes.push({ name: 'chains', configMap: { name: 'directory-chains' } })
}

function textOf(objects: readonly object[], notice: string): string {
  const bare = JSON.parse(JSON.stringify(objects)) as object[] // drops undefined fields
  // kubectl reads YAML 1.1, where a bare on or off is a boolean.
  const style = { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' } as const
  return `# ${notice}\n${bare.map((one) => stringify(one, style)).join('---\n')}`
}

/** Text of each file of deploy/monitoring/rules, by name. */
function readRuleFiles(): Record<string, string> {
  const folder = join(root, 'deploy/monitoring/rules')
  return Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
}

/** Settings in a file of deploy/postgres, by name. */
export function readPostgresSettings(name: string): Record<string, string> {
  const text = readFileSync(join(root, 'deploy/postgres', `${name}.conf`), 'utf8')
  const lines = text.matchAll(/^([\w.]+) = '?([^'#\n]*?)'?\s*(#.*)?$/gm)
  return Object.fromEntries([...lines].map(([, key, value]) => [key, value]))
}

/** Those settings without the ones the operator controls, and without huge pages, which a pod would have to reserve. */
function parametersOf(name: string): Record<string, string> {
  const { include, listen_addresses, shared_preload_libraries, huge_pages, ...rest } = readPostgresSettings(name)
  return rest
}

function sizeOf(gigabytes: keyof typeof postgresCores) {
  const memory = `${gigabytes}Gi`
  return {
    resources: { requests: { cpu: postgresCores[gigabytes], memory }, limits: { memory } },
    postgresql: { parameters: parametersOf(`${gigabytes}gb`) },
  }
}

/** A cluster of three servers; a synchronous commit waits for one standby, while one is available. */
function cluster(): object {
  const { resources, postgresql } = sizeOf(24)
  const database = { database: 'directory', owner: 'directory', encoding: 'UTF8' }
  return {
    ...clusterHead,
    spec: {
      instances: 3,
      imageName: 'ghcr.io/cloudnative-pg/postgresql:18',
      primaryUpdateStrategy: 'unsupervised',
      enablePDB: true,
      bootstrap: { initdb: { ...database, localeProvider: 'builtin', builtinLocale: 'C.UTF-8' } },
      storage: { size: postgresVolumes.data },
      walStorage: { size: postgresVolumes.log },
      affinity: { podAntiAffinityType: 'required', topologyKey: 'kubernetes.io/hostname' },
      resources,
      postgresql: {
        synchronous: { method: 'any', number: 1, dataDurability: 'preferred', failoverQuorum: true },
        shared_preload_libraries: readPostgresSettings('common').shared_preload_libraries?.split(','),
        parameters: { ...parametersOf('common'), ...postgresql.parameters, hot_standby_feedback: 'on' },
      },
    },
  }
}

/** A Deployment with one replica, never two at once: a second one would wait for the chain's lock or the lease. */
function single(process: Process): object {
  return {
    ...headOf('apps/v1', 'Deployment', process),
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: labelsOf(process) },
      template: podOf(process, {
        terminationGracePeriodSeconds: 40,
        // Pods leave an unreachable node after one minute instead of the default five.
        tolerations: ['unreachable', 'not-ready'].map((state) => ({
          key: `node.kubernetes.io/${state}`,
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: 60,
        })),
      }),
    },
  }
}

/** A Deployment without a fixed count of replicas, its Service and its PodDisruptionBudget. */
function served(process: Process): object[] {
  const spread = (topologyKey: string) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: labelsOf(process) },
    matchLabelKeys: ['pod-template-hash'],
  })
  const selector = { matchLabels: labelsOf(process) }
  return [
    {
      ...headOf('apps/v1', 'Deployment', process),
      spec: {
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } },
        selector,
        template: podOf(process, {
          terminationGracePeriodSeconds: 40,
          topologySpreadConstraints: ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map(spread),
        }),
      },
    },
    {
      ...headOf('v1', 'Service', process),
      spec: { selector: labelsOf(process), ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
    },
    {
      ...headOf('policy/v1', 'PodDisruptionBudget', process),
      spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector },
    },
  ]
}

/** The chain with most to load; undefined: none of these has settlements from before its registry. */
function backfilledChain(chains: readonly ChainName[]): ChainName | undefined {
  const hasHistory = (name: ChainName) => {
    const { tokens, registry } = chainOf(name)
    return tokens.some(({ fromBlock }) => fromBlock < registry.fromBlock)
  }
  return chains.includes(busiestChain) ? busiestChain : chains.find(hasHistory)
}

/**
 * A Job of one part per index, together all blocks from the first of the chain's tokens to the registry's: a part is
 * retried when its node goes away; a wrong range (exit code 2) fails it.
 */
function indexedJob(chain: ChainName): object {
  const template = podOf(backfill, { restartPolicy: 'Never' })
  const blocksEach = 1_000_000
  const { tokens, registry } = chainOf(chain)
  const firstPart = Math.floor(Math.min(...tokens.map(({ fromBlock }) => fromBlock)) / blocksEach)
  const env = [
    { name: 'CHAIN', value: chain },
    { name: 'FIRST_BLOCK', value: `${firstPart * blocksEach}` },
    { name: 'BLOCKS_EACH', value: `${blocksEach}` },
  ]
  template.spec.containers[0]!.env.push(...env)
  return {
    ...headOf('batch/v1', 'Job', backfill),
    spec: {
      completionMode: 'Indexed',
      completions: Math.ceil(registry.fromBlock / blocksEach) - firstPart,
      parallelism: 2, // at most half the cores of Postgres
      backoffLimitPerIndex: 5,
      maxFailedIndexes: 0,
      podReplacementPolicy: 'Failed',
      podFailurePolicy: {
        rules: [
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
          { action: 'FailJob', onExitCodes: { containerName: 'backfill', operator: 'In', values: [2] } },
        ],
      },
      template,
    },
  }
}

function headOf(apiVersion: string, kind: string, process: Process) {
  return { apiVersion, kind, metadata: { name: process.name, labels: labelsOf(process) } }
}

function labelsOf({ name, labels }: Process): Record<string, string> {
  return { app: name, ...partOf, ...labels }
}

function podOf(process: Process, more: object) {
  const { name, command, image = 'agent-directory', memory, cpu, port, runsOn, asksOut, secrets = [] } = process
  const probe = ({ path, ...often }: (typeof probes)[keyof typeof probes]) => ({
    httpGet: { path, port: 'metrics' },
    ...often,
  })
  const ports = [
    ...(port === undefined ? [] : [{ name: 'http', containerPort: port }]),
    ...(runsOn ? [{ name: 'metrics', containerPort: metricsPort }] : []),
  ]
  const container = {
    name,
    image,
    command,
    env: [{ name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'postgres-app', key: 'uri' } } }] as object[],
    envFrom: [{ configMapRef: { name: 'directory-settings' } }, ...secrets.map((secretRef) => ({ secretRef }))],
    ports,
    startupProbe: runsOn ? probe(probes.startup) : undefined,
    livenessProbe: runsOn ? probe(probes.liveness) : undefined,
    readinessProbe: runsOn ? probe(probes.readiness) : undefined,
    // Load balancers learn of a pod's end later than the pod: it serves on for ten seconds.
    lifecycle: port === undefined ? undefined : { preStop: { sleep: { seconds: 10 } } },
    resources: { requests: { cpu, memory: memory[0] }, limits: { memory: memory[1] } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }] as object[],
  }
  return {
    metadata: { labels: { ...labelsOf(process), ...(asksOut ? { egress: 'world' } : {}) } },
    spec: {
      ...more,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        fsGroup: 1000, // may write to volumes and read secrets
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [container],
      volumes: [{ name: 'tmp', emptyDir: {} }] as object[],
    },
  }
}

/** CIDR blocks of one address family that net/address.ts forbids, read from its source. */
export function forbiddenBlocks(list: 'special4' | 'special6'): string[] {
  const text = readFileSync(join(root, 'net/address.ts'), 'utf8')
  const own = new RegExp(`const ${list} = \\[([\\s\\S]*?)^\\]`, 'm').exec(text)?.[1] ?? ''
  return [...own.matchAll(/block\('([^']+)'/g)].map(([, cidr]) => cidr as string)
}

function policies(): object[] {
  const policy = (name: string, podSelector: object, rules: object) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name },
    spec: {
      podSelector,
      policyTypes: Object.keys(rules).map((word) => (word === 'egress' ? 'Egress' : 'Ingress')),
      ...rules,
    },
  })
  const tcp = (port: number | string) => ({ protocol: 'TCP', port })
  const ours = { matchLabels: partOf }
  const counted = { matchExpressions: [{ key: 'app', operator: 'In', values: ['api', 'graphql'] }] }
  const namespace = (name: string) => ({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } })
  const dns = { namespaceSelector: {}, podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } } }
  const cacheOfNode = { ipBlock: { cidr: '169.254.20.10/32' } } // NodeLocal DNSCache, which is no pod to policies
  const world = [
    { ipBlock: { cidr: '0.0.0.0/0', except: forbiddenBlocks('special4') } },
    { ipBlock: { cidr: '2000::/3', except: forbiddenBlocks('special6') } },
  ]
  const hubPorts = publicHubs.map(({ url }) => Number(new URL(url).port || 443))
  const worldPorts = [...new Set([443, ...agentPorts, ...hubPorts])].map(tcp)
  return [
    policy('nothing', ours, { ingress: [], egress: [] }),
    policy('names', ours, { egress: [{ to: [dns, cacheOfNode], ports: [{ protocol: 'UDP', port: 53 }, tcp(53)] }] }),
    policy('database', ours, {
      egress: [{ to: [{ podSelector: { matchLabels: { 'cnpg.io/cluster': 'postgres' } } }], ports: [tcp(5432)] }],
    }),
    policy('world', { matchLabels: { egress: 'world' } }, { egress: [{ to: world, ports: worldPorts }] }),
    policy('counters-asked', counted, {
      egress: [{ to: [{ podSelector: { matchLabels: { app: 'valkey' } } }], ports: [tcp(6379)] }],
    }),
    policy(
      'counters',
      { matchLabels: { app: 'valkey' } },
      { ingress: [{ from: [{ podSelector: counted }], ports: [tcp(6379)] }] },
    ),
    // Who reached them past the ingress could name any address as its own in X-Forwarded-For.
    policy('public', counted, { ingress: [{ from: [namespace('ingress-nginx')], ports: [tcp('http')] }] }),
    policy('metrics', ours, { ingress: [{ from: [namespace('monitoring')], ports: [tcp('metrics')] }] }),
  ]
}
