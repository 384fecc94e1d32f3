import { Gauge, type Registry } from 'prom-client'

/** Of this program, as package.json has it; both are written by `npm run release`. */
const version = '0.1.0'

/** Tells which program answers: `build_info{version, node}`, always 1. */
export function tellBuild(registry: Registry): void {
  const labels = { version, node: process.version }
  const help = 'Always 1; the labels say which program this is'
  new Gauge({ name: 'build_info', help, labelNames: Object.keys(labels), registers: [registry] }).set(labels, 1)
}
