import { posix } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { places, readSources, type SourceFile } from '../support/source-files.ts'

/** Files whose exports are used by tools or by generated code, not by the project's own. */
const outside = /^(vitest\.config\.ts|abi\/generated\/|client\/generated\/|db\/model\/)/

/** Rooms that check what the others do: what they alone import does not run. */
const checking = ['test', 'bench']
/** Rooms whose exports are there for tests as well: the local world, and what files for Kubernetes are written from. */
const forChecks = [...checking, 'devnet', 'deploy']

/** Exports that tests and benchmarks alone import, each with why it does not stand there. */
const others = [
  'api/schemas/error.ts errorBody', // the union of what openapi.json has one by one
  'client/client.ts verifySigned', // of the package's entry: its users import it
]

test('what a file exports, a type too, another file uses: tests alone only what its own file uses as well', async () => {
  const sources = await readSources()
  const used = new Set(sources.flatMap(importsOf))
  const usedByProduct = new Set(sources.filter(({ room }) => !checking.includes(room)).flatMap(importsOf))
  const dead = sources
    .filter(({ path }) => !outside.test(path))
    .flatMap((file) =>
      exportsOf(file)
        .filter((name) => {
          const users = forChecks.includes(file.room) || usesItself(file, name) ? used : usedByProduct
          return !users.has(`${file.path} ${name}`) && !users.has(`${file.path} *`)
        })
        .map((name) => `${file.path} ${name}`),
    )
  expect(dead.toSorted()).toEqual(others)
})

/** Whether a file names what it exports in a second place. */
function usesItself(file: SourceFile, name: string): boolean {
  return places(file, (node) => ts.isIdentifier(node) && node.text === name).length > 1
}

function exportsOf({ tree }: SourceFile): string[] {
  return tree.statements.flatMap((node) => {
    if (ts.isExportDeclaration(node) && node.exportClause && ts.isNamedExports(node.exportClause)) {
      return node.exportClause.elements.map(({ name }) => name.text)
    }
    if (!ts.canHaveModifiers(node)) return []
    const words = ts.getModifiers(node)?.map(({ kind }) => kind) ?? []
    if (!words.includes(ts.SyntaxKind.ExportKeyword) || words.includes(ts.SyntaxKind.DefaultKeyword)) return []
    if (ts.isVariableStatement(node)) return node.declarationList.declarations.flatMap(({ name }) => namesOf(name))
    return 'name' in node && node.name ? [(node.name as ts.Identifier).text] : []
  })
}

function namesOf(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text]
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? namesOf(element.name) : []))
}

/** What a file imports from other files of the project, as `path name`; `path *` for the whole module. */
function importsOf({ path, tree }: SourceFile): string[] {
  const found: string[] = []
  const add = (specifier: ts.Expression | undefined, names: readonly string[]) => {
    if (!specifier || !ts.isStringLiteralLike(specifier) || !specifier.text.startsWith('.')) return
    const target = posix.normalize(`${posix.dirname(path)}/${specifier.text}`)
    found.push(...names.map((name) => `${target} ${name}`))
  }
  const visit = (node: ts.Node) => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, namesTaken(node.importClause?.namedBindings))
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, namesTaken(node.exportClause))
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, ['*'])
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], ['*'])
    } else if (ts.isNewExpression(node) && node.expression.getText(tree) === 'URL') add(node.arguments?.[0], ['*'])
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

function namesTaken(clause: ts.NamedImportBindings | ts.NamedExportBindings | undefined): string[] {
  if (!clause || !(ts.isNamedImports(clause) || ts.isNamedExports(clause))) return ['*']
  return clause.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
}
