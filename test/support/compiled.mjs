// @ts-check
// node --import <this file> <main>.ts: runs what compile.ts has compiled, in place of the loader's compiling it again.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const root = new URL('../../', import.meta.url).href
const cache = new URL('../../node_modules/.cache/compiled/', import.meta.url).href

registerHooks({
  load(url, context, next) {
    // A test may put another table of chains in the place of the project's.
    if (url === `${root}chains.config.ts` && process.env.TEST_CHAIN_TABLE) {
      const source = readFileSync(process.env.TEST_CHAIN_TABLE, 'utf8')
      return { format: 'module-typescript', source, shortCircuit: true }
    }
    if (!url.startsWith(root) || !url.endsWith('.ts') || url.includes('/node_modules/')) return next(url, context)
    const source = readFileSync(new URL(`${cache}${url.slice(root.length)}.js`), 'utf8')
    return { format: 'module', source, shortCircuit: true }
  },
})
