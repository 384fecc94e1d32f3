import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { readSources, root } from './source-files.ts'

export interface Setting {
  readonly name: string
  /** What .env.example shows as its default; empty: unset. */
  readonly value: string
  /** The comment above it. */
  readonly text: string
  readonly readers: readonly string[]
}

/** The variables of .env.example. Lines that follow each other share the comment above the first. */
export function readExample(): Setting[] {
  const settings: Setting[] = []
  let comment: string[] = []
  let begun = false // whether the comment's variables have begun
  for (const line of readFileSync(join(root, '.env.example'), 'utf8').split('\n')) {
    const variable = line.match(/^#?([A-Z][A-Z0-9_]*)=(.*)$/)
    if (variable) {
      const text = comment.join(' ')
      const readers = text.match(/Read by: ([\w, .-]+)\.$/)?.[1]?.split(', ') ?? []
      settings.push({ name: variable[1] as string, value: variable[2] as string, text, readers })
      begun = true
    } else {
      if (begun || line === '') comment = []
      begun = false
      if (line.startsWith('# ')) comment.push(line.slice(2))
    }
  }
  return settings
}

/** Names of the variables that the code of a room reads, be it by `env.NAME` or as a key of its table of variables. */
export async function readVariables(): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>()
  for (const { path, room, tree } of await readSources()) {
    if (['test', 'bench'].includes(room)) continue
    const note = (name: string) => {
      if (/^[A-Z][A-Z0-9_]*$/.test(name)) found.set(name, (found.get(name) ?? new Set()).add(room))
    }
    const visit = (node: ts.Node) => {
      if (ts.isPropertyAccessExpression(node) && /(^|\.)env$/.test(node.expression.getText(tree))) note(node.name.text)
      if (/(^|\/)config\.ts$/.test(path) && ts.isPropertyAssignment(node)) note(node.name.getText(tree))
      // The chain table names its variables, and chains.file.ts asks for them by their names.
      if (path.startsWith('chains.') && ts.isStringLiteral(node) && node.text.includes('_')) note(node.text)
      ts.forEachChild(node, visit)
    }
    visit(tree)
  }
  return found
}
