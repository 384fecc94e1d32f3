import { expect, test } from 'vitest'
import { decodeWellKnown } from '../../api/claim/well-known.ts'
import { newName } from '../../config/chains.schema.ts'
import { claimLimits } from '../../config/limits.claims.ts'
import { httpUrls } from '../../config/settings.schema.ts'
import { insertAction } from '../../db/queries/claims/claim-actions.ts'
import { insertClaim } from '../../db/queries/claims/claims.ts'
import { storeSites } from '../../db/queries/edges/edges.ts'
import { deriveSearchedRegistrations } from '../../db/queries/registrations/searched.ts'
import { storeSpecs } from '../../db/queries/sources/agent-specs.ts'
import { storeMessages } from '../../db/queries/sources/farcaster-messages.ts'
import { storeHubStanding } from '../../db/queries/sources/hub-standing.ts'
import { storeIdentities } from '../../db/queries/sources/identities.ts'
import { storeTags } from '../../db/queries/sources/oli-tags.ts'
import { askForDocuments } from '../../db/queries/sources/registration-documents.ts'
import { storeProfile } from '../../db/queries/sources/social-profiles.ts'
import { keepProbes } from '../../db/queries/sources/uptime.ts'
import { storeWitness } from '../../db/queries/sources/witnesses.ts'
import { sitesOf } from '../../derive/edges.ts'
import { longestOfTag, toTags } from '../../enrichment/explorer/tags.ts'
import { longestOfIdentity, toIdentities } from '../../enrichment/identity/identities.ts'
import { judgeMessage } from '../../enrichment/proofs/messages.ts'
import { storableProfile } from '../../enrichment/socialindex/fids.ts'
import { candidatesOf } from '../../enrichment/specs/candidates.ts'
import { noSale, saleIn } from '../../enrichment/specs/prices.ts'
import { maxUrlLength } from '../../net/target.ts'
import { applyRegistrationEvents } from '../../processors/mapping/registrations.ts'
import { longestHandle } from '../../social/profile.ts'
import { mint, startAgentsJob } from '../derive/agents/job.ts'
import { testDatabase } from '../support/database.ts'
import { createClock } from '../support/enrichment-job.ts'
import { addressOf, birth, hashOf, seedRegistration } from '../support/seed.ts'
import { indexKeys, longestChain, longestSite, longestWord } from './index-keys.ts'

// A row whose key is longer than a third of a page cannot be stored: whoever writes such a text keeps a row from coming
// in. So every key of every index has a bound in bytes, and the longest that strangers can write is stored.

const database = testDatabase()
const now = birth
const fid = 7

/** Bytes of an entry of a B-tree at most, with its header. Source: PostgreSQL, `BTMaxItemSize`. */
const mostEntryBytes = 2_704
/** Before the keys of an entry; and before each of no fixed size, with what aligns the next. */
const headerBytes = 16
const keyHeaderBytes = 4
const aligned = (bytes: number) => Math.ceil(bytes / 8) * 8

interface Key {
  readonly index: string
  readonly key: string
  /** Bytes; -1: no fixed size. */
  readonly size: number
}

/** Keys of all indexes of the directory as they are stored, and what is included in them. */
async function keysOf(): Promise<Key[]> {
  const { rows } = await database.pool.query<Key>(`
select i.relname as index, t.relname || '.' || pg_get_indexdef(x.indexrelid, a.attnum, false) as key, y.typlen as size
  from pg_index x
  join pg_class i on i.oid = x.indexrelid
  join pg_class t on t.oid = x.indrelid
  join pg_attribute a on a.attrelid = x.indexrelid
  join pg_type y on y.oid = a.atttypid
 where t.relnamespace = 'public'::regnamespace and not i.relispartition
 order by i.relname, a.attnum`)
  return rows
}

test('every index has keys with a bound in bytes, which fit an entry together', async () => {
  const bounds = new Map(indexKeys.flatMap(({ bytes, keys }) => keys.map((key) => [key, bytes] as const)))
  const keys = await keysOf()
  const named = keys.filter(({ size }) => size < 0).map(({ key }) => key)
  expect(named.filter((key) => !bounds.has(key))).toEqual([])
  expect([...bounds.keys()].filter((key) => !named.includes(key))).toEqual([])
  expect(bounds.size).toBe(indexKeys.flatMap((one) => one.keys).length)

  const entries = new Map<string, number>()
  for (const { index, key, size } of keys) {
    const bytes = size < 0 ? keyHeaderBytes + (bounds.get(key) ?? Number.POSITIVE_INFINITY) : size
    entries.set(index, (entries.get(index) ?? headerBytes) + aligned(bytes))
  }
  expect(entries.size).toBeGreaterThan(150)
  expect([...entries].filter(([, bytes]) => bytes >= mostEntryBytes)).toEqual([])
})

