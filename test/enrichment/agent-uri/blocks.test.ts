import fc from 'fast-check'
import { UnixFS } from 'ipfs-unixfs'
import { CID } from 'multiformats/cid'
import * as Digest from 'multiformats/hashes/digest'
import { expect, test } from 'vitest'
import { carOf, fileBlocks, linkTo, nodeBlock, rawBlock, smallFile } from '../../../devnet/world/blocks.ts'
import { type Blocks, fileOf, readArchive, toBlocks } from '../../../enrichment/agent-uri/blocks.ts'
import { parseCid } from '../../../enrichment/agent-uri/cid.ts'
import { documentOf, mint, startAgentsJob, startGateways, stateOf } from '../../derive/agents/job.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'

const clock = createClock('2026-06-01T00:00:00Z')
const database = testDatabase()

const long = JSON.stringify({ name: 'long', description: Array.from({ length: 2_000 }, (_, index) => index).join(' ') })

test('what `ipfs add` names by an old identifier is read from the block of that name', () => {
  // "hello world" and a newline, as in the documentation of IPFS.
  const { bytes } = smallFile('hello world\n')
  const file = fileOf(toBlocks([bytes]), parseCid('QmT78zSuBmuS4z925WZfrqQ1qHaJ56DQaTfyMUF7F8ff5o')!, '')
  expect(file.toString()).toBe('hello world\n')
})

test('a file is put together from the blocks of an archive, in any order and below a directory', async () => {
  const { directory, file, leaves } = fileBlocks('agent.json', long)
  expect(leaves.length).toBeGreaterThan(5)
  const blocks = (await readArchive(carOf([...leaves.toReversed(), file, directory]))) as Blocks
  expect(fileOf(blocks, file.cid, '').toString()).toBe(long)
  expect(fileOf(blocks, directory.cid, '/agent.json').toString()).toBe(long)
  expect(fileOf(blocks, directory.cid, '/agent%2ejson').toString()).toBe(long)
})

test('a block that is missing or changed, and a name that is not there, make it no file', () => {
  const { directory, file, leaves } = fileBlocks('agent.json', long)
  const incomplete = (...given: Uint8Array[]) => fileOf(toBlocks(given), directory.cid, '/agent.json')
  const all = [directory, file, ...leaves].map(({ bytes }) => bytes)
  expect(incomplete(...all).toString()).toBe(long)
  for (const [index, bytes] of all.entries()) {
    const changed = Buffer.from(bytes)
    changed[changed.length - 1]! ^= 1
    expect(incomplete(...all.filter((_, other) => other !== index))).toBe('incomplete')
    expect(incomplete(...all.map((one, other) => (other === index ? changed : one)))).toBe('incomplete')
  }
  expect(fileOf(toBlocks(all), directory.cid, '/other.json')).toBe('incomplete')
})

test('a directory for a file, another codec and a tree without end are not read', () => {
  const { directory, file, leaves } = fileBlocks('agent.json', long)
  const all = toBlocks([directory, file, ...leaves].map(({ bytes }) => bytes))
  expect(fileOf(all, directory.cid, '')).toBe('unsupported')
  expect(fileOf(all, leaves[0]!.cid, '/below')).toBe('unsupported')
  expect(fileOf(all, CID.createV1(0x71, file.cid.multihash), '')).toBe('unsupported')
  const huge = fileBlocks('huge', 'x'.repeat(300_000), 4_096)
  expect(fileOf(toBlocks([huge.file, ...huge.leaves].map(({ bytes }) => bytes)), huge.file.cid, '')).toBe('unsupported')
})

test('no bytes are too odd to be told from an archive', async () => {
  const { file, leaves } = fileBlocks('agent.json', long)
  const archive = carOf([file, ...leaves])
  const spoiled = fc
    .tuple(fc.nat(archive.length - 1), fc.integer({ min: 1, max: 255 }))
    .map(([at, flip]) => Buffer.from(archive.map((byte, index) => (index === at ? byte ^ flip : byte))))
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.uint8Array({ maxLength: 200 }), spoiled), async (bytes) => {
      const blocks = await readArchive(bytes)
      const found = typeof blocks !== 'string' && fileOf(blocks, file.cid, '')
      // The header of the CAR file is not trusted: it may have any roots.
      if (found instanceof Uint8Array) expect(found.toString()).toBe(long)
    }),
    { numRuns: 500 },
  )
})

