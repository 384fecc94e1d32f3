import { type Account, findUserDataType, messagesOf, registerEvent, signerEvent, verifiedAddresses } from './account.ts'
import type { Answer } from './faults.ts'
import type { Message } from './messages.ts'
import { HubError, numberOf, page, pageSize } from './query.ts'
import type { HubState } from './state.ts'

type Route = (state: HubState, query: URLSearchParams) => Answer

const largestId = Number.MAX_SAFE_INTEGER

/** The v1 family: what Snapchain's HTTP API answers. A missing thing is a HubError with status 400, as there. */
export const routes: Record<string, Route> = {
  '/v1/info': info,
  '/v1/fids': fids,
  '/v1/events': events,
  '/v1/eventById': eventById,
  '/v1/verificationsByFid': (state, query) => messagePage(findAccount(state, query), 'verifications', query, ''),
  '/v1/userDataByFid': userData,
  '/v1/castsByFid': (state, query) => messagePage(findAccount(state, query), 'casts', query, ''),
  '/v1/linksByFid': (state, query) => messagePage(findAccount(state, query), 'links', query, ''),
  '/v1/fidAddressType': addressType,
  '/v1/onChainSignersByFid': (state, query) => ok({ events: signersOf(findAccount(state, query)) }),
  '/v1/onChainEventsByFid': onChainEvents,
  '/v1/onChainIdRegistryEventByAddress': registration,
  '/v1/userNameProofByName': nameProof,
}

function ok(body: unknown): Answer {
  return { status: 200, body }
}

function info(state: HubState): Answer {
  const numMessages = state.messageCount()
  const { size } = state.accounts
  return ok({
    version: '1.5.5',
    isSyncing: state.told.isSyncing ?? false,
    nickname: 'Devnet Hub',
    rootHash: '0'.repeat(40),
    dbStats: { numMessages, numFidEvents: state.told.accounts ?? size, numFnameEvents: size },
    numShards: state.shards.size - 1,
    shardInfos: [...state.shards.values()].map(({ shardIndex, height }) => ({
      shardId: shardIndex,
      maxHeight: height,
      numMessages,
      numFidRegistrations: state.fidsOf(shardIndex).length,
      approxSize: 0,
      blockDelay: state.told.delaySeconds ?? 0,
      mempoolSize: 0,
    })),
    peerId: '12D3KooWDevnetHub',
    hubOperatorFid: 1,
  })
}

function fids(state: HubState, query: URLSearchParams): Answer {
  const shard = numberOf(query, 'shard_id')
  if (shard === undefined) throw new HubError('missing field `shard_id`')
  if (!state.shards.has(shard)) throw new HubError('Failed to get fids', `no shard ${shard}`)
  const { items, nextPageToken } = page(state.fidsOf(shard), String, query, (fids, key) => fids.indexOf(Number(key)))
  return ok(nextPageToken ? { fids: items, nextPageToken } : { fids: items })
}

function events(state: HubState, query: URLSearchParams): Answer {
  const index = numberOf(query, 'shard_index')
  const shards = index === undefined ? [...state.shards.values()] : [state.shards.get(index)]
  const from = numberOf(query, 'from_event_id') ?? 0
  const stop = numberOf(query, 'stop_id') ?? largestId
  const range = { from, stop, limit: pageSize(query), reverse: query.get('reverse') === 'true' }
  const found = shards.flatMap((shard) => {
    if (!shard) throw new HubError('Failed to get events', `no shard ${index}`)
    return shard.page(range)
  })
  return ok({ events: found })
}

function eventById(state: HubState, query: URLSearchParams): Answer {
  const event = state.shards.get(numberOf(query, 'shard_index') ?? -1)?.find(numberOf(query, 'event_id') ?? -1)
  if (!event) throw new HubError('Failed to get event', 'not found')
  return ok(event)
}

function userData(state: HubState, query: URLSearchParams): Answer {
  const account = findAccount(state, query)
  const wanted = query.get('user_data_type')
  if (wanted === null) return messagePage(account, 'userData', query, null)
  const type = findUserDataType(wanted)
  const message = type && account.userData.get(type)
  if (!message) throw new HubError('Failed to get user data by fid', 'not found')
  return ok(message)
}

function addressType(state: HubState, query: URLSearchParams): Answer {
  const account = findAccount(state, query)
  const address = addressOf(query)
  return ok({
    is_custody: account.custody === address,
    is_auth: account.authAddresses.includes(address),
    is_verified: verifiedAddresses(account, 'ethereum').includes(address),
  })
}

function onChainEvents(state: HubState, query: URLSearchParams): Answer {
  const account = findAccount(state, query)
  const type = query.get('event_type') ?? ''
  if (/^(1|EVENT_TYPE_SIGNER)$/.test(type)) return ok({ events: signersOf(account) })
  if (/^(3|EVENT_TYPE_ID_REGISTER)$/.test(type)) return ok({ events: [registerEvent(account)] })
  return ok({ events: [] })
}

function registration(state: HubState, query: URLSearchParams): Answer {
  const address = addressOf(query)
  const account = [...state.accounts.values()].find(({ custody }) => custody === address)
  if (!account) throw new HubError('Failed to get id registry event', 'not found')
  return ok(registerEvent(account))
}

function nameProof(state: HubState, query: URLSearchParams): Answer {
  const name = query.get('name') ?? ''
  const account = name === '' ? undefined : state.named(name)
  if (!account) throw new HubError('Failed to get username proof', 'not found')
  return ok({
    timestamp: Math.floor(account.registeredAtMs / 1000),
    name,
    owner: Buffer.from(account.custody.slice(2), 'hex').toString('base64'),
    signature: Buffer.alloc(65, 3).toString('base64'),
    fid: account.fid,
    ...state.told.nameProof,
    type: name.endsWith('.eth') ? 'USERNAME_TYPE_ENS_L1' : 'USERNAME_TYPE_FNAME',
  })
}

function signersOf(account: Account) {
  return [...account.appKeys].map((key) => signerEvent(account, key, 'ADD'))
}

/** A FID nobody registered is an account without messages: the hub does not tell the two apart. */
function findAccount(state: HubState, query: URLSearchParams): Account {
  const fid = numberOf(query, 'fid')
  if (fid === undefined) throw new HubError('missing field `fid`')
  return state.accounts.get(fid) ?? nobody(fid)
}

function nobody(fid: number): Account {
  const verifications = new Map()
  const userData = new Map()
  const links = new Map()
  const nothing = {
    custody: '',
    authAddresses: [],
    registeredAtMs: 0,
    appKeys: new Set<string>(),
    signer: { publicKey: '0x' },
    casts: [],
  }
  return { fid, shard: 1, verifications, removals: new Map(), userData, links, ...nothing }
}

/** `end` is the page token that this route sends with the last page; real hubs differ in it. */
function messagePage(
  account: Account,
  kind: 'verifications' | 'userData' | 'casts' | 'links',
  query: URLSearchParams,
  end: '' | null,
): Answer {
  const wanted = query.get('link_type')
  const all = messagesOf(account, kind).filter(({ data }) => {
    return kind !== 'links' || wanted === null || (data.linkBody as { type: string }).type === wanted
  })
  const { items, nextPageToken } = page(all, ({ hash }: Message) => hash, query)
  return ok({ messages: items, nextPageToken: nextPageToken ?? end })
}

function addressOf(query: URLSearchParams): string {
  return `0x${(query.get('address') ?? '').replace(/^0x/, '').toLowerCase()}`
}
