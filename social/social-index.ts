import { z } from 'zod'

/** An Ethereum address: lowercase, 0x and 40 hex digits. */
export type Address = string

/** A live verification of protocol Ethereum. */
export interface Verification {
  readonly address: Address
  /** When the user signed it. */
  readonly verifiedAt: Date
  /** Null: the address is a key (type 0). Else a contract wallet (type 1), and the id of the chain that vouches for it. */
  readonly contractChainId: number | null
  /** The signed message, whole, as the host gave it. */
  readonly message: unknown
}

/** A live verification of Solana: shown, and nothing else, because no chain here has such addresses. */
export interface OtherVerification {
  /** Base58. */
  readonly address: string
  readonly verifiedAt: Date
  /** Of its message, 0x hex; null: the host names none. */
  readonly hash: string | null
}

/** What an account says about itself; null: nothing, or nothing that counts. Texts are as received. */
export interface SocialProfile {
  /** The user name, when its proof still names the account, as the host says. */
  readonly handle: string | null
  /** Address that the network's name server signed to have the handle; null: no handle, or none of the name server's. */
  readonly handleOwner: Address | null
  readonly displayName: string | null
  readonly bio: string | null
  readonly pfpUrl: string | null
  readonly profileUrl: string | null
  readonly github: string | null
  readonly twitter: string | null
  /** Time of the newest message among profile and posts; null: there are none. */
  readonly lastMessageAt: Date | null
}

/** Names of the profile fields that need no proof: an account states them itself. */
export type ProfilePart = Exclude<keyof SocialProfile, 'handle' | 'handleOwner' | 'lastMessageAt'>

/** What an account says in a part of its profile: the newest message about it. */
export interface Statement {
  readonly part: ProfilePart
  /** Null: emptied. */
  readonly text: string | null
  /** When the user signed it. */
  readonly at: Date
  /** The signed message, whole, as the host gave it. */
  readonly message: unknown
}

/** A part of the network with FIDs and an event stream of its own. */
export interface Shard {
  readonly shard: number
  /** Event id to start at for changes from now on; 0 when the hub does not report it: then the whole stream is read. */
  readonly head: number
}

/** What a host reports about itself and the network. Undefined fields: not reported. */
export interface Network {
  /** The shards that hold FIDs. */
  readonly shards: readonly Shard[]
  readonly accounts: number | undefined
  readonly messages: number | undefined
  /** Age of the newest block, in seconds, of the shard that is furthest behind. */
  readonly delaySeconds: number | undefined
  readonly isSyncing: boolean
}

interface FidPage {
  readonly fids: readonly number[]
  /** Undefined: this was the last page. */
  readonly nextPageToken: string | undefined
  /** Whether the list ends here only because its token leads nowhere: an empty page's, or the one that led here. */
  readonly isEndless?: boolean
}

/** One event of the network that matters here. */
export type SocialChange =
  | {
      readonly kind: 'verified'
      readonly fid: number
      readonly address: Address
      readonly verifiedAt: Date
      readonly at: Date
      readonly message: unknown
    }
  /** `verifiedAt`: only the verification of that time ended; undefined: all up to `at`, by the signed `message`. */
  | {
      readonly kind: 'unverified'
      readonly fid: number
      readonly address: Address
      readonly verifiedAt?: Date
      readonly at: Date
      readonly message?: unknown
    }
  /** A part of a profile was set to `text`; null: emptied. */
  | { readonly kind: 'profile'; readonly fid: number; readonly part: ProfilePart; readonly text: string | null }
  /** A signed message added or removed a key off the chain. */
  | { readonly kind: 'key_message'; readonly fid: number; readonly message: unknown }
  /** A key of an account was removed in the KeyRegistry, as the hub reports it. */
  | { readonly kind: 'key_removed'; readonly fid: number }
  /** A profile changed in a way that the event does not show: it has to be read again. */
  | { readonly kind: 'unknown_profile'; readonly fid: number }
  | FollowChange
  /** The follows of an account changed in a way that the event does not show: they have to be read again. */
  | { readonly kind: 'unknown_follows'; readonly fid: number }
  | { readonly kind: 'activity'; readonly fid: number; readonly at: Date }
  /** An event that is not understood; `fid` undefined: not even its subject is. */
  | { readonly kind: 'unreadable'; readonly fid: number | undefined }

