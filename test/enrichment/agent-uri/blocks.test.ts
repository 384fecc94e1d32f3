import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { carOf, fileBlocks, smallFile } from '../../../devnet/world/blocks.ts'
import { fileOf, readArchive, toBlocks } from '../../../enrichment/agent-uri/blocks.ts'
import { parseCid } from '../../../enrichment/agent-uri/cid.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { documentOf, mint, startAgentsJob, startGateways, stateOf } from '../join/agents-job.ts'

const clock = createClock('2026-06-01T00:00:00Z')
let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

const keyOf = (cid: string) => parseCid(cid)!
const long = JSON.stringify({ name: 'long', description: Array.from({ length: 2_000 }, (_, index) => index).join(' ') })

test('what `ipfs add` names by an old identifier is read from the block of that name', () => {
  // "hello world" and a newline, as in the documentation of IPFS.
  const { bytes } = smallFile('hello world\n')
  const file = fileOf(toBlocks([bytes]), keyOf('QmT78zSuBmuS4z925WZfrqQ1qHaJ56DQaTfyMUF7F8ff5o'), '')
  expect(file.toString()).toBe('hello world\n')
})

test('a file is put together from the blocks of an archive, in any order and below a directory', () => {
  const { directory, file, leaves } = fileBlocks('agent.json', long)
  expect(leaves.length).toBeGreaterThan(5)
  const blocks = readArchive(carOf([...leaves.toReversed(), file, directory]))!
  expect(fileOf(blocks, keyOf(file.cid), '').toString()).toBe(long)
  expect(fileOf(blocks, keyOf(directory.cid), '/agent.json').toString()).toBe(long)
  expect(fileOf(blocks, keyOf(directory.cid), '/agent%2ejson').toString()).toBe(long)
})

test('a block that is missing or changed, and a name that is not there, make it no file', () => {
  const { directory, file, leaves } = fileBlocks('agent.json', long)
  const incomplete = (...given: Uint8Array[]) => fileOf(toBlocks(given), keyOf(directory.cid), '/agent.json')
  const all = [directory, file, ...leaves].map(({ bytes }) => bytes)
  expect(incomplete(...all).toString()).toBe(long)
  for (const [index, bytes] of all.entries()) {
    const changed = Buffer.from(bytes)
    changed[changed.length - 1]! ^= 1
    expect(incomplete(...all.filter((_, other) => other !== index))).toBe('incomplete')
    expect(incomplete(...all.map((one, other) => (other === index ? changed : one)))).toBe('incomplete')
  }
  expect(fileOf(toBlocks(all), keyOf(directory.cid), '/other.json')).toBe('incomplete')
})

test('a directory for a file, another codec and a tree without end are not read', () => {
  const { directory, file, leaves } = fileBlocks('agent.json', long)
  const all = toBlocks([directory, file, ...leaves].map(({ bytes }) => bytes))
  expect(fileOf(all, keyOf(directory.cid), '')).toBe('unsupported')
  expect(fileOf(all, keyOf(leaves[0]!.cid), '/below')).toBe('unsupported')
  expect(fileOf(all, { codec: 0x71, sha256: keyOf(file.cid).sha256 }, '')).toBe('unsupported')
  const huge = fileBlocks('huge', 'x'.repeat(300_000), 4_096)
  expect(fileOf(toBlocks([huge.file, ...huge.leaves].map(({ bytes }) => bytes)), keyOf(huge.file.cid), '')).toBe(
    'unsupported',
  )
})

test('no bytes are too odd to be told from an archive', () => {
  const { file, leaves } = fileBlocks('agent.json', long)
  const archive = carOf([file, ...leaves])
  const spoiled = fc
    .tuple(fc.nat(archive.length - 1), fc.integer({ min: 1, max: 255 }))
    .map(([at, flip]) => Buffer.from(archive.map((byte, index) => (index === at ? byte ^ flip : byte))))
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), spoiled), (bytes) => {
      const blocks = readArchive(bytes)
      const found = blocks && fileOf(blocks, keyOf(file.cid), '')
      // Its header may say anything: nothing is taken from there.
      if (found instanceof Uint8Array) expect(found.toString()).toBe(long)
    }),
    { numRuns: 500 },
  )
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
