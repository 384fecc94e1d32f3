import { existsSync, readFileSync } from 'node:fs'
import { Gauge, type Registry } from 'prom-client'

/** Of this program, as package.json has it; both are written by `npm run release`. */
const version = '0.1.0'

/** Where `npm run build` notes the commit that it compiled; there is none beside the sources. */
const noted = new URL('../commit', import.meta.url)

/** Tells which program answers: `build_info{version, commit, node}`, always 1; `commit` is empty where none was noted. */
export function tellBuild(registry: Registry): void {
  const commit = existsSync(noted) ? readFileSync(noted, 'utf8').trim() : ''
  const labels = { version, commit, node: process.version }
  const help = 'Always 1; the labels say which program this is'
  new Gauge({ name: 'build_info', help, labelNames: Object.keys(labels), registers: [registry] }).set(labels, 1)
}
