import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { checkpointText, logName, parseCheckpoint } from '../../transparency/checkpoint.ts'
import { hashBytes } from '../../transparency/hashes.ts'
import { noteSigner, openNote } from '../../transparency/note.ts'
import { bundleOf, entriesIn, hasTile, parseTilePath, tilePath } from '../../transparency/tiles.ts'
import { MemoryTiles } from './memory-tiles.ts'
import { signedNote, tilesOfSize } from './vectors.ts'

const { name, key, note, secret } = signedNote
const text = note.slice(0, note.indexOf('\n\n') + 1)

/** PEM of the Ed25519 key that a note's secret names: its last 32 bytes are the seed. */
function pemOf(written: string): string {
  const seed = Buffer.from(written.split('+').slice(4).join('+'), 'base64').subarray(1)
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    .export({ type: 'pkcs8', format: 'pem' })
    .toString()
}

test('a note is signed and opened as in the published example', () => {
  const signer = noteSigner(name, pemOf(secret))
  expect(signer.key).toBe(key)
  expect(signer.sign(text)).toBe(note)
  expect(openNote(note, key)).toBe(text)
})

test('a note with further signatures is opened with the key that a reader knows', () => {
  const other = noteSigner('example.com/witness', pemOfNew()).sign(text)
  const both = note + other.slice(other.indexOf('—'))
  expect(openNote(both, key)).toBe(text)
  expect(() => openNote(other, key)).toThrow('PeterNeumann has not signed the note')
})

test.for([
  ['a text that changed', note.replace('answer', 'problem'), key, 'the signature of PeterNeumann is wrong'],
  ['no empty line', note.replace('\n\n', '\n'), key, 'a note has a text'],
  ['no last line break', note.trimEnd(), key, 'a note has a text'],
  ['a malformed signature', note.replace('JnAM=', 'JnAM'), key, 'a line of signatures is malformed'],
  ['a key with another id', note, key.replace('c74f20a3', 'c74f20a4'), 'the id of the key is not that'],
  ['a key of another type', note, key.replace('+ARpc', '+AhPc'), 'the key is not one of Ed25519'],
])('a note is refused for %s', ([, given, known, message]) => {
  expect(() => openNote(given!, known!)).toThrow(message)
})

test('notes are signed with Ed25519 only', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  expect(() => noteSigner('example.com/log', pem)).toThrow('it has to be an Ed25519 key, not ec')
})

test('a checkpoint names its log, size and root', () => {
  const checkpoint = { origin: logName('https://agents.example/'), size: 70_000, root: Buffer.alloc(hashBytes, 7) }
  expect(checkpoint.origin).toBe('agents.example/log')
  const written = checkpointText(checkpoint)
  expect(written).toBe(`agents.example/log\n70000\n${checkpoint.root.toString('base64')}\n`)
  expect(parseCheckpoint(written)).toEqual(checkpoint)
  expect(parseCheckpoint(`${written}more\n`)).toEqual(checkpoint)
  for (const wrong of [
    written.trimEnd(),
    written.replace('70000', '070000'),
    written.replace('70000', '-1'),
    'a\n1\nBwc=\n',
  ])
    expect(() => parseCheckpoint(wrong)).toThrow('the text is not that of a checkpoint')
})

test('a tree has the tiles of its size, each at one path', async () => {
  const { size, full, partial } = tilesOfSize
  const tiles = new MemoryTiles()
  await tiles.append(Array.from({ length: size }, () => Buffer.alloc(hashBytes)))
  expect(Object.keys(tiles.all()).length).toBe(274 + 2 + 1)
  for (const [level, number] of full.entries()) {
    const width = partial[level]!
    expect((await tiles.read({ level, number })).length).toBe(width * hashBytes)
    expect(hasTile({ level, number, width }, size)).toBe(true)
    expect(hasTile({ level, number, width: width + 1 }, size)).toBe(false)
    expect(hasTile({ level, number: number + 1, width: 1 }, size)).toBe(false)
    if (number > 0) expect(hasTile({ level, number: number - 1, width: 256 }, size)).toBe(true)
  }
})

test.for([
  ['0/000', { level: 0, number: 0, width: 256 }],
  ['1/000.p/17', { level: 1, number: 0, width: 17 }],
  ['0/273.p/112', { level: 0, number: 273, width: 112 }],
  ['63/x001/x234/067', { level: 63, number: 1_234_067, width: 256 }],
  ['entries/x001/000.p/255', { level: 0, number: 1_000, width: 255 }],
] as const)('the path %s is that of one tile', ([path, tile]) => {
  const isOfEntries = path.startsWith('entries')
  expect(parseTilePath(path)).toEqual({ ...tile, isOfEntries })
  expect(tilePath(tile, isOfEntries)).toBe(path)
})

test.for([
  '64/000',
  '00/000',
  '0/0',
  '0/0000',
  '0/x000/000',
  '0/001/000',
  '0/x001',
  '0/000.p/0',
  '0/000.p/256',
  '0/000.p/01',
  '0/000/',
  '-1/000',
  'entries/000.p',
  '0/x999/x999/x999/x999/x999/999',
])('no tile is at %s', (path) => {
  expect(parseTilePath(path)).toBeUndefined()
})

test('a bundle has each entry behind its length', () => {
  expect(bundleOf([Buffer.from('{}'), Buffer.alloc(0), Buffer.from('abc')]).toString('hex')).toBe(
    '00027b7d00000003616263',
  )
  expect(() => bundleOf([Buffer.alloc(65_536)])).toThrow(RangeError)
  const entries = [Buffer.from('{}'), Buffer.alloc(0), Buffer.from('abc')]
  const bundle = bundleOf(entries)
  expect(entriesIn(bundle, 3)).toEqual(entries)
  for (const [wrong, count] of [
    [bundle, 2],
    [bundle, 4],
    [bundle.subarray(0, -1), 3],
    [Buffer.concat([bundle, Buffer.of(0)]), 3],
  ] as const)
    expect(() => entriesIn(wrong, count)).toThrow(`the bundle is not one of ${count} entries`)
})

function pemOfNew(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}
