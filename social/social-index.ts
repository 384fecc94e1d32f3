/** Lowercase, 0x and 40 hex digits. */
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

/** What an account says about itself; null: nothing, or nothing that counts. Texts are as received. */
export interface SocialProfile {
  /** The user name, when its proof still stands. */
  readonly handle: string | null
  readonly displayName: string | null
  readonly bio: string | null
  readonly pfpUrl: string | null
  readonly profileUrl: string | null
  readonly github: string | null
  readonly twitter: string | null
  /** Newest message among profile and posts. */
  readonly lastMessageAt: Date | null
}

/** Parts that need no proof: an account says them of itself. */
export type ProfilePart = Exclude<keyof SocialProfile, 'handle' | 'lastMessageAt'>

/** A part of the network with FIDs and an event stream of its own. */
export interface Shard {
  readonly shard: number
  /** Id from which the stream holds what happens from now on; 0 when the hub does not tell: all it has kept. */
  readonly head: number
}

/** What a host says about itself and the network. Undefined: it does not tell. */
export interface Network {
  /** The shards that hold FIDs. */
  readonly shards: readonly Shard[]
  readonly accounts: number | undefined
  readonly messages: number | undefined
  /** Age of the newest block of the shard that is furthest behind. */
  readonly delaySeconds: number | undefined
  readonly isSyncing: boolean
}

interface FidPage {
  readonly fids: readonly number[]
  /** Undefined: this was the last page. */
  readonly nextPageToken: string | undefined
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
  /** `verifiedAt` names the one verification that went; undefined: all of the address up to `at`, by the signed `message`. */
  | {
      readonly kind: 'unverified'
      readonly fid: number
      readonly address: Address
      readonly verifiedAt?: Date
      readonly at: Date
      readonly message?: unknown
    }
  /** A part of a profile is another text now; null: none. */
  | { readonly kind: 'profile'; readonly fid: number; readonly part: ProfilePart; readonly text: string | null }
  /** A key was added, or removed, off the chain, by a signed message. */
  | { readonly kind: 'key_message'; readonly fid: number; readonly message: unknown }
  /** A key of an account was removed in the registry, as the hub heard of it. */
  | { readonly kind: 'key_removed'; readonly fid: number }
  /** Something about a profile changed that has to be asked for. */
  | { readonly kind: 'unknown_profile'; readonly fid: number }
  | FollowChange
  /** Whom an account follows changed in a way that has to be asked for. */
  | { readonly kind: 'unknown_follows'; readonly fid: number }
  | { readonly kind: 'activity'; readonly fid: number; readonly at: Date }
  /** Something that is not understood; undefined: nor whom it is about. */
  | { readonly kind: 'unreadable'; readonly fid: number | undefined }

/** A FID follows another since `at`; or does so no longer, unless it has begun again after `at`. */
export interface FollowChange {
  readonly kind: 'follow'
  readonly fid: number
  readonly target: number
  readonly follows: boolean
  readonly at: Date
}

export interface EventPage {
  readonly changes: readonly SocialChange[]
  /** Id to ask from next: one above the last event seen. */
  readonly next: number
  /** False: the stream ends here for now. */
  readonly more: boolean
  /** When the newest of the blocks was confirmed whose end the page has; undefined: it has none's. */
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
   * What happened in a shard from an event id on, oldest first, so many events at most; `now` dates events that carry no
   * time.
   */
  events(shard: number, from: number, now: Date, pageSize?: number): Promise<EventPage>
  /** The verified set. Empty: the FID verifies nothing, or is nobody's. */
  verifications(fid: number): Promise<Verification[]>
  profile(fid: number): Promise<SocialProfile>
  /** Whom a FID follows, the newest first, `mostFollows` at most. */
  follows(fid: number): Promise<Follow[]>
  /** Verified sets of FIDs (a hundred at most), without times; FIDs that the host answers badly are left out; undefined: this host does not answer in bulk. */
  verifiedSets(fids: readonly number[]): Promise<Map<number, Address[]> | undefined>
  /** Candidates for addresses, at most as many as the host takes in a request; absent: the host cannot look up by address. */
  readonly fidsByAddress?: (addresses: readonly Address[]) => Promise<Map<Address, number[]>>
  close(): Promise<void>
}

/** A FID that another one follows. */
export interface Follow {
  readonly fid: number
  readonly at: Date
}

export const mostFollows = 2_000
