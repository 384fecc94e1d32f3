import { readFileSync, statSync } from 'node:fs'
import { mkdir, readFile, rename, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import type { TestProject } from 'vitest/node'
import { onceARun } from '../once-a-run.ts'
import { listFiles, root } from '../source-files.ts'
import { bundle } from './bundle.ts'

const cache = fileURLToPath(new URL('../../../node_modules/.cache/compiled/', import.meta.url))

/** Runs before the first test, and before tests run again because a file was changed. */
export default async function setup(project: TestProject): Promise<void> {
  await onceARun('compiled sources', compileSources)
  project.onTestsRerun(compileSources)
}

/** Compiles what has changed since it was compiled last, file by file, for loader.mjs to find, and bundles it. */
async function compileSources(): Promise<void> {
  const project = join(root, 'tsconfig.json')
  const options = {
    loader: 'ts',
    tsconfigRaw: await readFile(project, 'utf8'),
    sourcemap: 'inline',
    keepNames: true, // entities and errors are identified by their class names
  } as const
  const paths = listFiles().filter(isSource)
  const versions: string[] = []
  const compileOne = async (path: string) => {
    const source = join(root, path)
    const compiled = compiledOf(path)
    const of = new Date(Math.max(changedAt(source), changedAt(project)))
    versions.push(`${path} ${of.getTime()}`)
    if (changedAt(compiled) === of.getTime()) return
    const { code } = await transform(await readFile(source, 'utf8'), { ...options, sourcefile: source })
    await mkdir(dirname(compiled), { recursive: true })
    await writeFile(`${compiled}.${process.pid}`, code)
    // Not the time of writing: a source changed meanwhile has to be compiled again.
    await utimes(`${compiled}.${process.pid}`, of, of)
    await rename(`${compiled}.${process.pid}`, compiled) // another run may be reading it
  }
  await Promise.all(paths.map(compileOne))
  await bundle({
    mains: paths.filter(isMain),
    version: versions.join('\n'),
    read: (path) => readFileSync(compiledOf(path), 'utf8'),
  })
}

const compiledOf = (path: string) => `${cache}${path}.js`

/** Milliseconds since 1970; 0: there is no such file. */
function changedAt(file: string): number {
  return Math.floor(statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0)
}

/** Whether a file is the entry of a process; those of benchmarks do not count. */
function isMain(path: string): boolean {
  return path.endsWith('/main.ts') && !path.startsWith('bench/')
}

/** Whether a file may run in a process; doubles may, tests do not. */
function isSource(path: string): boolean {
  return path.endsWith('.ts') && !path.endsWith('.d.ts') && !path.endsWith('.test.ts')
}
