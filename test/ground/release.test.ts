import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { apiChanges } from '../../api/changelog/changes.ts'
import { breaksOf } from '../../scripts/release/breaks.mjs'
import { unreleased, untold } from '../../scripts/release/changelog.mjs'
import { prepareRelease } from '../../scripts/release/prepare.mjs'
import { commitOf, git, readReleases, documentOf as releasedDocument } from '../../scripts/release/record.mjs'
import { root } from '../support/source-files.ts'

const change = (id: string) =>
  ({ id, day: '2026-12-01', kind: 'added', title: id, text: 'New.', operations: [] }) as const
const list = { type: 'array', items: { $ref: '#/components/schemas/Thing' } }
const thing = {
  type: 'object',
  properties: { id: { type: 'integer' }, name: { type: 'string' }, old: { type: 'string', deprecated: true } },
  required: ['id', 'name'],
}

/** An OpenAPI document with one request; the options replace parts of it. */
function documentOf({ parameters = [limit()], fields = thing, path = '/things' }: Record<string, unknown> = {}) {
  const answer = { content: { 'application/json': { schema: list } } }
  return {
    paths: { [path as string]: { get: { operationId: 'listThings', parameters, responses: { 200: answer } } } },
    components: { schemas: { Thing: fields } },
  }
}

function limit(of: object = {}) {
  return { in: 'query', name: 'limit', required: false, schema: { type: 'integer', maximum: 100 }, ...of }
}

test.for([
  ['a request is gone', { path: '/stuff' }, 'GET /things is gone'],
  ['a parameter is gone', { parameters: [] }, 'GET /things parameter limit is gone'],
  ['a parameter is required', { parameters: [limit({ required: true })] }, 'GET /things parameter limit is required'],
  [
    'a bound is tighter',
    { parameters: [limit({ schema: { type: 'integer', maximum: 50 } })] },
    'GET /things parameter limit has tighter bounds',
  ],
  [
    'fewer values are taken',
    { parameters: [limit({ schema: { type: 'integer', enum: [1, 2] } })] },
    'GET /things parameter limit takes fewer values',
  ],
  [
    'a field is gone',
    { fields: { ...thing, properties: { id: thing.properties.id }, required: ['id'] } },
    'GET /things 200[].name is gone',
  ],
  ['a field may be left out', { fields: { ...thing, required: ['id'] } }, 'GET /things 200[].name may be left out'],
  [
    'a field may be null',
    { fields: { ...thing, properties: { ...thing.properties, name: { type: ['string', 'null'] } } } },
    'GET /things 200[].name has another type',
  ],
  [
    'a field may be null, as another form',
    {
      fields: {
        ...thing,
        properties: { ...thing.properties, name: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      },
    },
    'GET /things 200[].name has other forms',
  ],
] as const)('%s: a break', ([, parts, line]) => {
  expect(breaksOf(documentOf(), documentOf(parts))).toEqual([line])
})

test.for([
  ['a parameter that may be left out', { parameters: [limit(), limit({ name: 'after' })] }],
  ['a wider bound', { parameters: [limit({ schema: { type: 'number', maximum: 200 } })] }],
  ['a field', { fields: { ...thing, properties: { ...thing.properties, more: { type: 'string' } } } }],
  [
    'the end of what was deprecated',
    { fields: { ...thing, properties: { id: thing.properties.id, name: thing.properties.name } } },
  ],
] as const)('%s: no break', ([, parts]) => {
  expect(breaksOf(documentOf(), documentOf(parts))).toEqual([])
})

test('what was written for the last release works with this API', () => {
  const [last] = readReleases(root)
  // Nothing was released yet: what would be broken begins with the first release.
  if (!last) return expect(git(root, 'tag', '--list', 'v*')).toBe('')
  const before = releasedDocument(root, last.version)
  const now = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'))
  expect(breaksOf(before, now)).toEqual([])
  expect(untold(before, now, unreleased(apiChanges, readReleases(root)))).toEqual([])
})

test.for([
  ['a parameter', { parameters: [limit(), limit({ name: 'after' })] }],
  ['a field', { fields: { ...thing, properties: { ...thing.properties, more: { type: 'string' } } } }],
  ['a request', { path: '/stuff' }],
] as const)('%s that a release had not has to be told', ([, parts]) => {
  const was = documentOf()
  const is = documentOf(parts)
  expect(untold(was, is, [change('second')])).toEqual(['listThings'])
  expect(untold(was, is, [{ ...change('second'), operations: ['listThings'] }])).toEqual([])
  expect(untold(is, is, [])).toEqual([])
})

/** A project with one release, 1.0.0, or none, and everything committed. */
function projectOf({ isReleased = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-directory-release-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const manifest = { name: 'toy', version: '1.0.0' }
  const put = (path: string, content: unknown) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), `${JSON.stringify(content, null, 2)}\n`)
  }
  const commit = () => {
    git(folder, 'add', '--all')
    git(folder, '-c', 'user.name=A', '-c', 'user.email=a@b.example', 'commit', '--quiet', '--message', 'more')
  }
  git(folder, 'init', '--quiet')
  put('package.json', { ...manifest, workspaces: ['client'] })
  put('client/package.json', { ...manifest, name: 'toy-client' })
  const packages = { '': manifest, client: manifest, 'node_modules/toy-client': { resolved: 'client', link: true } }
  put('package-lock.json', { ...manifest, lockfileVersion: 3, requires: true, packages })
  put('db/migrations/0001_things.sql', '')
  put('openapi.json', documentOf())
  mkdirSync(join(folder, 'ops'))
  writeFileSync(join(folder, 'ops/metrics.ts'), "const version = '1.0.0'\n")
  const first = {
    version: '1.0.0',
    day: '2026-11-01',
    changes: ['first'],
    migrations: ['0001_things.sql'],
    settings: [],
  }
  put('docs/releases.json', isReleased ? [first] : [])
  writeFileSync(join(folder, '.gitignore'), 'dist/\n')
  commit()
  const read = (path: string) => readFileSync(join(folder, path), 'utf8')
  return { folder, put, commit, read }
}
const current = { changes: [change('second'), change('first')], settings: ['NEW_SETTING'], day: '2026-12-02' }

