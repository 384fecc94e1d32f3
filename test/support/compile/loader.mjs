// @ts-check
// node --import <this file> <main>.ts: runs what sources.ts and bundle.ts have made, in place of the loader's compiling
// it again.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const root = new URL('../../../', import.meta.url).href
const cache = new URL('../../../node_modules/.cache/compiled/', import.meta.url).href
/** @type {Record<string, string>} */
const mains = JSON.parse(
  readFileSync(new URL('../../../node_modules/.cache/bundled/mains.json', import.meta.url), 'utf8'),
)
/** Path of a chain table that a test uses in place of the project's. */
const chainTable = process.env.TEST_CHAIN_TABLE

registerHooks({
  resolve(specifier, context, next) {
    const url = chainTable === undefined ? mains[specifier] : undefined
    return url ? { url, format: 'module', shortCircuit: true } : next(specifier, context)
  },
  load(url, context, next) {
    if (url === `${root}config/chains.ts` && chainTable) {
      return { format: 'module-typescript', source: readFileSync(chainTable, 'utf8'), shortCircuit: true }
    }
    if (!url.startsWith(root) || !url.endsWith('.ts') || url.includes('/node_modules/')) return next(url, context)
    const source = readFileSync(new URL(`${cache}${url.slice(root.length)}.js`), 'utf8')
    return { format: 'module', source, shortCircuit: true }
  },
})
