import { mkdirSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
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
  const { config } = ts.readConfigFile(project, ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root)
  const paths = listFiles().filter(isSource)
  const versions: string[] = []
  for (const path of paths) {
    const source = join(root, path)
    const compiled = compiledOf(path)
    const of = new Date(Math.max(changedAt(source), changedAt(project)))
    versions.push(`${path} ${of.getTime()}`)
    if (changedAt(compiled) === of.getTime()) continue
    const { outputText } = ts.transpileModule(readFileSync(source, 'utf8'), {
      fileName: source,
      compilerOptions: {
        ...options,
        module: ts.ModuleKind.ESNext,
        noEmit: false,
        rewriteRelativeImportExtensions: false,
        inlineSourceMap: true,
      },
    })
    mkdirSync(dirname(compiled), { recursive: true })
    writeFileSync(`${compiled}.${process.pid}`, outputText)
    // Not the time of writing: a source changed meanwhile has to be compiled again.
    utimesSync(`${compiled}.${process.pid}`, of, of)
    renameSync(`${compiled}.${process.pid}`, compiled) // another run may be reading it
  }
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