test('a release has its version everywhere, its section of the changelog, and a list of what it ships', () => {
  const { folder, put, commit, read } = projectOf()
  put('db/migrations/0002_more.sql', '')
  commit()
  const bill = JSON.parse(readFileSync(prepareRelease(folder, '1.1.0', current), 'utf8'))
  expect([bill.bomFormat, bill.metadata.component.name, bill.metadata.component.version]).toEqual([
    'CycloneDX',
    'toy',
    '1.1.0',
  ])
  const lock = JSON.parse(read('package-lock.json'))
  const versions = [JSON.parse(read('package.json')), JSON.parse(read('client/package.json')), lock]
  expect([...versions, lock.packages[''], lock.packages.client].map(({ version }) => version)).toEqual(
    Array(5).fill('1.1.0'),
  )
  expect(read('ops/metrics.ts')).toBe("const version = '1.1.0'\n")
  expect(read('CHANGELOG.md').split('\n## ').slice(1)).toEqual([
    '1.1.0 - 2026-12-02\n\n### Added\n\n- **second.** New.\n\n### For operators\n\n' +
      '- migrations: `0002_more.sql`\n- new settings: `NEW_SETTING`\n',
    '1.0.0 - 2026-11-01\n\n### Added\n\n- **first.** New.\n',
  ])
  expect(readReleases(folder).map(({ version }) => version)).toEqual(['1.1.0', '1.0.0'])
  commit()
  expect(commitOf(folder, '1.1.0')).toBe(git(folder, 'rev-parse', 'HEAD'))
  expect(() => prepareRelease(folder, '1.2.0', current)).toThrow('no change was told since 1.1.0')
})

test('the first release tells everything that changed, and asks for nothing of before', () => {
  const { folder, commit, read } = projectOf({ isReleased: false })
  expect(() => prepareRelease(folder, '0.0.0', current)).toThrow('0.0.0 is not above 0.0.0')
  expect(() => prepareRelease(folder, '1.0.0', { ...current, changes: [] })).toThrow('no change was told:')
  prepareRelease(folder, '1.0.0', current)
  expect(read('CHANGELOG.md').split('\n## ').slice(1)).toEqual([
    '1.0.0 - 2026-12-02\n\n### Added\n\n- **second.** New.\n- **first.** New.\n',
  ])
  expect(readReleases(folder)).toEqual([
    {
      version: '1.0.0',
      day: '2026-12-02',
      changes: ['second', 'first'],
      migrations: ['0001_things.sql'],
      settings: ['NEW_SETTING'],
    },
  ])
  commit()
  expect(commitOf(folder, '1.0.0')).toBe(git(folder, 'rev-parse', 'HEAD'))
})

test('what is no release is refused, and nothing is written', () => {
  const { folder, put, commit } = projectOf()
  expect(() => prepareRelease(folder, '1.0.0', current)).toThrow('1.0.0 is not above 1.0.0, the last release')
  expect(() => prepareRelease(folder, '1.1', current)).toThrow('1.1 is no version')
  put('openapi.json', documentOf({ parameters: [] }))
  expect(() => prepareRelease(folder, '1.1.0', current)).toThrow('commit or take away what has changed')
  commit()
  expect(() => prepareRelease(folder, '1.1.0', current)).toThrow(
    'this would break programs that were written for 1.0.0:\n  GET /things parameter limit is gone',
  )
  put('openapi.json', documentOf({ parameters: [limit(), limit({ name: 'after' })] }))
  commit()
  expect(() => prepareRelease(folder, '1.1.0', current)).toThrow('no change names what differs from 1.0.0: listThings')
  expect(git(folder, 'status', '--porcelain')).toBe('')
})