/** Characters of four bytes that differ from one another, so that nothing repeats and little compresses. */
function hard(count: number, first = 0x20000, span = 42_000): string {
  let state = 12_345
  return Array.from({ length: count }, () => {
    state = (state * 48_271) % 2_147_483_647
    return String.fromCodePoint(first + (state % span))
  }).join('')
}
const hardAscii = (count: number) => hard(count, 0x61, 26)
const bytesOf = (text: string | undefined | null) => Buffer.byteLength(text ?? '')

async function rowsOf(text: string, ...values: unknown[]) {
  const { rows } = await database.pool.query(text, values)
  return rows
}

test('a handle, and a word of a description, are stored as long as they can be, and an agent is listed with them', async () => {
  const profile = storableProfile(fid, {
    handle: hard(longestHandle + 100),
    handleOwner: null,
    displayName: hard(5_000),
    bio: hard(5_000),
    pfpUrl: null,
    profileUrl: null,
    github: hard(5_000),
    twitter: hard(5_000),
    lastMessageAt: null,
  })
  expect(bytesOf(profile.handle)).toBe(longestHandle * 4)
  await storeProfile(database.pool, profile, now)
  const word = hard(longestWord / 3, 0x4e00, 20_000)
  const file = { name: 'one', description: `${word} ${hard(longestWord / 3 + 1, 0x4e00, 20_000)}` }
  await mint(database.pool, { id: fid, fid, uri: `data:application/json,${encodeURIComponent(JSON.stringify(file))}` })
  const job = startAgentsJob({ database, clock: createClock('2026-06-01T00:00:00Z'), hosts: [] })
  await job.join()
  await job.read('agent_uri')
  await job.join()
  expect(await rowsOf('select handle from agent where fid = $1', fid)).toEqual([{ handle: profile.handle }])
  const words = 'select max(octet_length(lexeme)) as most from searched_agent, unnest(document) where fid = $1'
  expect(await rowsOf(words, fid)).toEqual([{ most: longestWord }])
})

test('the domain of an endpoint is stored as long as a name can be, and a longer one is left out', async () => {
  const label = hardAscii(63)
  expect(sitesOf([`https://${label}.com/`])).toEqual([`${label}.com`])
  expect(sitesOf([`https://${label}a.com/`])).toEqual([])
  const longer = Array.from({ length: 5 }, () => label).join('.')
  expect(sitesOf([`https://${longer}.com/`, `https://www.${longer}.github.io/`])).toEqual([])
  await storeSites(database.pool, [fid], [{ fid, site: hardAscii(longestSite) }])
  expect(await rowsOf('select octet_length(site) as n from agent_site where fid = $1', fid)).toEqual([
    { n: longestSite },
  ])
})

/** A document as it is stored after a look that found nothing in it. */
function lookedAt<Check extends object>(check: Check) {
  const found = { domainVerified: false, backReference: null, toolsChangedAt: null, cardSignature: null }
  const standing = { ...found, findings: [], chainBlocks: [], answers: null, ...noSale }
  const times = { firstSeenAt: now, lastAliveAt: now, lastCheckAt: now, lastCheckStatus: 'ok', consecutiveFailures: 0 }
  return {
    ...check,
    ...standing,
    ...times,
    declared: true,
    content: undefined,
    sha256: null,
    version: undefined,
    reader: 1,
  }
}

test('the place of a document is stored as long as an address can be, and a longer one is not asked', async () => {
  const place = (length: number) => `https://a.com/${hardAscii(length - 'https://a.com/'.length)}`
  const service = (endpoint: string) => ({ name: 'x402', endpoint, version: null, contradicted: false })
  const named = (endpoint: string) =>
    candidatesOf({ services: [service(endpoint)], profileUrl: null, secured: (url) => url }).groups.flat()
  const longest = Math.max(
    ...[0, 1].flatMap((more) => named(place(maxUrlLength + more)).map(({ url }) => url.href.length)),
  )
  expect(longest).toBe(maxUrlLength)
  expect(named(`https://a.com/${hard(400)}`).every(({ url }) => bytesOf(url.href) <= maxUrlLength)).toBe(true)

  const url = place(maxUrlLength)
  const check = { kind: 'openapi', url, httpStatus: 200, latencyMs: 1 }
  await storeSpecs(database.pool, fid, [lookedAt(check)])
  await keepProbes(
    database.pool,
    fid,
    [{ ...check, alive: true, status: 'ok', answer: 'ok', findings: [], chainBlocks: [] }],
    now,
  )
  for (const table of ['agent_spec', 'spec_probe', 'spec_day'])
    expect(await rowsOf(`select url from ${table} where fid = $1`, fid)).toEqual([{ url }])
})

