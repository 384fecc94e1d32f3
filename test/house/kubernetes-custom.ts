/**
 * Custom resources as far as our manifests use them, and nothing more: a field that is not here is looked up first. The
 * schemas themselves are in no package of npm or Debian.
 *
 * Cluster: CloudNativePG 1.28 and later, https://cloudnative-pg.io/docs/current/cloudnative-pg.v1/
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

/** Fields that our patches of a Cluster change. */
export interface ClusterPatch extends Named<'postgresql.cnpg.io/v1', 'Cluster'> {
  readonly spec: {
    readonly resources?: Resources
    readonly postgresql?: PostgresConfiguration
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
