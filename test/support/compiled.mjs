// @ts-check
// node --import <this file> <main>.ts: runs what compile.ts has compiled, in place of the loader's compiling it again.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const root = new URL('../../', import.meta.url).href
const cache = new URL('../../node_modules/.cache/compiled/', import.meta.url).href

registerHooks({
  load(url, context, next) {
    if (!url.startsWith(root) || !url.endsWith('.ts') || url.includes('/node_modules/')) return next(url, context)
    const source = readFileSync(new URL(`${cache}${url.slice(root.length)}.js`), 'utf8')
    return { format: 'module', source, shortCircuit: true }
  },
})
