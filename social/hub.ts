import { type Hex, toHex } from 'viem'
import type { z } from 'zod'
import { HostClosed } from '../hosts/host.ts'
import { badAboutOne, NoAnswer } from '../hosts/no-answer.ts'
import { isNameProof } from '../trust/name-proof.ts'
import { eventPage, firstIdOfBlock, toChanges } from './events.ts'
import {
  type Bounds,
  createSocialHttp,
  type IsNothing,
  type Query,
  type SocialHttp,
  type SocialHttpOptions,
} from './http.ts'
import {
  contractChainId,
  fidPage,
  hashOf,
  hubInfo,
  type Message,
  messagePage,
  messageTime,
  nameProof,
  otherAddress,
  verificationAdd,
  verifiedAddress,
} from './messages.ts'
import { isRealHandle, toProfile, toStatements, userName } from './profile.ts'
import {
  type Address,
  type Follow,
  type Network,
  type OtherVerification,
  type SocialIndex,
  userPage,
  type Verification,
  verifiedSetOf,
} from './social-index.ts'

const messagesPerPage = 1_000
const mostMessagePages = 20
/** Events on one page. An event can carry whole messages, of some 10,000 bytes each. */
export const eventsPerPage = 250
/** Most bytes of a page of events: one alone can take back all links of an account, thousands of some 450 bytes. */
const mostEventBytes = 16 * 1024 * 1024
/** Bounds of an answer about one account. */
const ofOne = { isAboutOne: true }
const fidsPerPage = 100
/** Most follows of an account that are read and kept, the newest. */
export const mostFollows = 2_000
/** Most verifications of Solana of an account that are kept; the network keeps 25 of all protocols. */
const mostOthers = 25
/** Shards with FIDs, assumed for a hub that does not report its shards. Shard 0 holds blocks only. */
const usualShards = [1, 2]

/**
 * Milliseconds before a node without a bulk route is asked for it again: it may have been updated since, or the 404
 * came from a proxy before it.
 */
const bulkProbeMs = 3_600_000

interface HubOptions extends SocialHttpOptions {
  readonly now?: () => Date
}

/** A Farcaster hub's HTTP API: Snapchain, or hypersnap, which answers in bulk as well. */
export function createHub({ now = () => new Date(), ...options }: HubOptions): SocialIndex {
  const http = createSocialHttp(options)
  let noBulkUntil = 0

  return {
    network: () => networkOf(http),

    fids: (shard, pageToken) => fidsOf(http, shard, pageToken),

    async events(shard, from, now, pageSize = eventsPerPage) {
      const query = { shard_index: shard, from_event_id: from, pageSize }
      const bounds = { mostBytes: mostEventBytes, isAboutOne: pageSize === 1 }
      const { events } = await get(http, '/v1/events', query, eventPage, bounds)
      const page = understood('/v1/events', () => toChanges(events, from, pageSize, now))
      if (page.more || page.next === from) return page
      // Hubs answer with fewer events than were asked for although there are more.
      const head = await headOf(http, shard).catch(notTold)
      return { ...page, more: page.next <= head }
    },

    everyVerification: (fid) => everyVerification(http, fid),

    async verifications(fid) {
      return (await everyVerification(http, fid)).live
    },

    async profile(fid) {
      const [userData, posts] = await Promise.all([
        messagesOf(http, '/v1/userDataByFid', fid),
        newestOf(http, '/v1/castsByFid', fid),
      ])
      const name = userName(userData)
      const proof = name === null ? undefined : await nameProofOf(http, name)
      const isOwn = name !== null && proof?.fid === fid
      return toProfile(isOwn ? { name, owner: await signedOwner(name, proof) } : null, userData, posts)
    },

    async statements(fid) {
      return toStatements(await messagesOf(http, '/v1/userDataByFid', fid))
    },

    async nameHolder(name) {
      return (await nameProofOf(http, name))?.fid
    },

    follows: (fid) => followsOf(http, fid),

    async verifiedSets(fids) {
      if (now().getTime() < noBulkUntil) return undefined
      const query = { fids: fids.join(',') }
      // A plain Snapchain node has no such route and answers 404, whatever the FIDs.
      const answer = await http.get('/v2/farcaster/user/bulk', query, userPage, (status) => status === 404)
      if (answer === undefined) noBulkUntil = now().getTime() + bulkProbeMs
      return answer && new Map(answer.users.map((user) => [user.fid, verifiedSetOf(user)]))
    },

    close: () => http.close(),
  }
}

