import { mkdirSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import type { TestProject } from 'vitest/node'
import { listFiles, root } from './source-files.ts'

const cache = fileURLToPath(new URL('../../node_modules/.cache/compiled/', import.meta.url))

/** Before the first test, and before tests run again because a file was changed. */
export default function setup(project: TestProject): void {
  compileSources()
  project.onTestsRerun(compileSources)
}

/** Compiles what has changed since it was compiled last, file by file, for compiled.mjs to find. */
function compileSources(): void {
  const project = join(root, 'tsconfig.json')
  const { config } = ts.readConfigFile(project, ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root)
  for (const path of listFiles().filter(isSource)) {
    const source = join(root, path)
    const compiled = `${cache}${path}.js`
    const of = new Date(Math.max(changedAt(source), changedAt(project)))
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
    // Not the time of writing: what is changed meanwhile has to be compiled again.
    utimesSync(`${compiled}.${process.pid}`, of, of)
    renameSync(`${compiled}.${process.pid}`, compiled) // another run may be reading it
  }
}

/** Milliseconds since 1970; 0: there is no such file. */
function changedAt(file: string): number {
  return Math.floor(statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0)
}

/** Some doubles run in processes of their own; tests do not. */
function isSource(path: string): boolean {
  return path.endsWith('.ts') && !path.endsWith('.d.ts') && !path.endsWith('.test.ts')
}
