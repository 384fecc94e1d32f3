import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { root } from '../source-files.ts'

// A main and its imports are one to two thousand files, and finding and reading them is most of the cost of a start.
// Bundled into a few files without unused code, a start costs half. loader.mjs finds the bundles by `mains.json`.

const folder = fileURLToPath(new URL('../../../node_modules/.cache/bundled/', import.meta.url))
/** Milliseconds to keep bundles of other sources, which a concurrent run may still use. */
const keptMs = 3_600_000

/** Packages that are not bundled, because they find their own files by their location. */
const unbundled = /^(pg|pg-copy-streams|pino|graphql|postgraphile|tsx|@duckdb\/|@resvg\/|@expo-google-fonts\/)/

interface Compiled {
  /** Source files that processes are started with, relative to the project. */
  readonly mains: readonly string[]
  /** Differs when a source does. */
  readonly version: string
  /** Reads the compiled text of a source. */
  readonly read: (path: string) => string
}

/** Bundles the mains with their packages, once for what was compiled. */
export async function bundle({ mains, version, read }: Compiled): Promise<void> {
  const made = [join(root, 'package-lock.json'), fileURLToPath(import.meta.url)].map((file) => readFileSync(file))
  const hash = createHash('sha256').update(version)
  for (const content of made) hash.update(content)
  const name = hash.digest('hex').slice(0, 16)
  const place = join(folder, name)
  if (!statSync(place, { throwIfNoEntry: false })) {
    // Renamed when it is whole: a run next to this one may make the same.
    const draft = `${place}.${process.pid}`
    await buildInto(draft, { mains, read })
    try {
      renameSync(draft, place)
    } catch {
      rmSync(draft, { recursive: true })
    }
  }
  const urlOf = (file: string) => pathToFileURL(file).href
  const found = mains.map((main) => [urlOf(join(root, main)), urlOf(join(place, main.replace(/\.ts$/, '.mjs')))])
  writeFileSync(`${place}.json`, JSON.stringify(Object.fromEntries(found)))
  renameSync(`${place}.json`, join(folder, 'mains.json'))
  for (const other of readdirSync(folder)) {
    const age = Date.now() - (statSync(join(folder, other), { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (other !== name && age > keptMs) rmSync(join(folder, other), { recursive: true, force: true })
  }
}

async function buildInto(outdir: string, { mains, read }: Pick<Compiled, 'mains' | 'read'>) {
  mkdirSync(outdir, { recursive: true })
  const besides: Plugin = {
    name: 'what is not bundled is imported from where it lies',
    setup(builder) {
      builder.onResolve({ filter: unbundled }, async ({ path, importer, resolveDir, kind, pluginData }) => {
        if (pluginData === 'asked') return
        const found = await builder.resolve(path, { importer, resolveDir, kind, pluginData: 'asked' })
        return { path: found.errors.length > 0 ? path : found.path, external: true }
      })
    },
  }
  const sources: Plugin = {
    name: 'a source is what was compiled of it, and finds files by where it lies',
    setup(builder) {
      builder.onLoad({ filter: /\.(ts|mjs)$/ }, ({ path }) => {
        if (path.includes('/node_modules/')) return
        const text = path.endsWith('.ts') ? read(path.slice(root.length)) : readFileSync(path, 'utf8')
        const contents = text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        return { contents, resolveDir: dirname(path), loader: 'js' }
      })
    },
  }
  const places: Plugin = {
    name: 'a package finds files by where it lies, too',
    setup(builder) {
      builder.onLoad({ filter: /node_modules.*\.c?js$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8')
        if (!/\b__(dir|file)name\b/.test(text)) return
        const named = text.replaceAll(/\b__dirname\b/g, JSON.stringify(dirname(path)))
        return { contents: named.replaceAll(/\b__filename\b/g, JSON.stringify(path)), loader: 'js' }
      })
    },
  }
  await build({
    entryPoints: mains.map((main) => join(root, main)),
    outbase: root,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    mainFields: ['main'],
    keepNames: true, // entities and errors are identified by their class names
    logLevel: 'error',
    plugins: [besides, sources, places],
    // Gives the bundled CommonJS modules a `require`.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
  })
}
