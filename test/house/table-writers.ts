import ts from 'typescript'
import { roomOf, type SourceFile } from '../support/source-files.ts'

/** A top-level declaration: the tables that its SQL writes, and all identifiers in it. */
interface Declaration {
  readonly tables: ReadonlySet<string>
  readonly names: ReadonlySet<string>
}

const writes = /\b(?:insert\s+into|delete\s+from|truncate(?:\s+table)?|copy|update(?!\s+set\b)|merge\s+into)\s+(\w+)/gi

/** Rooms whose files run in the processes of another. */
const partOf: Record<string, string> = { derive: 'enrichment' }

/**
 * The rooms that write each table. A room does when one of its files imports a function of `db/queries` with a writing
 * statement, in it or in a declaration it reaches. Not seen: table names put together at run time and writes by
 * libraries; `known` lists those, as tables by room. `except`: paths of files to skip.
 */
export function tableWriters(
  sources: readonly SourceFile[],
  { known = {}, except = [] }: { known?: Readonly<Record<string, readonly string[]>>; except?: readonly string[] },
): Map<string, Set<string>> {
  const queries = new Map(
    sources.filter(({ path }) => path.startsWith('db/queries/')).map((file) => [file.path, read(file)]),
  )
  const writers = new Map<string, Set<string>>()
  const note = (table: string, room: string) => writers.set(table, (writers.get(table) ?? new Set()).add(room))
  for (const [room, tables] of Object.entries(known)) for (const table of tables) note(table, room)
  for (const file of sources) {
    if (['db', 'test', 'bench', 'devnet'].includes(roomOf(file.path)) || except.includes(file.path)) continue
    for (const [, from, name] of importsOf(file)) {
      for (const table of tablesOf(queries, from, name, new Set())) note(table, partOf[file.room] ?? file.room)
    }
  }
  return writers
}

interface Read {
  readonly declarations: ReadonlyMap<string, Declaration>
  /** Imports as `[local name, file, name in that file]`. */
  readonly imports: readonly (readonly [string, string, string])[]
}

function read(file: SourceFile): Read {
  const declarations = new Map<string, Declaration>()
  for (const statement of file.tree.statements) {
    const tables = new Set<string>()
    const names = new Set<string>()
    const visit = (node: ts.Node) => {
      if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
        for (const [, table] of node.text.matchAll(writes)) tables.add((table as string).toLowerCase())
      }
      if (ts.isIdentifier(node)) names.add(node.text)
      ts.forEachChild(node, visit)
    }
    visit(statement)
    for (const name of declared(statement)) declarations.set(name, { tables, names })
  }
  return { declarations, imports: importsOf(file) }
}

function declared(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? name.text : []))
  }
  const named = ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)
  return named && statement.name ? [statement.name.text] : []
}

function importsOf({ tree, imports, path }: SourceFile): (readonly [string, string, string])[] {
  return tree.statements.filter(ts.isImportDeclaration).flatMap(({ importClause, moduleSpecifier }) => {
    const written = (moduleSpecifier as ts.StringLiteral).text
    const folder = path.split('/').slice(0, -1).join('/')
    const target = new URL(written, `file:///${folder}/`).pathname.slice(1)
    const bindings = importClause?.namedBindings
    if (!written.startsWith('.') || !imports.includes(target) || !bindings || !ts.isNamedImports(bindings)) return []
    return bindings.elements.map(({ name, propertyName }) => [name.text, target, (propertyName ?? name).text] as const)
  })
}

function tablesOf(queries: ReadonlyMap<string, Read>, path: string, name: string, seen: Set<string>): string[] {
  const file = queries.get(path)
  const declaration = file?.declarations.get(name)
  if (!file || !declaration || seen.has(`${path} ${name}`)) return []
  seen.add(`${path} ${name}`)
  const imported = new Map(file.imports.map(([local, from, there]) => [local, [from, there] as const]))
  const others = [...declaration.names].flatMap((other) => {
    const [from, there] = imported.get(other) ?? [path, other]
    return tablesOf(queries, from, there, seen)
  })
  return [...declaration.tables, ...others]
}
