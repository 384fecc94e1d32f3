import {
  type Account,
  dataShards,
  type NewAccount,
  newAccount,
  type Profile,
  type Protocol,
  profileTypes,
  registerEvent,
  signerEvent,
  userDataOf,
  verificationKey,
} from './account.ts'
import { EventLog, type NewEvent } from './events.ts'
import { type Message, makeMessage } from './messages.ts'
import {
  endVerification,
  merge,
  type Removal,
  type Sign,
  type VerificationOptions,
  verificationBody,
} from './verifications.ts'

/** The network as one hub sees it. Every mutator is visible to reads at once and is reported as events. */
export class HubState {
  readonly accounts = new Map<number, Account>()
  /** Shard 0 is the block shard: it repeats verifications, and holds no FID. */
  readonly shards = new Map([0, ...dataShards].map((shard) => [shard, new EventLog(shard)]))
  /** Values that the hub reports in place of the true ones: of `/v1/info`, and what a name server signed. */
  readonly told: {
    accounts?: number
    delaySeconds?: number
    isSyncing?: boolean
    nameProof?: { timestamp: number; owner: string; signature: string }
  } = {}
  private readonly now: () => Date

  /** `now` dates messages that are given no time. */
  constructor(now: () => Date = () => new Date()) {
    this.now = now
  }

  /** Adds an account; `registeredAt` defaults to now. */
  addAccount(made: Omit<NewAccount, 'registeredAt'> & Partial<NewAccount>): Account {
    if (this.accounts.has(made.fid)) throw new Error(`fid ${made.fid} is already registered`)
    const account = newAccount({ registeredAt: this.now(), ...made })
    this.accounts.set(made.fid, account)
    const events = [registerEvent(account), ...[...account.appKeys].map((key) => signerEvent(account, key, 'ADD'))]
    this.report(
      account,
      events.map((onChainEvent) => ({
        type: 'HUB_EVENT_TYPE_MERGE_ON_CHAIN_EVENT',
        mergeOnChainEventBody: { onChainEvent },
      })),
    )
    return account
  }

  /** Reports the removal of an app key in the KeyRegistry. */
  removeAppKey(fid: number, key: string) {
    const account = this.account(fid)
    account.appKeys.delete(key)
    const onChainEvent = signerEvent(account, key, 'REMOVE')
    this.report(account, [{ type: 'HUB_EVENT_TYPE_MERGE_ON_CHAIN_EVENT', mergeOnChainEventBody: { onChainEvent } }])
  }

  /** Sets the parts that are given. An empty text empties a part. */
  setProfile(fid: number, profile: Profile, at?: Date) {
    const account = this.account(fid)
    const merged: NewEvent[] = []
    for (const [part, value] of Object.entries(profile)) {
      const type = profileTypes[part as keyof Profile]
      const before = account.userData.get(type)
      const message = this.sign(account, 'MESSAGE_TYPE_USER_DATA_ADD', { userDataBody: { type, value } }, at)
      account.userData.set(type, message)
      merged.push(merge(message, before ? [before] : []))
    }
    this.report(account, merged)
  }

  /** Verifies an address for a FID. Verified already: the new message replaces the old one and it stays live. */
  addVerification(fid: number, address: string, options: VerificationOptions = {}): Message {
    const account = this.account(fid)
    const protocol = options.protocol ?? 'ethereum'
    const text = protocol === 'ethereum' ? address.toLowerCase() : address
    const body = verificationBody({ fid, address: text }, protocol, options)
    const isSigned = options.privateKey !== undefined || options.walletSignature !== undefined
    const signing = { ...account, signer: options.appKey ?? account.signer }
    const message = this.sign(signing, 'MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS', body, options.at, isSigned)
    const key = verificationKey(protocol, text)
    const before = account.verifications.get(key)
    account.verifications.set(key, message)
    account.removals.delete(key)
    this.report(account, [merge(message, before ? [before] : [])], true)
    return message
  }

