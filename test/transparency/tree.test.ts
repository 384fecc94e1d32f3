import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashBytes, leafHash } from '../../transparency/hashes.ts'
import { isConsistent, isIncluded } from '../../transparency/proofs.ts'
import type { ReadTile, TilePlace } from '../../transparency/tiles.ts'
import { consistencyProof, inclusionProof, rootOf } from '../../transparency/tree.ts'
import { fixture } from '../support/fixture.ts'
import { plainConsistency, plainRoot } from './consistency.ts'
import { MemoryTiles } from './memory-tiles.ts'
import { merkleEntries, merkleRoots, rfcConsistency, rfcInclusion } from './vectors.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

const leavesOf = (count: number) => Array.from({ length: count }, (_, index) => leafHash(Buffer.from(`entry ${index}`)))

test('trees and proofs are those of the published vectors', async () => {
  const leaves = merkleEntries.map((entry) => leafHash(Buffer.from(entry, 'hex')))
  const tiles = new MemoryTiles()
  expect(hex(await rootOf(0, tiles.read))).toBe(merkleRoots[0])
  for (const [index, leaf] of leaves.entries()) {
    await tiles.append([leaf])
    expect(hex(await rootOf(index + 1, tiles.read))).toBe(merkleRoots[index + 1])
  }
  const node = ([from, count]: [number, number]) => hex(plainRoot(leaves.slice(from, from + count)))
  for (const [index, proof] of rfcInclusion) {
    expect((await inclusionProof(index, 7, tiles.read)).map(hex), `of ${index}`).toEqual(proof.map(node))
  }
  for (const [before, proof] of rfcConsistency) {
    expect((await consistencyProof(before, 7, tiles.read)).map(hex), `from ${before}`).toEqual(proof.map(node))
  }
})

test('published proofs hold, or do not, as is said of them', () => {
  const bytes = (text: string) => Buffer.from(text, 'base64')
  const { inclusion, consistency } = fixture('transparency/proofs.json')
  for (const { file, leafIdx, leafHash, treeSize, root, proof, wantErr } of inclusion) {
    const tree = { size: treeSize, root: bytes(root) }
    expect(isIncluded({ index: leafIdx, leaf: bytes(leafHash) }, tree, proof.map(bytes)), file).toBe(!wantErr)
  }
  for (const { file, size1, root1, size2, root2, proof, wantErr } of consistency) {
    const before = { size: size1, root: bytes(root1) }
    const after = { size: size2, root: bytes(root2) }
    expect(isConsistent(before, after, (proof ?? []).map(bytes)), file).toBe(!wantErr)
  }
  expect([inclusion.length, consistency.length]).toEqual([14, 17])
})

test('tiles that grew in any steps have the tree of all entries, and every proof of them holds', async () => {
  const leaves = leavesOf(700)
  const steps = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 4 })
  const positions = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }))
  await fc.assert(
    fc.asyncProperty(steps, positions, async (counts, [one, other]) => {
      const tiles = new MemoryTiles()
      for (const count of counts) await tiles.append(leaves.slice(tiles.size, tiles.size + count))
      const whole = new MemoryTiles()
      await whole.append(leaves.slice(0, tiles.size))
      expect(tiles.all()).toEqual(whole.all())

      const size = 1 + Math.floor(one * (tiles.size - 1))
      const after = { size, root: await rootOf(size, tiles.read) }
      expect(hex(after.root)).toBe(hex(plainRoot(leaves.slice(0, size))))
      const index = Math.floor(other * (size - 1))
      const included = await inclusionProof(index, size, tiles.read)
      expect(isIncluded({ index, leaf: leaves[index]! }, after, included)).toBe(true)
      const before = { size: index + 1, root: plainRoot(leaves.slice(0, index + 1)) }
      const consistent = await consistencyProof(before.size, size, tiles.read)
      expect(consistent.map(hex)).toEqual(plainConsistency(before.size, leaves.slice(0, size)).map(hex))
      expect(isConsistent(before, after, consistent)).toBe(true)
    }),
    { numRuns: 60 },
  )
})

