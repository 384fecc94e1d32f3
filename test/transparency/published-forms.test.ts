import { expect, test } from 'vitest'
import { parseCheckpoint } from '../../transparency/checkpoint.ts'
import { openNote, partsOf } from '../../transparency/note.ts'
import { hasTile, parseTilePath, perTile, tilePath } from '../../transparency/tiles.ts'
import { fixture } from '../support/fixture.ts'

const { note, checkpoints, paths } = fixture('transparency/forms.json')
const [peter, enoch] = note.keys as [string, string]
const [ofPeter, ofEnoch] = note.signatures as [string, string]
const signed = (...lines: string[]) => `${note.text}\n${lines.join('')}`

test('a published note of two signers is opened with the key of either, and with no other', () => {
  for (const key of [peter, enoch]) expect(openNote(signed(ofPeter, ofEnoch), key)).toBe(note.text)
  expect(() => openNote(signed(ofEnoch), peter)).toThrow('has not signed')
  expect(openNote(signed(ofPeter, ofEnoch, note.passedOver), peter)).toBe(note.text)
  expect(() => openNote(signed(ofPeter, ofEnoch, note.passedOver), enoch)).toThrow('is wrong')
})

test('no published key is read that lacks or changes a character, has another length or type', () => {
  const { length } = peter
  const parts = Array.from({ length }, (_, from) =>
    Array.from({ length: length - from }, (_, at) => peter.slice(from, from + at + 1)),
  ).flat()
  const next = (at: number) => peter.slice(0, at) + String.fromCharCode(peter.charCodeAt(at) + 1) + peter.slice(at + 1)
  const wrong = [...parts.filter((part) => part !== peter), ...Array.from({ length }, (_, at) => next(at))]
  expect(wrong.length).toBeGreaterThan(2_000)
  for (const key of [...wrong, ...note.refusedKeys]) expect(() => openNote(signed(ofPeter), key), key).toThrow()
})

test.for<string>(note.refusedNotes)('the published note %j is refused', (wrong) => {
  expect(() => openNote(wrong, peter)).toThrow()
})

test('a note with a hundred and one signatures, or with a control character, has another form', () => {
  const lines = Array.from({ length: note.signaturesOfPeterThatAreTooMany }, () => ofPeter)
  expect(() => partsOf(signed(...lines))).toThrow('signatures')
  for (const character of ['\u0001', '\t', '\r', '\u0000'])
    expect(() => partsOf(character + signed(ofPeter))).toThrow('control characters')
})

test.for<{ text: string; origin: string; size: number; root: string }>(checkpoints.read)(
  'the published checkpoint $text is read',
  ({ text, origin, size, root }) => {
    expect(parseCheckpoint(text)).toEqual({ origin, size, root: Buffer.from(root, 'base64') })
  },
)

test.for<{ desc: string; text: string }>(checkpoints.refused)('a checkpoint is refused for: $desc', ({ text }) => {
  expect(() => parseCheckpoint(text)).toThrow('the text is not that of a checkpoint')
})

/** How many hashes, 256 at most, a tile of a level has in a tree. */
const widthOf = (level: number, number: number, size: number) =>
  Math.min(perTile, Math.floor(size / perTile ** level) - number * perTile)

test('entries and tiles are at the published paths', () => {
  expect([paths.ofEntry, paths.ofTile, paths.written].map(({ length }) => length)).toEqual([6, 4, 7])
  for (const { index, size, path } of paths.ofEntry) {
    const number = Math.floor(index / perTile)
    const tile = { level: 0, number, width: widthOf(0, number, size) }
    expect(tilePath(tile, true)).toBe(path)
    expect([parseTilePath(path), hasTile(tile, size)]).toEqual([{ ...tile, isOfEntries: true }, true])
    if (tile.width < perTile) expect(hasTile({ ...tile, width: tile.width + 1 }, size)).toBe(false)
  }
  for (const { level, number, size, path } of paths.ofTile) {
    const tile = { level, number, width: widthOf(level, number, size) }
    expect([tilePath(tile), hasTile(tile, size)]).toEqual([path, true])
  }
  for (const { path, ...tile } of paths.written) {
    const isOfEntries = path.startsWith('entries')
    expect([tilePath(tile, isOfEntries), parseTilePath(path)]).toEqual([path, { ...tile, isOfEntries }])
  }
})

test.for<string>(paths.refused)('no tile is at the published path %s', (path) => {
  expect(parseTilePath(path)).toBeUndefined()
})
