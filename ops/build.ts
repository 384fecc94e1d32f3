import { existsSync, readFileSync } from 'node:fs'
import type { Registry } from 'prom-client'
import { Gauge } from './metrics.ts'

/** Version of this program, the same as in package.json; `npm run release` writes both. */
const version = '0.1.0'

/** File with the commit that `npm run build` compiled; absent when run from the sources. */
const noted = new URL('../commit', import.meta.url)

/** Registers `agent_directory_build_info{version, commit, node}`, always 1; `commit` is empty where it is unknown. */
export function tellBuild(registry: Registry): void {
  const commit = existsSync(noted) ? readFileSync(noted, 'utf8').trim() : ''
  const labels = { version, commit, node: process.version }
  const help = 'Always 1; the labels say which program this is'
  new Gauge({ name: 'agent_directory_build_info', help, labelNames: Object.keys(labels), registers: [registry] }).set(
    labels,
    1,
  )
}