  /** Ends a live verification in the given way. */
  removeVerification(fid: number, address: string, how: Removal = 'message', protocol: Protocol = 'ethereum') {
    const account = this.account(fid)
    const text = protocol === 'ethereum' ? address.toLowerCase() : address
    const key = verificationKey(protocol, text)
    const message = account.verifications.get(key)
    if (!message) throw new Error(`fid ${fid} does not verify ${text}`)
    account.verifications.delete(key)
    const sign: Sign = (type, body) => this.sign(account, type, body)
    const { event, added, removal } = endVerification({ fid, address: text, protocol, message, how }, sign)
    if (added) account.verifications.set(added.key, added.message)
    if (removal) account.removals.set(key, removal)
    this.report(account, [event], true)
  }

  /** Takes an address from one FID and verifies it for another. */
  moveVerification(address: string, fromFid: number, toFid: number) {
    this.removeVerification(fromFid, address)
    this.addVerification(toFid, address)
  }

  cast(fid: number, text: string, { parent, at }: { parent?: Message; at?: Date } = {}): Message {
    const account = this.account(fid)
    const castAddBody = {
      embedsDeprecated: [],
      mentions: [],
      parentCastId: parent ? { fid: parent.data.fid, hash: parent.hash } : null,
      parentUrl: null,
      text,
      mentionsPositions: [],
      embeds: [],
    }
    const message = this.sign(account, 'MESSAGE_TYPE_CAST_ADD', { castAddBody }, at)
    account.casts.push(message)
    this.report(account, [merge(message)])
    return message
  }

  follow(fid: number, targetFid: number, at?: Date) {
    const account = this.account(fid)
    const message = this.sign(account, 'MESSAGE_TYPE_LINK_ADD', { linkBody: { type: 'follow', targetFid } }, at)
    account.links.set(targetFid, message)
    this.report(account, [merge(message)])
  }

  unfollow(fid: number, targetFid: number) {
    const account = this.account(fid)
    const before = account.links.get(targetFid)
    if (!before) throw new Error(`fid ${fid} does not follow ${targetFid}`)
    account.links.delete(targetFid)
    const message = this.sign(account, 'MESSAGE_TYPE_LINK_REMOVE', { linkBody: { type: 'follow', targetFid } })
    this.report(account, [merge(message, [before])])
  }

  /** Drops the events so far, as a hub does after three days: then only a sweep finds the changes. */
  forgetEvents() {
    for (const shard of this.shards.values()) shard.forget()
  }

  /** FIDs of a shard, the lowest first. */
  fidsOf(shard: number): readonly number[] {
    const fids = [...this.accounts.values()].filter((account) => account.shard === shard).map(({ fid }) => fid)
    return fids.sort((one, other) => one - other)
  }

  /** The account whose profile sets this user name; undefined: none. */
  named(name: string): Account | undefined {
    return [...this.accounts.values()].find((one) => userDataOf(one, 'USER_DATA_TYPE_USERNAME') === name)
  }

  /** How many accounts follow one. */
  followersOf(fid: number): number {
    return [...this.accounts.values()].filter(({ links }) => links.has(fid)).length
  }

  /** Live messages of all accounts. */
  messageCount(): number {
    return [...this.accounts.values()].reduce((sum, { verifications, userData, casts, links }) => {
      return sum + verifications.size + userData.size + casts.length + links.size
    }, 0)
  }

  private account(fid: number): Account {
    const account = this.accounts.get(fid)
    if (!account) throw new Error(`fid ${fid} is not registered`)
    return account
  }

  /** Signs a message; one about an address without a private key cannot be checked, but says nothing false. */
  private sign(
    account: Account,
    type: string,
    body: Record<string, unknown>,
    at = this.now(),
    isSigned = true,
  ): Message {
    const { publicKey, privateKey } = account.signer
    const signer = { publicKey, privateKey: isSigned ? privateKey : undefined }
    return makeMessage(type, { fid: account.fid, signer, unixMs: at.getTime() }, body)
  }

  private report(account: Account, events: readonly NewEvent[], onBlockShard = false) {
    const unixMs = this.now().getTime()
    this.shards.get(account.shard)?.append(unixMs, events)
    if (onBlockShard) this.shards.get(0)?.append(unixMs, events)
  }
}