test('a text that Postgres refuses keeps nothing else of a look at an agent from being stored', async () => {
  const refused = 'did:web:a.com#\u0000\ud800'
  const { prices } = saleIn({ accepts: [{ scheme: 'exact', network: 'base', amount: '1' }] })
  const signed = prices.map((price) => ({ ...price, signedBy: refused }))
  const check = { kind: 'x402', url: 'https://a.com/paid', httpStatus: 402, latencyMs: 1 }
  await storeSpecs(database.pool, fid, [{ ...lookedAt(check), prices: signed }])
  expect(await rowsOf(`select prices -> 0 ->> 'signedBy' as by from agent_spec where fid = $1`, fid)).toEqual([
    { by: 'did:web:a.com#\ufffd\ufffd' },
  ])
})

test('an identity on another platform is stored with texts cut to their bounds', async () => {
  const address = addressOf('wallet')
  const text = hard(5_000)
  const identities = toIdentities({ fid, addresses: [address] } as never, [
    {
      platform: text,
      identity: text,
      address,
      displayName: text,
      description: text,
      links: { [hard(4_000, 0x20001)]: { handle: text } },
    },
  ])
  expect(identities).toHaveLength(2)
  for (const { platform } of identities) expect(bytesOf(platform)).toBe(longestOfIdentity.platform * 4)
  expect(bytesOf(identities[0]?.identity)).toBe(longestOfIdentity.name * 4)
  await storeIdentities(database.pool, { fid, identities, now })
  const stored = await rowsOf('select platform, identity from agent_identity where fid = $1', fid)
  expect(new Set(stored)).toEqual(new Set(identities.map(({ platform, identity }) => ({ platform, identity }))))
})

test('a tag of an address is stored with texts cut to their bounds', async () => {
  const text = hard(5_000)
  const raw = {
    chain: hardAscii(longestChain),
    slug: text,
    name: text,
    tagType: text,
    ordinal: 1,
    meta: { [text]: text },
  }
  const tags = toTags(addressOf('tagged'), [{ ...raw, attester: addressOf('attester') }])
  expect(bytesOf(tags[0]?.slug)).toBe(longestOfTag.slug * 4)
  await storeTags(database.pool, { fid, source: 'oli', tags, now })
  const stored = await rowsOf('select slug, name, tag_type as "tagType" from oli_tag where fid = $1', fid)
  expect(stored).toEqual(tags.map(({ slug, name, tagType }) => ({ slug, name, tagType })))
})

test('a claim is stored with the longest host and nonce, and longer ones are refused', async () => {
  const nonce = hardAscii(claimLimits.nonceCharacters.most)
  const host = `${hardAscii(claimLimits.hostCharacters - 4)}.com`
  const decode = (body: object) =>
    decodeWellKnown({ method: 'well-known', fid, ...body } as never, fid, {} as never, 'claim')
  expect(decode({ host, nonce }).nonce).toBe(nonce)
  for (const longer of [
    { host: `a${host}`, nonce },
    { host, nonce: `a${nonce}` },
    { host: `${hard(100)}.com`, nonce },
  ])
    expect(() => decode(longer)).toThrow()
  const sha256 = Buffer.from(hashOf('proof').slice(2), 'hex')
  const proof = {
    fid,
    method: 'well-known',
    nonce,
    proof: { host },
    proofSha256: sha256,
    manifestSha256: sha256,
    signer: host,
  }
  await insertClaim(database.pool, {
    ...proof,
    signedAt: now,
    receivedAt: now,
    claimedAt: now,
    verifiedAddresses: [],
    hostLink: { kind: 'profile', evidence: {} },
    evidence: '{}',
  })
  await insertAction(database.pool, {
    ...proof,
    action: 'withdraw',
    byCustody: false,
    unlinked: false,
    signedAt: now,
    acceptedAt: now,
    answer: {},
  })
  for (const table of ['claim', 'claim_action'])
    expect(await rowsOf(`select signer, nonce from ${table} where fid = $1`, fid)).toEqual([{ signer: host, nonce }])
  expect(await rowsOf('select nonce from claim_event where fid = $1', fid)).toEqual([{ nonce }])
})