async function networkOf(http: SocialHttp): Promise<Network> {
  const { numShards, shardInfos, dbStats, isSyncing } = await get(http, '/v1/info', {}, hubInfo)
  const counted = numShards ? Array.from({ length: numShards }, (_, index) => index + 1) : undefined
  const listed = shardInfos?.map(({ shardId }) => shardId).filter((shard) => shard > 0)
  const shards = counted ?? (listed?.length ? listed : usualShards)
  const infoOf = (shard: number) => shardInfos?.find(({ shardId }) => shardId === shard)
  const delays = shards.flatMap((shard) => infoOf(shard)?.blockDelay ?? [])
  return {
    shards: shards.map((shard) => ({ shard, head: firstIdOfBlock(infoOf(shard)?.maxHeight ?? 0) })),
    accounts: dbStats?.numFidRegistrations ?? dbStats?.numFidEvents ?? undefined,
    messages: dbStats?.numMessages ?? undefined,
    delaySeconds: delays.length > 0 ? Math.max(...delays) : undefined,
    isSyncing: isSyncing ?? false,
  }
}

async function headOf(http: SocialHttp, shard: number): Promise<number> {
  const { shards } = await networkOf(http)
  return shards.find((one) => one.shard === shard)?.head ?? 0
}

async function everyVerification(http: SocialHttp, fid: number) {
  const messages = await messagesOf(http, '/v1/verificationsByFid', fid)
  const live = understood('/v1/verificationsByFid', () => toVerifications(messages), badAboutOne)
  return { live, others: toOthers(messages) }
}

async function followsOf(http: SocialHttp, fid: number) {
  const messages: Message[] = []
  const seen = new Set<string>()
  let pageToken: string | undefined
  for (let page = 0; page < mostMessagePages; page++) {
    const query: Query = { fid, link_type: 'follow', pageSize: messagesPerPage, reverse: true, pageToken }
    const answer = await http.get('/v1/linksByFid', query, messagePage, saysNotFound, ofOne)
    messages.push(...aboutFid(answer?.messages ?? [], fid, '/v1/linksByFid'))
    pageToken = answer && tokenAfter(answer, seen)
    if (!pageToken || messages.length >= mostFollows) return toFollows(messages)
  }
  throw tooManyPages('/v1/linksByFid', fid)
}

async function fidsOf(http: SocialHttp, shard: number, pageToken: string | undefined) {
  const query = { shard_id: shard, pageSize: fidsPerPage, pageToken }
  const { fids, nextPageToken } = await get(http, '/v1/fids', query, fidPage)
  if (!nextPageToken) return { fids, nextPageToken: undefined }
  // Hubs name a token behind an empty page, and may name the same one again: followed, such a list never ends.
  const isEndless = fids.length === 0 || nextPageToken === pageToken
  return isEndless ? { fids, nextPageToken: undefined, isEndless } : { fids, nextPageToken }
}

/** The head of a shard that a hub does not tell. Throws for another reason than its silence. */
function notTold(error: unknown): number {
  if (error instanceof NoAnswer || error instanceof HostClosed) return 0
  throw error
}

/** The newest verification of each address. Throws for a message of another type: then this is another list. */
function toVerifications(messages: readonly Message[]): Verification[] {
  const newest = new Map<string, Verification>()
  for (const message of messages) {
    if (message.data.type !== verificationAdd) throw new Error(`${message.data.type} among verifications`)
    const address = verifiedAddress(message, 'added')
    const verifiedAt = messageTime(message)
    const before = address && newest.get(address)
    if (!address || (before && before.verifiedAt >= verifiedAt)) continue
    newest.set(address, { address, verifiedAt, contractChainId: contractChainId(message), message })
  }
  return [...newest.values()]
}

/** The newest verification of each address of Solana, at most `mostOthers`. */
function toOthers(messages: readonly Message[]): OtherVerification[] {
  const newest = new Map<string, OtherVerification>()
  for (const message of messages) {
    const address = otherAddress(message)
    const verifiedAt = messageTime(message)
    if (address && !((newest.get(address)?.verifiedAt ?? 0) >= verifiedAt))
      newest.set(address, { address, verifiedAt, hash: hashOf(message) })
  }
  return [...newest.values()].slice(0, mostOthers)
}

