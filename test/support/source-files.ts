import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export interface SourceFile {
  /** Relative to the project. */
  readonly path: string
  /** First folder, or the file itself when it lies in the project's folder. */
  readonly room: string
  readonly text: string
  readonly tree: ts.SourceFile
  /** What it imports: project files relative to the project, packages by their names. */
  readonly imports: readonly string[]
}

let sources: Promise<SourceFile[]> | undefined

/** All TypeScript of the project that git knows or would add; read and parsed once a worker. */
export function readSources(): Promise<SourceFile[]> {
  sources ??= parseSources()
  return sources
}

async function parseSources(): Promise<SourceFile[]> {
  const files = listFiles().filter((path) => path.endsWith('.ts'))
  return Promise.all(
    files.map(async (path) => {
      const text = await readFile(join(root, path), 'utf8')
      const imports = ts
        .preProcessFile(text, true, true)
        .importedFiles.map(({ fileName }) =>
          fileName.startsWith('.') ? posix.normalize(`${dirname(path)}/${fileName}`) : fileName,
        )
      return {
        path,
        room: roomOf(path),
        text,
        tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true),
        imports,
      }
    }),
  )
}

/** Every file of the project that git knows or would add, relative to the project. */
export function listFiles(): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z']
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  const deleted = execFileSync('git', ['ls-files', '--deleted', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')
  return listed.split('\0').filter((path) => path && !deleted.includes(path))
}

export function roomOf(path: string): string {
  return path.split('/')[0] as string
}

/** `path:line` of every node for which `asks` is true. */
export function places(file: SourceFile, asks: (node: ts.Node) => boolean): string[] {
  const lineOf = (node: ts.Node) => file.tree.getLineAndCharacterOfPosition(node.getStart(file.tree)).line + 1
  return nodesOf(file)
    .filter(asks)
    .map((node) => `${file.path}:${lineOf(node)}`)
}

const nodes = new WeakMap<SourceFile, ts.Node[]>()

/** Every node of a file, each before its children. Cached, because some twenty tests go through all of them. */
function nodesOf(file: SourceFile): ts.Node[] {
  const known = nodes.get(file)
  if (known) return known
  const found: ts.Node[] = []
  const visit = (node: ts.Node) => {
    found.push(node)
    ts.forEachChild(node, visit)
  }
  visit(file.tree)
  nodes.set(file, found)
  return found
}

/** The text of a literal, or of a part of a template; empty for other nodes. */
export function textsOf(node: ts.Node): string[] {
  const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
  return isText ? [node.text] : []
}
