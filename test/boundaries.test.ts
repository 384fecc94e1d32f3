import { basename } from 'node:path'
import ts from 'typescript'
import { beforeAll, expect, test } from 'vitest'
import { listFiles, places, readSources, roomOf, type SourceFile } from './support/source-files.ts'

/** What each room may import, besides itself and packages. `ops/` holds no domain, and every room may use it. */
const mayImport: Record<string, string[]> = {
  'vitest.config.ts': [],
  ops: [],
  abi: [],
  postgres: ['ops'],
  hosts: ['ops'],
  transparency: [], // tree, tiles, notes of the log: it knows of no database
  trust: ['transparency'], // what can be checked offline: it knows of no host, no database and no setting
  net: ['ops'],
  config: ['net', 'ops'], // the tables that processes read: chains, limits, sources, settings
  db: ['abi', 'trust', 'transparency', 'config', 'postgres', 'ops'],
  social: ['abi', 'hosts', 'trust', 'ops'],
  processors: ['db', 'abi', 'hosts', 'config', 'ops'],
  derive: ['db', 'trust', 'transparency', 'config', 'ops'],
  enrichment: ['derive', 'db', 'abi', 'hosts', 'trust', 'transparency', 'social', 'net', 'config', 'ops'],
  // The package for readers tells how ids too large for a number are read; MCP answers in the same way.
  api: ['db', 'abi', 'hosts', 'trust', 'transparency', 'social', 'net', 'client', 'config', 'ops'],
  export: ['db', 'trust', 'processors', 'config', 'ops'], // what archives settlements proves them as a backfill does
  witness: ['client', 'transparency', 'ops'], // a reader of somebody else's log: it has no database
  claim: ['ops'], // a client: what it knows of the service it has been told over HTTP
  client: ['transparency'], // a package of its own, which has the form of the log in it
}
const product = [
  ...Object.keys(mayImport).filter((room) => !['vitest.config.ts', 'claim', 'client', 'witness'].includes(room)),
]
mayImport.stack = product
mayImport.devnet = [...product, 'stack']
mayImport.bench = [...product, 'stack', 'devnet', 'test', 'scripts']
mayImport.deploy = ['config', 'ops']
mayImport.test = [...product, 'stack', 'devnet', 'bench', 'claim', 'client', 'witness', 'deploy', 'scripts']

/** Tests of more than a room or of a part of one: the chain side as a whole, what data teams read, the house's files. */
const testRooms = ['chain', 'contract', 'doubles', 'fixtures', 'graphql', 'ground', 'house', 'pages', 'support']
const longestFile = 400 // lines; from 250 on, look for the second subject

let sources: SourceFile[]
beforeAll(async () => {
  sources = await readSources()
})

test('a room imports only the rooms below it', () => {
  const wrong = sources.flatMap(({ path, room, imports }) =>
    imports
      .filter((target) => listed().has(target))
      .filter((target) => roomOf(target) !== room && !mayImport[room]?.includes(roomOf(target)))
      .map((target) => `${path} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

test('every room is in the table of what it may import', () => {
  expect([...new Set(sources.map(({ room }) => room))].filter((room) => !mayImport[room])).toEqual([])
})

test('only the main of a process reads the environment, its arguments, or ends the process', () => {
  const reserved = ['env', 'argv', 'exit', 'exitCode', 'abort']
  const wrong = inRooms()
    .filter(({ path }) => !isMain(path) && path !== 'ops/cli.ts') // the command line that every main hands its work to
    .flatMap((file) =>
      places(
        file,
        (node) =>
          ts.isPropertyAccessExpression(node) &&
          ts.isIdentifier(node.expression) &&
          node.expression.text === 'process' &&
          reserved.includes(node.name.text),
      ),
    )
  expect(wrong).toEqual([])
})

test('importing a file that is not a main does nothing but define', () => {
  const wrong = inRooms()
    .filter(({ path }) => !isMain(path))
    .flatMap(({ path, tree }) =>
      tree.statements.filter((node) => !isDefinition(node)).map((node) => `${path}: ${node.getText(tree)}`),
    )
  expect(wrong).toEqual([])
})

test('a main is imported by nobody', () => {
  const wrong = sources.flatMap(({ path, imports }) =>
    imports.filter((target) => isMain(target) && listed().has(target)).map((target) => `${path} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

test('statements of SQL stand in db/ alone', () => {
  const statement =
    /^\s*(select\s[\s\S]*\sfrom\s|insert\s+into\s|delete\s+from\s|update\s+\w+\s+set\s|(create|alter|drop|truncate)\s+table\s)/i
  const wrong = inRooms()
    .filter(({ room }) => room !== 'db')
    .flatMap((file) =>
      places(
        file,
        (node) => (ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) && statement.test(`${node.text} `),
      ),
    )
  expect(wrong).toEqual([])
})

test('no file is longer than 400 lines unless it is generated', () => {
  const long = sources
    .filter(({ path }) => !isGenerated(path))
    .filter(({ text }) => text.trimEnd().split('\n').length > longestFile)
  expect(long.map(({ path }) => path)).toEqual([])
})

test('a file is named for a noun of the domain, not for being of help', () => {
  const vague = /(^|-)(utils|helpers|services|managers)(\.|$)/
  const own = listFiles().filter((path) => !path.startsWith('db/schema/directory/')) // named for their views
  const wrong = own.filter((path) => path.split('/').some((part) => vague.test(part)))
  expect(wrong).toEqual([])
})

test('no index file only passes on what others define', () => {
  expect(sources.map(({ path }) => path).filter((path) => basename(path) === 'index.ts' && !isGenerated(path))).toEqual(
    [],
  )
})

test('the folders of the tests mirror those of the sources', () => {
  const rooms = [...Object.keys(mayImport), ...testRooms]
  const wrong = sources
    .filter(({ room }) => room === 'test')
    .map(({ path }) => path.split('/'))
    .filter((parts) => parts.length > 2 && !rooms.includes(parts[1] as string))
  expect(wrong.map((parts) => parts.join('/'))).toEqual([])
})

let paths: Set<string>
function listed(): Set<string> {
  paths ??= new Set(listFiles())
  return paths
}

/** Files of the rooms, without tests and benchmarks, which may do as they need, and what tools generate. */
function inRooms(): SourceFile[] {
  return sources.filter(({ path, room }) => !['test', 'bench', 'vitest.config.ts'].includes(room) && !isGenerated(path))
}

function isMain(path: string): boolean {
  return /(^|\/)main\.ts$/.test(path) || ['api/graphql/main.ts', 'stack/main.ts'].includes(path)
}

function isGenerated(path: string): boolean {
  return path.startsWith('db/model/') || path.includes('/generated/')
}

function isDefinition(node: ts.Statement): boolean {
  if (ts.isVariableStatement(node)) return !awaits(node)
  return (
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isExportAssignment(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isModuleDeclaration(node)
  )
}

/** Whether it waits while the module is loaded; an await inside a function is no such wait. */
function awaits(node: ts.Node): boolean {
  if (ts.isFunctionLike(node)) return false
  return ts.isAwaitExpression(node) || ts.forEachChild(node, (child) => awaits(child) || undefined) === true
}