test('an archive of more blocks than a file may have, or of long identifiers over each other, is given up', async () => {
  const blocks = Array.from({ length: 1_001 }, (_, index) => rawBlock(String(index)))
  expect(await readArchive(carOf(blocks))).toBe('unsupported')
  expect(await readArchive(carOf(blocks.slice(1)))).toHaveProperty('size', 1_000)
  // Sections of six bytes, each with an identifier of 200,000: as many copies of them would be gigabytes.
  const section = Buffer.from([6, 0x01, 0x55, 0x12, 0xc0, 0x9a, 0x0c])
  const overlapping = Buffer.concat([carOf([blocks[0]!]), Buffer.alloc(400_000, section)])
  expect(await readArchive(overlapping)).toBe('unsupported')
})

test.each([
  ['lists within lists', Buffer.alloc(400_000, 0x81)],
  ['a list longer than any', Buffer.from([0x9b, 0, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
  ['a text longer than any', Buffer.from([0x7b, 0, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
  ['nothing', Buffer.alloc(0)],
])('a header that is %s makes it no archive', async (_, header) => {
  const bytes = [(header.length & 0x7f) | 0x80, ((header.length >> 7) & 0x7f) | 0x80, header.length >> 14]
  expect(await readArchive(Buffer.concat([Buffer.from(bytes), header]))).toBe('incomplete')
})

test('a length that is no number, or ends behind the archive, makes it no archive', async () => {
  const archive = carOf([rawBlock('a')])
  expect(await readArchive(archive)).toHaveProperty('size', 1)
  for (const bytes of [[0xff], Array(20).fill(0xff), [...Array(9).fill(0x80), 1], [40, 1, 0x55, 0x12, 0x20], [0]]) {
    expect(await readArchive(Buffer.concat([archive, Buffer.from(bytes)]))).toBe('incomplete')
  }
})

test('a tree that names a long block of nothing again and again is not read to its end', () => {
  const leaf = nodeBlock(new UnixFS({ type: 'file', blockSizes: Array(100_000).fill(0n) }), [])
  const treeOf = (times: number) => nodeBlock(new UnixFS({ type: 'file' }), Array(times).fill(linkTo('', leaf)))
  const read = (root: ReturnType<typeof treeOf>) => fileOf(toBlocks([root.bytes, leaf.bytes]), root.cid, '')
  expect(read(treeOf(1))).toEqual(Buffer.alloc(0))
  expect(read(treeOf(900))).toBe('unsupported')
})

test('content that stands in its identifier, or is named by a part of a hash, proves nothing', () => {
  const { cid, bytes } = rawBlock(long)
  const named = (code: number, digest: Uint8Array) => CID.createV1(cid.code, Digest.create(code, digest))
  expect(fileOf(toBlocks([bytes]), cid, '').toString()).toBe(long)
  expect(fileOf(toBlocks([bytes]), named(0x00, Buffer.from('{}')), '')).toBe('unsupported')
  expect(fileOf(toBlocks([bytes]), named(0x12, cid.multihash.digest.subarray(0, 20)), '')).toBe('unsupported')
})

test('content in several blocks is taken from a gateway that proves it, and is settled', async () => {
  const { pool } = database
  const gateways = await startGateways(2)
  const [lying, good] = gateways as [(typeof gateways)[0], (typeof gateways)[0]]
  const env = { IPFS_GATEWAYS: gateways.map(({ url }) => url).join(',') }
  const job = startAgentsJob({ database, clock, hosts: gateways, env })
  const { file, directory } = good.addFile('agent.json', long)
  const lie = lying.add('{"name":"a lie"}')
  for (const path of [file, `${directory}/agent.json`])
    lying.pages.set(`/ipfs/${path}`, lying.pages.get(`/ipfs/${lie}`)!)
  await mint(pool, { id: 1, uri: `ipfs://${file}` })
  await mint(pool, { id: 2, uri: `ipfs://${directory}/agent.json` })
  await job.join()
  await job.read('agent_uri')
  for (const id of [1, 2]) {
    expect(await documentOf(pool, id)).toMatchObject({ uri_status: 'ok', name: 'long' })
    expect(await stateOf(pool, id)).toBeUndefined()
  }
})

test('content that no gateway proves is believed, and read again', async () => {
  const { pool } = database
  const [gateway] = await startGateways(1)
  const job = startAgentsJob({ database, clock, hosts: [gateway!], env: { IPFS_GATEWAYS: gateway!.url } })
  const { file } = fileBlocks('agent.json', long)
  gateway!.pages.set(`/ipfs/${file.cid}`, { body: { name: 'by word of mouth' } })
  await mint(pool, { id: 3, uri: `ipfs://${file.cid}` })
  await job.join()
  await job.read('agent_uri')
  expect(await documentOf(pool, 3)).toMatchObject({ uri_status: 'ok', name: 'by word of mouth' })
  expect(await stateOf(pool, 3)).toMatchObject({ last_outcome: 'ok', failures: 0 })
  const asked = gateway!.requests
  expect(asked.map(({ path }) => path.includes('format=car'))).toEqual([true, false])
})