/** `follows` true: a FID follows another since `at`; false: it unfollowed, unless it followed again after `at`. */
export interface FollowChange {
  readonly kind: 'follow'
  readonly fid: number
  readonly target: number
  readonly follows: boolean
  readonly at: Date
}

export interface EventPage {
  readonly changes: readonly SocialChange[]
  /** Cursor of the next page: one above the highest event id seen. */
  readonly next: number
  /** Whether a further page may be there already; false: the stream ends here for now. */
  readonly more: boolean
  /** Confirmation time of the newest block whose confirmation is on this page; undefined: there is none. */
  readonly newestBlockAt: Date | undefined
}

/**
 * The social network, as one host of it answers. Every call throws NoAnswer when there is no answer.
 *
 * A verified address is a live verification of protocol Ethereum: custody and auth addresses are none, nor are other
 * protocols'.
 */
export interface SocialIndex {
  network(): Promise<Network>
  /** FIDs of a shard, page by page. */
  fids(shard: number, pageToken?: string): Promise<FidPage>
  /**
   * Changes in a shard from event id `from` on, oldest first, of at most `pageSize` events. Events without a time get
   * `now`.
   */
  events(shard: number, from: number, now: Date, pageSize?: number): Promise<EventPage>
  /** Live verifications of a FID. Empty: it has none, or the FID is not registered. */
  verifications(fid: number): Promise<Verification[]>
  /** The same, and those of Solana. */
  everyVerification(fid: number): Promise<{ readonly live: Verification[]; readonly others: OtherVerification[] }>
  profile(fid: number): Promise<SocialProfile>
  /** The messages behind a profile, one for each part that an account ever set. */
  statements(fid: number): Promise<Statement[]>
  /** FID that the proof of a user name is of; undefined: there is no such proof. */
  nameHolder(name: string): Promise<number | undefined>
  /** FIDs that a FID follows, newest first, at most `mostFollows` of `hub.ts`. */
  follows(fid: number): Promise<Follow[]>
  /**
   * Verified addresses by FID, for a hundred FIDs at most, without times. FIDs whose answer does not parse are absent.
   * Undefined: this host has no bulk route.
   */
  verifiedSets(fids: readonly number[]): Promise<Map<number, Address[]> | undefined>
  /** Candidate FIDs by address, for one request's worth of addresses; absent: the host cannot look up by address. */
  readonly fidsByAddress?: (addresses: readonly Address[]) => Promise<Map<Address, number[]>>
  close(): Promise<void>
}

/** A FID that another one follows. */
export interface Follow {
  readonly fid: number
  readonly at: Date
}

/** A user object of the v2 family (hypersnap, Neynar). `verifications` and the custody address next to it are not used. */
const user = z.object({
  fid: z.int().positive(),
  verified_addresses: z.object({ eth_addresses: z.array(z.string()) }),
})
type User = z.infer<typeof user>

/** User objects; one that does not parse is left out, so that it does not hide the others. */
const users = z.array(z.unknown()).transform((given) => given.flatMap((one) => user.safeParse(one).data ?? []))

export const userPage = z.object({ users })

/** Users by address, as `bulk-by-address` keys them. */
export const usersByAddress = z.record(z.string(), users)

export function verifiedSetOf({ verified_addresses }: User): Address[] {
  const addresses = verified_addresses.eth_addresses.filter((address) => /^0x[0-9a-fA-F]{40}$/.test(address))
  return [...new Set(addresses.map((address) => address.toLowerCase()))]
}
