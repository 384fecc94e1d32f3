import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../../api/config.ts'
import { chainNames, chainOf } from '../../config/chains.ts'
import { root } from '../support/source-files.ts'
import { elsewhere, elsewhereOf, indentedCommands, otherFences, printedCommands, walked } from './printed-commands.ts'

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...[
    'chains',
    'claiming',
    'endpoints',
    'for-subsquid-users',
    'graphql',
    'indexing',
    'install',
    'running',
    'settings',
  ].map((name) => `docs/${name}.md`),
]
const { scripts } = JSON.parse(read('package.json'))
const { paths } = JSON.parse(read('openapi.json'))
const commands = printedCommands.filter(({ file }) => documents.includes(file))

test('there are commands to look at', () => {
  expect(commands.length).toBeGreaterThan(15)
})

test.for(commands)('$file: $command', ({ command }) => {
  expect(problemOf(command)).toBeUndefined()
})

test('each printed command is run as it stands, or named with what runs it elsewhere and why', () => {
  const isKnown = (command: string) => walked.includes(command) !== (elsewhereOf(command) !== undefined)
  expect(printedCommands.filter(({ command }) => !isKnown(command))).toEqual([])
  const printed = printedCommands.map(({ command }) => command)
  expect(walked.filter((command) => !printed.includes(command))).toEqual([])
  expect(elsewhere.filter((one) => !printed.some((command) => one.command.test(command)))).toEqual([])
  expect(elsewhere.flatMap(({ by }) => by).filter((path) => !existsSync(join(root, path)))).toEqual([])
  expect(otherFences).toEqual([])
  expect(indentedCommands).toEqual([])
})

test('the settings that the first installation shows are settings, and the API takes them', () => {
  const [, block = ''] = /^```ini\n([\s\S]*?)^```$/m.exec(read('docs/install.md')) ?? []
  const shown = block.trim().split('\n')
  const known = [...read('.env.example').matchAll(/^#([A-Z_]+)=/gm)].map(([, name]) => name)
  const given = Object.fromEntries(shown.map((line) => line.split('=', 2)))
  expect(shown.length).toBeGreaterThan(5)
  expect(Object.keys(given).filter((name) => !known.includes(name))).toEqual([])
  expect(() => readConfig(given, undefined)).not.toThrow()
  // The files of a command in a shell are those of the processes.
  for (const unit of ['api', 'export'])
    expect(read(`deploy/systemd/agent-directory-${unit}.service`)).toContain(`=EXPORT_DIR=${given.EXPORT_DIR}\n`)
})

test('what only CI runs is a step of CI', () => {
  const steps = read('.ci/run').split('\n')
  const left = printedCommands.filter(({ command }) => elsewhereOf(command)?.by.includes('.ci/run'))
  const isStep = ({ command }: { command: string }) =>
    steps.some((line) => line === `step ${command}` || line.startsWith(`timed ${command} --`))
  expect(left.length).toBeGreaterThan(4)
  expect(left.filter((one) => !isStep(one)).map(({ command }) => command)).toEqual([])
})

test('a command that runs on whichever Node the reader has is refused', () => {
  expect(problemOf('node dist/db/main.js')).toMatch(/may be older/)
  expect(problemOf('node_modules/.bin/node dist/db/missing.js')).toBe('there is no db/missing.ts')
})

test.for(documents)('%s: links and named files lead somewhere', (file) => {
  const links = [...read(file).matchAll(/\]\((?!http)([^)]+)\)/g)].map(([, to]) =>
    to?.startsWith('#') ? file + to : join(dirname(file), to as string),
  )
  const folders = [...read(file).matchAll(/`([a-z]+\/|[\w/.-]+\.(?:ts|mjs|yml|yaml|graphql))`/g)].map(
    (match) => match[1] as string,
  )
  const missing = [...links, ...folders].filter((path) => !isThere(path) && path !== 'main.ts')
  expect(missing.filter((path) => path !== 'dist/')).toEqual([])
})