test('a proof does not hold for any other entry, place, tree or hash', async () => {
  const leaves = leavesOf(40)
  const tiles = new MemoryTiles()
  await tiles.append(leaves)
  const headOf = (size: number) => ({ size, root: plainRoot(leaves.slice(0, size)) })
  for (const size of [1, 2, 7, 8, 31, 40]) {
    for (let index = 0; index < size; index++) {
      const head = headOf(size)
      const proof = await inclusionProof(index, size, tiles.read)
      const leaf = leaves[index]!
      expect(isIncluded({ index, leaf }, head, proof)).toBe(true)
      const others: [Parameters<typeof isIncluded>[0], Parameters<typeof isIncluded>[1], readonly Buffer[]][] = [
        [{ index, leaf: changed(leaf) }, head, proof],
        [{ index, leaf }, { size, root: changed(head.root) }, proof],
        [{ index, leaf }, head, [...proof, leaf]],
        [{ index: size, leaf }, head, proof],
        [{ index: -1, leaf }, head, proof],
        ...leaves.slice(0, size).flatMap((_, at) => (at === index ? [] : [wrongPlace(at, leaf, head, proof)])),
        ...proof.map((_, at) => [{ index, leaf }, head, proof.with(at, changed(proof[at]!))] as never),
        ...proof.map((_, at) => [{ index, leaf }, head, proof.toSpliced(at, 1)] as never),
      ]
      for (const [entry, tree, hashes] of others) expect(isIncluded(entry, tree, hashes)).toBe(false)
    }
    for (let from = 1; from < size; from++) {
      const before = headOf(from)
      const after = headOf(size)
      const proof = await consistencyProof(from, size, tiles.read)
      expect(isConsistent(before, after, proof)).toBe(true)
      const others: Parameters<typeof isConsistent>[] = [
        [{ ...before, root: changed(before.root) }, after, proof],
        [before, { ...after, root: changed(after.root) }, proof],
        [after, before, proof],
        [before, after, []],
        [before, after, [...proof, leaves[0]!]],
        ...proof.map((_, at) => [before, after, proof.with(at, changed(proof[at]!))] as never),
        ...proof.map((_, at) => [before, after, proof.toSpliced(at, 1)] as never),
      ]
      for (const other of others) expect(isConsistent(...other)).toBe(false)
    }
  }
  expect(isConsistent({ size: -1, root: leaves[0]! }, headOf(40), [])).toBe(false)
  expect(isConsistent(headOf(0), headOf(40), [])).toBe(true)
  expect(isConsistent({ size: 0, root: leaves[0]! }, headOf(40), [])).toBe(false)
  expect(isConsistent(headOf(40), headOf(40), [])).toBe(true)
  expect(isConsistent(headOf(40), { size: 40, root: leaves[0]! }, [])).toBe(false)
})

test('a proof asks for all the tiles that it needs before it waits for one', async () => {
  const tiles = new MemoryTiles()
  await tiles.append(leavesOf(1_700))
  for (const prove of [
    (read: ReadTile) => inclusionProof(3, 1_700, read),
    (read: ReadTile) => consistencyProof(257, 1_700, read),
    (read: ReadTile) => rootOf(1_700, read),
  ]) {
    const asked: TilePlace[] = []
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const proof = prove(async (place) => {
      asked.push(place)
      await gate
      return tiles.read(place)
    })
    const first = asked.length
    open()
    await proof
    expect([first, asked.length > 1]).toEqual([asked.length, true])
  }
})

test('there is no proof of what a tree does not have', async () => {
  const tiles = new MemoryTiles()
  await tiles.append(leavesOf(3))
  await expect(inclusionProof(3, 3, tiles.read)).rejects.toThrow('there is no entry 3 in a tree of 3')
  await expect(consistencyProof(4, 3, tiles.read)).rejects.toThrow('a tree of 3 does not begin with one of 4')
})

const wrongPlace = (index: number, leaf: Buffer, head: { size: number; root: Buffer }, proof: readonly Buffer[]) =>
  [{ index, leaf }, head, proof] as [{ index: number; leaf: Buffer }, typeof head, readonly Buffer[]]

function changed(hash: Buffer): Buffer {
  expect(hash.length).toBe(hashBytes)
  const other = Buffer.from(hash)
  other[7]! ^= 4
  return other
}
