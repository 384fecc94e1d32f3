/**
 * Custom resources as far as our manifests use them, and nothing more: a field that is not here is looked up first. The
 * schemas themselves are in no package of npm or Debian.
 *
 * Cluster, ScheduledBackup: CloudNativePG 1.28 and later, https://cloudnative-pg.io/docs/current/cloudnative-pg.v1/
 * ObjectStore: its Barman Cloud plugin, https://cloudnative-pg.io/plugin-barman-cloud/docs/plugin-barman-cloud.v1/
 * PodMonitor, PrometheusRule: https://prometheus-operator.dev/docs/api-reference/api/
 */

interface Named<ApiVersion extends string, Kind extends string> {
  readonly apiVersion: ApiVersion
  readonly kind: Kind
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
}

/** A quantity of Kubernetes: `500m`, `24Gi`. */
type Quantity = `${number}` | `${number}${'m' | 'Ki' | 'Mi' | 'Gi' | 'Ti'}`
/** A duration of Go in a single unit, without fractions: `15s`. */
type Duration = `${bigint}${'s' | 'm' | 'h' | 'd'}`

interface Resources {
  readonly requests?: { readonly cpu?: Quantity; readonly memory?: Quantity }
  readonly limits?: { readonly cpu?: Quantity; readonly memory?: Quantity }
}

interface PostgresConfiguration {
  /** Settings of Postgres by name; numbers and booleans are strings too. */
  readonly parameters?: Readonly<Record<string, string>>
  readonly shared_preload_libraries?: readonly string[]
  readonly synchronous?: {
    readonly method: 'any' | 'first'
    readonly number: number
    readonly dataDurability?: 'required' | 'preferred'
    readonly failoverQuorum?: boolean
  }
}

interface Plugin {
  readonly name: 'barman-cloud.cloudnative-pg.io'
  readonly isWALArchiver?: boolean
  readonly parameters?: { readonly barmanObjectName: string }
}

/** Fields that our patches of a Cluster change. */
export interface ClusterPatch extends Named<'postgresql.cnpg.io/v1', 'Cluster'> {
  readonly spec: {
    readonly resources?: Resources
    readonly postgresql?: PostgresConfiguration
    readonly plugins?: readonly Plugin[]
  }
}

/** A Cluster: its required fields, and the optional ones that ours set. */
export interface Cluster extends Named<'postgresql.cnpg.io/v1', 'Cluster'> {
  readonly spec: {
    readonly instances: number
    readonly imageName?: string
    readonly primaryUpdateStrategy?: 'unsupervised' | 'supervised'
    readonly enablePDB?: boolean
    readonly bootstrap?: {
      readonly initdb: {
        readonly database: string
        readonly owner: string
        readonly encoding?: string
        readonly localeProvider?: 'builtin' | 'icu' | 'libc'
        readonly builtinLocale?: string
      }
    }
    readonly storage: { readonly size: Quantity; readonly storageClass?: string }
    readonly walStorage?: { readonly size: Quantity; readonly storageClass?: string }
    readonly affinity?: {
      readonly podAntiAffinityType?: 'required' | 'preferred'
      readonly topologyKey?: string
    }
    readonly resources?: Resources
    readonly postgresql?: PostgresConfiguration
  }
}

export interface ScheduledBackup extends Named<'postgresql.cnpg.io/v1', 'ScheduledBackup'> {
  readonly spec: {
    /** Six fields: second, minute, hour, day of the month, month, day of the week. */
    readonly schedule: `${string} ${string} ${string} ${string} ${string} ${string}`
    readonly immediate?: boolean
    readonly backupOwnerReference?: 'none' | 'self' | 'cluster'
    readonly cluster: { readonly name: string }
    readonly method?: 'plugin' | 'volumeSnapshot'
    readonly pluginConfiguration?: Pick<Plugin, 'name'>
  }
}

interface SecretKey {
  readonly name: string
  readonly key: string
}

export interface ObjectStore extends Named<'barmancloud.cnpg.io/v1', 'ObjectStore'> {
  readonly spec: {
    readonly retentionPolicy?: `${bigint}${'d' | 'w' | 'm'}`
    readonly configuration: {
      readonly destinationPath: string
      readonly endpointURL?: string
      readonly s3Credentials?: { readonly accessKeyId: SecretKey; readonly secretAccessKey: SecretKey }
      readonly wal?: { readonly compression?: 'gzip' | 'zstd' }
      readonly data?: { readonly compression?: 'gzip'; readonly jobs?: number }
    }
  }
}

export interface PodMonitor extends Named<'monitoring.coreos.com/v1', 'PodMonitor'> {
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly podMetricsEndpoints: readonly {
      readonly port: string
      readonly path?: string
      readonly interval?: Duration
    }[]
  }
}

interface Expression {
  readonly expr: string
  readonly labels?: Readonly<Record<string, string>>
}

export interface PrometheusRule extends Named<'monitoring.coreos.com/v1', 'PrometheusRule'> {
  readonly spec: {
    readonly groups: readonly {
      readonly name: string
      readonly interval?: Duration
      readonly rules: readonly (
        | (Expression & { readonly record: string })
        | (Expression & {
            readonly alert: string
            readonly for?: Duration
            readonly keep_firing_for?: Duration
            readonly annotations?: Readonly<Record<string, string>>
          })
      )[]
    }[]
  }
}