test.for(documents)('%s: commands within the text exist', (file) => {
  const named = [...read(file).matchAll(/`(?:npm run |npm )([\w:-]+)/g)].map((match) => match[1] as string)
  expect(named.filter((name) => !scripts[name] && !['ci', 'install', 'run'].includes(name))).toEqual([])
})

test('the README is read at one go', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(200)
})

test('the README has two commands and five things to try, and each of its four doors opens by one command', () => {
  const sections = sectionsOf('README.md', /^#{2,3} (.+)$/gm)
  const fences = (name: string) => fencesOf(sections.get(name) ?? '')
  expect(fences('Two commands').flat()).toEqual(['npm start', 'npm test'])
  const things = [...partsOf(sections.get('Five things to try') ?? '', /^(\d)\. \*\*/gm)]
  expect(things.map(([number, text]) => [number, fencesOf(text).length])).toEqual(
    ['1', '2', '3', '4', '5'].map((number) => [number, 1]),
  )
  for (const door of ['Browse', 'Query', 'Operate', 'Build'])
    expect([door, fences(door).flat().length]).toEqual([door, 1])
})

test('the README has a picture that is there, says whose word each thing is, and that the client is not on npm', () => {
  const text = read('README.md')
  const pictures = [...text.matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, path]) => path as string)
  expect(pictures.map((path) => existsSync(join(root, path)))).toEqual([true])
  const rows = [...text.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)].map((row) => row.slice(1) as [string, string])
  for (const what of ['descriptions', 'prices', 'documents', 'tags', 'uptime'])
    expect(rows.find(([names]) => names.includes(what))?.[1]).toMatch(/word|saw/)
  expect(text).not.toMatch(/[Ee]very row comes from a chain/)
  expect(text).toContain('It is not on npm')
})

test('a first installation is ten steps, each with its commands and how long it took', () => {
  const text = sectionsOf('docs/install.md', /^## (.+)$/gm).get('Ten steps') ?? ''
  const steps = [...partsOf(text, /^(\d+)\. \*\*/gm)]
  expect(steps.map(([number]) => Number(number))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  const isTimed = (step: string) => /(?<!\*)\*[A-Z\d][^*]+[.*](?!\*)/.test(step)
  const lacking = steps.filter(([, step]) => fencesOf(step).length === 0 || !isTimed(step))
  expect(lacking.map(([number]) => number)).toEqual([])
})

test('the endpoints of the documents are those of the API', () => {
  const listed = tableOf('docs/endpoints.md').flatMap(([path]) =>
    [...(path as string).matchAll(/`([^`]+)`/g)].map((match) => match[1]),
  )
  const served = Object.keys(paths).map((path) => path.replace(/\{(\w+)\}/g, ':$1'))
  const besides = /^\/(\.well-known\/jwks\.json|mcp|subgraph(\/:chain)?|openapi\.json|docs(\/\w+)?|llms(-full)?\.txt)$/
  expect(listed.filter((path) => !besides.test(path as string))).toEqual(served)
})

test('the views that SQL alone has are those that GraphQL is told to leave out', () => {
  const folder = join(root, 'db/schema/directory')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.sql'))
  const leftOut = files.flatMap((name) =>
    [
      ...read(join('db/schema/directory', name)).matchAll(/^comment on view directory\.(\w+) is e'@behavior -\*\\n/gm),
    ].map(([, view]) => view),
  )
  const [, list = ''] = /^SQL only: ([\s\S]+?), and the functions/m.exec(read('docs/graphql.md')) ?? []
  expect([...list.matchAll(/`(\w+)`/g)].map(([, view]) => view)).toEqual(leftOut.sort())
})

test('the chains of the documents are those of the table', () => {
  const rows = chainNames.map((name) => {
    const { label, id, tokens } = chainOf(name)
    return [name, label, String(id), 'yes', tokens.length > 0 ? 'yes' : 'no']
  })
  expect(tableOf('docs/chains.md')).toEqual(rows)
})

/** Parts of a text by what stands in their first lines, where a pattern names it. */
function partsOf(text: string, first: RegExp): Map<string, string> {
  const found = [...text.matchAll(first)]
  return new Map(
    found.map(({ 1: name, index, 0: line }, n) => [
      name as string,
      text.slice(index + line.length, found[n + 1]?.index),
    ]),
  )
}

const sectionsOf = (file: string, heading: RegExp) => partsOf(read(file), heading)
/** Lines of each fence for a shell. */
const fencesOf = (text: string) =>
  [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => (block as string).trim().split('\n'))

/** Whether a path is there and, if it names one, the heading in it. */
function isThere(link: string): boolean {
  const [path = '', heading] = link.split('#')
  if (!existsSync(join(root, path))) return false
  if (heading === undefined) return true
  const headings = [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, text]) => text as string)
  const anchors = headings.map((text) =>
    text
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
  return anchors.includes(heading)
}

interface SqdCommand {
  readonly deps?: readonly string[]
  readonly cmd?: readonly string[]
}
const { commands: ofSqd } = JSON.parse(read('commands.json')) as { commands: Record<string, SqdCommand> }

test.for(Object.entries(ofSqd))('sqd %s runs what is there', ([name, { deps = [], cmd }]) => {
  expect(cmd || deps.length > 0, name).toBeTruthy()
  expect(deps.filter((one) => !ofSqd[one])).toEqual([])
  if (cmd) expect(problemOf(cmd.join(' '))).toBeUndefined()
  const service = cmd?.[0] === 'docker' && cmd[2] === 'up' ? cmd.at(-1) : undefined
  if (service) expect(Object.keys(parse(read('docker-compose.yml'), { merge: true }).services)).toContain(service)
})

test('sqd indexes each chain', () => {
  const indexing = Object.entries(ofSqd).filter(([name]) => name.startsWith('process:'))
  expect(indexing.map(([name, { cmd }]) => [name, cmd])).toEqual(
    chainNames.map((chain) => [`process:${chain}`, ['npm', 'run', 'processor', '--', chain]]),
  )
})

test('the commands of sqd that a document names are in commands.json, or of sqd itself', () => {
  const named = documents.flatMap((file) =>
    [...read(file).matchAll(/`sqd ([\w:-]+)/g)].map((match) => match[1] as string),
  )
  expect(named).toContain('backfill')
  expect(named.filter((name) => !ofSqd[name] && !['run', 'deploy', 'secrets', '--help'].includes(name))).toEqual([])
})

/** Why a command of the README cannot work; undefined when CI runs it or everything it names exists. */
function problemOf(command: string): string | undefined {
  const [program, ...args] = command.split(' ')
  const exists = (path: string | undefined) =>
    path && existsSync(join(root, path)) ? undefined : `there is no ${path}`
  const isKnown = (known: boolean) => (known ? undefined : `${command} is not known to work`)
  switch (program) {
    case 'npm':
      if (args[0] === 'ci') return undefined
      return isKnown(Boolean(scripts[(args[0] === 'run' ? args[1] : args[0]) as string]))
    case 'npx':
      return args[0] === 'vitest' && args[1] === 'run' ? exists(args[2]) : isKnown(false)
    case 'node_modules/.bin/node':
      return exists(args[0]?.replace(/\b(client\/)?dist\//, '').replace(/\.js$/, '.ts'))
    case 'node':
      return 'the Node of the reader may be older than the one that the lock file pins: node_modules/.bin/node'
    case 'set':
      return isKnown(/^set -a; \. \.\/(\.env|\.data\/devnet\.env); set \+a$/.test(command))
    case 'cp':
      return exists(args[0])
    case 'mv':
      return isKnown(args[0] === '.data/postgres')
    case 'env':
      return args[0] === '--unset' ? problemOf(args.slice(2).join(' ')) : isKnown(false)
    case 'curl':
      return isKnown(Boolean(paths[new URL(args[0] as string).pathname.replace(/\/[0-9]+(?=\/|$)/, '/{fid}')]))
    case 'docker':
      return args[0] === 'compose' ? exists('docker-compose.yml') : isKnown(false)
    default:
      return isKnown(walked.includes(command) || elsewhereOf(command) !== undefined)
  }
}

/** Rows of cells of a document's first table, without the header row. */
function tableOf(file: string): string[][] {
  const lines = read(file).split('\n')
  const first = lines.findIndex((line) => line.startsWith('|'))
  const rows = lines.slice(
    first,
    lines.findIndex((line, index) => index > first && !line.startsWith('|')),
  )
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
