import { dirname } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { listFiles, readSources, type SourceFile } from '../support/source-files.ts'

/** Most files directly in a folder: as many as a reader takes in at a glance. */
const mostFiles = 20
/** Folders with more, how many, and why. */
const larger: Record<string, { files: number; why: string }> = {
  'api/http': { files: 21, why: 'what every route shares' },
}

test('no folder has more files of one level than one look takes in', () => {
  const counts = new Map<string, number>()
  for (const path of listFiles().filter((one) => !isData(one))) {
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  }
  const wrong = [...counts].filter(([folder, files]) => files > (larger[folder]?.files ?? mostFiles))
  expect(wrong).toEqual([])
})

/** Whether a file is exempt: recordings, generated files and migrations are looked up by name. */
function isData(path: string): boolean {
  return /^(test\/fixtures|db\/migrations|db\/model)\//.test(path) || path.includes('/generated/')
}

/** Folders of requests or answers that read no rows, and why. */
const withoutQueries: Record<string, string> = {
  reference: 'errors and changes of the API itself, which are tables in code',
}

test('what is asked about has the same folder name in routes, schemas and queries', () => {
  const files = listFiles()
  const inside = (room: string) => {
    const paths = files.filter((path) => path.startsWith(room)).map((path) => path.slice(room.length))
    return [...new Set(paths.map((path) => path.split('/')[0] as string))]
  }
  const routes = inside('api/routes/')
  const schemas = inside('api/schemas/').filter((name) => !name.endsWith('.ts')) // what all answers share
  const queries = inside('db/queries/')
  expect(routes.filter((noun) => !queries.includes(noun))).toEqual(Object.keys(withoutQueries))
  expect(schemas.filter((noun) => !routes.includes(noun))).toEqual([])
})

/** Most lines of a function, from its name to its closing brace: what fits on a screen. */
const mostLines = 60

/** Rooms whose functions may be longer: a test's body tells one story, and a world is set up in one go. */
const exempt = /^(test|bench|devnet)$/

test('no function is longer than a screen', async () => {
  const found = (await readSources()).filter(({ room }) => !exempt.test(room)).flatMap(longFunctions)
  expect(found).toEqual([])
})

/** `path name` of every function of a file that is too long. */
function longFunctions({ path, tree }: SourceFile): string[] {
  const found: string[] = []
  const lineOf = (position: number) => tree.getLineAndCharacterOfPosition(position).line
  const visit = (node: ts.Node) => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const lines = lineOf(node.end) - lineOf(node.getStart(tree)) + 1
      if (lines > mostLines) found.push(`${path} ${nameOf(node)}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

function nameOf(node: ts.SignatureDeclaration): string {
  const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined)
  return named?.getText() ?? 'without a name'
}