test('a hub is followed at the longest address that a setting takes, and one beyond is refused', async () => {
  const url = `http://hub.example/${hardAscii(maxUrlLength - 'http://hub.example/'.length)}`
  expect(httpUrls.parse(url)).toEqual([url])
  for (const longer of [`${url}a`, `http://hub.example/${hard(1_000)}`])
    expect(httpUrls.safeParse(longer).success).toBe(false)
  await storeHubStanding(database.pool, { url, accounts: 1, messages: 1, doubt: null, witness: false, now })
  const hashes = [`0x${'ab'.repeat(20)}`]
  await storeWitness(database.pool, { fid, url, hashes, known: new Set(), disputedAfterMs: 1, now })
  for (const table of ['hub_standing', 'verification_witness'])
    expect(await rowsOf(`select url from ${table}`)).toEqual([{ url }])
})

test('a message whose hash is longer than a hash is kept by nobody', async () => {
  const address = addressOf('verified')
  const body = { address, protocol: 'PROTOCOL_ETHEREUM' }
  const data = {
    type: 'MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS',
    fid,
    timestamp: 1,
    verificationAddAddressBody: body,
  }
  const judged = await judgeMessage({ fid, address, at: now, message: { data, hash: `0x${'ab'.repeat(3_000)}` } }, now)
  expect(judged?.hash.length).toBe(0)
  await storeMessages(database.pool, judged ? [judged] : [], now)
  expect(await rowsOf('select from farcaster_message')).toEqual([])
})

test('a registration with the largest number is asked for, and long metadata has a short id', async () => {
  const agentId = 2n ** 256n - 1n
  await seedRegistration(database.pool, { chain: 'base', id: 1, owner: addressOf('owner'), uri: 'https://a.com/' })
  await rowsOf('update registration set id = $1, agent_id = $2 where agent_id = 1', `base-${agentId}`, String(agentId))
  await askForDocuments(database.pool, [{ chain: 'base', agentId: String(agentId) }], now)
  const subject = `token:base:${agentId}`
  expect(await rowsOf('select subject from source_state where subject = $1', subject)).toEqual([{ subject }])
  expect(newName.safeParse('a'.repeat(longestChain)).success).toBe(true)
  expect(newName.safeParse('a'.repeat(longestChain + 1)).success).toBe(false)

  const long = Buffer.from(hard(50_000))
  const place = { agentId, blockNumber: 1, logIndex: 1, blockTimestamp: now, txHash: Buffer.alloc(32) }
  const { metadata } = applyRegistrationEvents(
    'base',
    [],
    [{ ...place, kind: 'metadata', key: long, value: long } as never],
  )
  expect(bytesOf(metadata[0]?.id)).toBeLessThanOrEqual(longestChain + 78 + 32 + 2)
})

test('a registration is found by its own words whatever is said of it, and a row holds the words that it was given', async () => {
  const { pool } = database
  const owner = addressOf('spammed')
  await seedRegistration(pool, { chain: 'base', id: 77, owner })
  await rowsOf(`
insert into feedback (id, chain, agent_id, client, feedback_index, value, value_decimals, tag1, tag2, endpoint, feedback_uri,
                      feedback_hash, block_number, log_index, block_timestamp, tx_hash)
select 'spam-' || n, 'base', 77, decode(lpad(to_hex(n), 40, '0'), 'hex'), 1, 1, 0, lpad(n::text, 100, chr(66000)), lpad(n::text, 430, 't'),
       '', '', '\\x00', n, 0, now(), '\\x00'
  from generate_series(1, 1000) n`)
  await rowsOf(`
insert into registration_metadata (id, chain, agent_id, key, value, block_number, log_index, block_timestamp, tx_hash)
select 'spam-' || n, 'base', 77, repeat('k', 430) || n, '', 1, n, now(), '\\x00' from generate_series(1, 300) n`)
  await rowsOf(`
insert into registration_document (chain, agent_id, uri_status, updated_at, services)
select 'base', 77, 'ok', now(), json_build_array(json_build_object('name', 'mcp', 'declared', json_build_object('tools',
       (select json_agg(repeat('t', 430) || n) from generate_series(1, 500) n))))
on conflict (chain, agent_id) do update set services = excluded.services`)
  await deriveSearchedRegistrations(pool, ['base:77'])
  const [row] = await rowsOf(
    `
select terms = array_to_tsvector(tsvector_to_array(terms)) as whole,
       terms @@ $1::tsquery as found
  from searched_registration where agent_id = 77`,
    `'owner:${owner}' & 'chain:base' & 'service:mcp'`,
  )
  expect(row).toMatchObject({ whole: true, found: true })
})
