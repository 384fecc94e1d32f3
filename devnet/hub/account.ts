import {
  compareMessages,
  fakeHash,
  type Message,
  type MessageSigner,
  type UserDataType,
  userDataTypes,
} from './messages.ts'

/** One FID: what the chain says about it, and its live messages. */
export interface Account {
  readonly fid: number
  /** Data shard, 1 or 2. */
  readonly shard: number
  /** Lowercase, like every address here. */
  readonly custody: string
  readonly authAddresses: readonly string[]
  readonly registeredAtMs: number
  /** Active app keys, 0x and 32 bytes. */
  readonly appKeys: Set<string>
  /** App key that signs the account's messages. */
  readonly signer: MessageSigner
  /** Keyed by protocol and address: a verification again replaces the one before. */
  readonly verifications: Map<string, Message>
  /** The messages that ended verifications, keyed alike; only the gRPC API shows them. */
  readonly removals: Map<string, Message>
  readonly userData: Map<UserDataType, Message>
  readonly casts: Message[]
  /** Follows, by the FID followed. */
  readonly links: Map<number, Message>
}

/** Fields of an account to create. */
export interface NewAccount {
  readonly fid: number
  readonly custody: string
  readonly authAddresses?: readonly string[]
  /** App key of the account, or its public half only; absent: a made-up key that cannot sign. */
  readonly appKey?: MessageSigner | string
  readonly registeredAt: Date
}

/** Shards that hold FIDs; shard 0 is the block shard. */
export const dataShards: readonly number[] = [1, 2]

export function shardOf(fid: number): number {
  return dataShards[fid % dataShards.length] as number
}

/** An account that has said nothing yet. */
export function newAccount({ fid, custody, authAddresses = [], appKey, registeredAt }: NewAccount): Account {
  const signer = typeof appKey === 'object' ? appKey : { publicKey: appKey ?? fakeHash('app key', fid) }
  return {
    fid,
    shard: shardOf(fid),
    custody: custody.toLowerCase(),
    authAddresses: authAddresses.map((address) => address.toLowerCase()),
    registeredAtMs: registeredAt.getTime(),
    appKeys: new Set([signer.publicKey]),
    signer,
    verifications: new Map(),
    removals: new Map(),
    userData: new Map(),
    casts: [],
    links: new Map(),
  }
}

export interface Profile {
  readonly username?: string
  readonly displayName?: string
  readonly bio?: string
  readonly pfp?: string
  readonly url?: string
  readonly github?: string
  readonly twitter?: string
  readonly location?: string
  readonly banner?: string
}

/** User data type of each part of a profile. */
export const profileTypes = {
  username: 'USER_DATA_TYPE_USERNAME',
  displayName: 'USER_DATA_TYPE_DISPLAY',
  bio: 'USER_DATA_TYPE_BIO',
  pfp: 'USER_DATA_TYPE_PFP',
  url: 'USER_DATA_TYPE_URL',
  github: 'USER_DATA_TYPE_GITHUB',
  twitter: 'USER_DATA_TYPE_TWITTER',
  location: 'USER_DATA_TYPE_LOCATION',
  banner: 'USER_DATA_TYPE_BANNER',
} as const satisfies Record<keyof Profile, UserDataType>

export type Protocol = 'ethereum' | 'solana'

export function verificationKey(protocol: Protocol, address: string): string {
  return `${protocol}:${address}`
}

/** The live messages of an account, each list in its order. */
export function messagesOf(account: Account, kind: 'verifications' | 'userData' | 'casts' | 'links'): Message[] {
  return [...account[kind].values()].sort(compareMessages)
}

/** The value of one user data type, null when it was never set or was emptied. */
export function userDataOf(account: Account, type: UserDataType): string | null {
  const body = account.userData.get(type)?.data.userDataBody as { value: string } | undefined
  return body?.value || null
}

/** Live verified addresses of a protocol, oldest verification first. */
export function verifiedAddresses(account: Account, protocol: Protocol): string[] {
  const bodies = messagesOf(account, 'verifications').map(({ data }) => verificationBody(data))
  return bodies.filter((body) => (body.protocol === 'PROTOCOL_SOLANA') === (protocol === 'solana')).map(addressOf)
}

const addressOf = ({ address }: { address: string }) => address

/** Either body of a verification: the older one knows Ethereum alone. */
function verificationBody(data: Message['data']) {
  return (data.verificationAddAddressBody ?? data.verificationAddEthAddressBody) as {
    address: string
    protocol?: string
  }
}

/** User data type by its number, as text, or by its name; undefined: unknown. */
export function findUserDataType(text: string): UserDataType | undefined {
  const names = Object.keys(userDataTypes) as UserDataType[]
  return names.find((name) => name === text || String(userDataTypes[name]) === text)
}

/** An on-chain event as the API shows it; `body` under its own name. */
function onChainEvent(account: Account, type: string, index: number, body: Record<string, unknown>) {
  const seconds = Math.floor(account.registeredAtMs / 1000)
  return {
    type,
    chainId: 10,
    blockNumber: 108_864_739 + account.fid,
    blockHash: fakeHash('chain block', account.fid),
    blockTimestamp: seconds,
    transactionHash: fakeHash('transaction', account.fid, index),
    logIndex: index,
    fid: account.fid,
    ...body,
    txIndex: 0,
  }
}

export function registerEvent(account: Account) {
  const idRegisterEventBody = {
    to: account.custody,
    eventType: 'ID_REGISTER_EVENT_TYPE_REGISTER',
    from: '0x',
    recoveryAddress: '0x00000000fcd5a8e45785c8a4b9a718c9348e4f18',
  }
  return onChainEvent(account, 'EVENT_TYPE_ID_REGISTER', 0, { idRegisterEventBody })
}

export function signerEvent(account: Account, key: string, eventType: 'ADD' | 'REMOVE') {
  const signerEventBody = {
    key,
    keyType: 1,
    eventType: `SIGNER_EVENT_TYPE_${eventType}`,
    metadata: Buffer.alloc(32).toString('base64'),
    metadataType: 1,
  }
  return onChainEvent(account, 'EVENT_TYPE_SIGNER', 1, { signerEventBody })
}
