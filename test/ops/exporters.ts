import { labelsOfTargets, type Series } from './metrics.ts'

type Labels = Readonly<Record<string, readonly string[]>>

const ofFiles = ['device', 'fstype', 'mountpoint']
const ofVolumes = ['namespace', 'persistentvolumeclaim']

/** Series of postgres_exporter that 0.11, which Debian 12 has, does not report, or with fewer labels; 0.15 does. */
const sinceDebian: Labels = {
  pg_database_wraparound_age_datfrozenxid_seconds: ['datname'],
  pg_replication_slots_pg_wal_lsn_diff: ['slot_name', 'slot_type'],
}

/** Labels by series that rules and dashboards read, by the exporter; tests run these three as Debian packages them. */
export const debianExporters = {
  postgres: {
    pg_up: [],
    pg_stat_activity_count: ['datname', 'state'],
    pg_stat_activity_max_tx_duration: ['datname', 'state'],
    pg_settings_max_connections: [],
    pg_stat_archiver_archived_count: [],
    pg_stat_archiver_failed_count: [],
    pg_replication_lag_seconds: [],
  },
  node: {
    node_filesystem_avail_bytes: ofFiles,
    node_filesystem_size_bytes: ofFiles,
  },
  redis: {
    redis_up: [],
    redis_memory_used_bytes: [],
    redis_memory_max_bytes: [],
    redis_evicted_keys_total: [],
  },
} satisfies Record<string, Labels>

/** The same of CloudNativePG and the kubelet, which no test runs. Source: their documentation. */
const kubernetes: Labels = {
  cnpg_collector_up: ['cluster'],
  cnpg_backends_total: ['datname', 'state'],
  cnpg_backends_max_tx_duration_seconds: ['datname', 'state'],
  cnpg_pg_settings_setting: ['name'],
  cnpg_pg_database_xid_age: ['datname'],
  cnpg_pg_stat_archiver_last_archived_time: [],
  cnpg_pg_stat_archiver_last_failed_time: [],
  cnpg_pg_replication_slots_pg_wal_lsn_diff: ['slot_name', 'slot_type'],
  cnpg_pg_replication_lag: [],
  barman_cloud_cloudnative_pg_io_last_available_backup_timestamp: [],
  kubelet_volume_stats_available_bytes: ofVolumes,
  kubelet_volume_stats_capacity_bytes: ofVolumes,
}

/** Series that rules and dashboards may read from third-party exporters. */
export function seriesOfExporters(): Series {
  const { postgres, node, redis } = debianExporters
  const all = Object.entries({ ...postgres, ...node, ...redis, ...sinceDebian, ...kubernetes })
  return new Map(all.map(([name, labels]) => [name, [...labels, ...labelsOfTargets]]))
}