/** Follows, newest first, each FID once, at most `mostFollows`. */
function toFollows(messages: readonly Message[]): Follow[] {
  const newest = new Map<number, Date>()
  const sorted = [...messages].sort((one, other) => other.data.timestamp - one.data.timestamp)
  for (const message of sorted) {
    const { type, targetFid } = message.data.linkBody ?? {}
    if (type === 'follow' && targetFid && !newest.has(targetFid)) newest.set(targetFid, messageTime(message))
  }
  return [...newest].slice(0, mostFollows).map(([fid, at]) => ({ fid, at }))
}

/** All live messages of a FID on one route. Throws when the hub answers about another FID. */
async function messagesOf(http: SocialHttp, path: string, fid: number): Promise<Message[]> {
  const found: Message[] = []
  const seen = new Set<string>()
  let pageToken: string | undefined
  for (let page = 0; page < mostMessagePages; page++) {
    const query: Query = { fid, pageSize: messagesPerPage, pageToken }
    const answer = await http.get(path, query, messagePage, saysNotFound, ofOne)
    found.push(...aboutFid(answer?.messages ?? [], fid, path))
    pageToken = answer && tokenAfter(answer, seen)
    if (!pageToken) return found
  }
  throw tooManyPages(path, fid)
}

/** Token of the page behind this one. Undefined: an empty page, or a token seen before, ends a list as well. */
function tokenAfter({ messages, nextPageToken }: z.infer<typeof messagePage>, seen: Set<string>): string | undefined {
  if (!nextPageToken || messages.length === 0 || seen.has(nextPageToken)) return undefined
  seen.add(nextPageToken)
  return nextPageToken
}

function tooManyPages(path: string, fid: number): NoAnswer {
  return badAboutOne(`${path}: more than ${mostMessagePages} pages for fid ${fid}`)
}

async function newestOf(http: SocialHttp, path: string, fid: number): Promise<readonly Message[]> {
  const answer = await http.get(path, { fid, pageSize: 1, reverse: true }, messagePage, saysNotFound, ofOne)
  return aboutFid(answer?.messages ?? [], fid, path)
}

/** The proof of a user name: a profile can keep a name whose proof has moved to another FID. Undefined: there is none. */
async function nameProofOf(http: SocialHttp, name: string): Promise<z.infer<typeof nameProof> | undefined> {
  if (!isRealHandle(name)) return undefined
  return http.get('/v1/userNameProofByName', { name }, nameProof, saysNotFound, ofOne)
}

/** Address that the name server signed to have the name; null: it signed nothing. */
async function signedOwner(
  name: string,
  { owner, signature, timestamp }: z.infer<typeof nameProof>,
): Promise<Address | null> {
  const address = hexOf(owner)
  const isSigned = await isNameProof({ name, timestamp, owner: address, signature: hexOf(signature) })
  return isSigned ? address : null
}

/** Bytes as hubs write them: in hex, or in base64. */
function hexOf(text: string): Hex {
  return text.startsWith('0x') ? (text.toLowerCase() as Hex) : toHex(Buffer.from(text, 'base64'))
}

async function get<T>(http: SocialHttp, path: string, query: Query, schema: z.ZodType<T>, bounds?: Bounds): Promise<T> {
  return (await http.get(path, query, schema, undefined, bounds)) as T
}

function aboutFid(messages: readonly Message[], fid: number, path: string): readonly Message[] {
  const stranger = messages.find(({ data }) => data.fid !== fid)
  if (stranger) throw badAboutOne(`${path}: asked for fid ${fid}, answered for ${stranger.data.fid}`)
  return messages
}

/** Hubs answer 400 both for a missing thing and for a bad request; only the text tells them apart. */
const saysNotFound: IsNothing = (status, body) => status === 400 && /not.?found/i.test(body)

/** What `read` makes of an answer. Throws NoAnswer, by default one that the host is to blame for, where it throws. */
function understood<T>(path: string, read: () => T, failure: typeof badAboutOne = badAnswer): T {
  try {
    return read()
  } catch (cause) {
    throw failure(`${path}: ${(cause as Error).message}`, cause)
  }
}

function badAnswer(message: string, cause?: unknown): NoAnswer {
  return new NoAnswer('bad_answer', message, { cause })
}
