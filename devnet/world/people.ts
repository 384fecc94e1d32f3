import { createHash } from 'node:crypto'
import type { Profile } from '../hub/account.ts'
import { type AppKey, appKeyOf, type Wallet, walletOf } from './keys.ts'
import { createRandom, type Random } from './random.ts'
import { agentWords, type Words } from './texts.ts'

export interface VerifiedWallet {
  readonly wallet: Wallet
  /** Days before the world's start. */
  readonly daysAgo: number
  /** Whether its message has the older name of the body. */
  readonly oldBody: boolean
}

/** One FID. */
export interface Person {
  readonly fid: number
  readonly profile: Profile
  readonly custody: Wallet
  readonly auth: Wallet | null
  readonly appKey: AppKey
  readonly verified: readonly VerifiedWallet[]
  /** Verified Solana addresses, which the directory ignores. */
  readonly solana: readonly string[]
  readonly registeredDaysAgo: number
  readonly follows: readonly number[]
  readonly casts: readonly { readonly text: string; readonly daysAgo: number }[]
}

export interface People {
  /** FIDs that hold or held an identity, the subjects of the directory. */
  readonly agents: readonly Person[]
  /** FIDs that hold no identity at a verified address. */
  readonly bystanders: readonly Person[]
}

/** Indexes of the two agents that verify the same address; the second did so later. */
export const sharingAgents = [9, 10] as const
/** Index of the agent that verified its address last of all, long after its registration. */
export const lateAgent = 14
/** Index of the agent that moved an identity from one of its addresses to another. */
export const movingAgent = 13

const bystanderCount = 16
const firstFid = 1001
const fidStep = 7
const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Everybody with a FID: the same for the same seed. */
export function planPeople(seed: string): People {
  const random = createRandom(`${seed}/people`)
  const words: Words[] = [
    ...agentWords,
    ...Array.from({ length: bystanderCount }, (_, i) => {
      return { handle: `passerby-${i + 1}`, name: `Passer-by ${i + 1}`, bio: 'Here for the conversation.' }
    }),
  ]
  const fids = words.map((_, index) => firstFid + index * fidStep)
  const people = words.map((one, index) => planPerson(seed, random, one, index, fids))
  const shared = people[sharingAgents[0]]?.verified[0]?.wallet as Wallet
  const second = people[sharingAgents[1]] as Person
  people[sharingAgents[1]] = {
    ...second,
    verified: [...second.verified, { wallet: shared, daysAgo: 2, oldBody: false }],
  }
  return { agents: people.slice(0, agentWords.length), bystanders: people.slice(agentWords.length) }
}

function planPerson(seed: string, random: Random, words: Words, index: number, fids: readonly number[]): Person {
  const fid = fids[index] as number
  const wallets = index === movingAgent ? 2 : random.pick([1, 1, 2, 2, 3])
  return {
    fid,
    profile: planProfile(random, words, fid),
    custody: walletOf(seed, `${fid}/custody`),
    auth: index % 5 === 2 ? walletOf(seed, `${fid}/auth`) : null,
    appKey: appKeyOf(seed, `${fid}`),
    verified: Array.from({ length: wallets }, (_, i) => ({
      wallet: walletOf(seed, `${fid}/verified/${i}`),
      daysAgo: index === lateAgent ? 0 : random.int(3, 60),
      oldBody: random.chance(0.3),
    })),
    solana: random.chance(0.4) ? [planSolana(seed, fid)] : [],
    registeredDaysAgo: random.int(61, 900),
    follows: random.sample(
      fids.filter((other) => other !== fid),
      random.int(0, 6),
    ),
    casts: Array.from({ length: random.int(0, 3) }, (_, i) => ({
      text: i === 0 ? 'gm' : `Note ${i}: all systems nominal.`,
      daysAgo: random.int(0, 30),
    })),
  }
}

function planProfile(random: Random, { handle, name, bio }: Words, fid: number): Profile {
  const slug = handle?.replace(/[^a-z0-9-]/g, '-')
  return {
    ...(handle === null ? {} : { username: handle }),
    ...(name === null ? {} : { displayName: name, pfp: `https://pictures.example/${fid}.png` }),
    ...(bio === null ? {} : { bio }),
    ...(slug && random.chance(0.5) ? { url: `https://${slug}.agents.example` } : {}),
    ...(slug && random.chance(0.4) ? { github: `${slug}-dev` } : {}),
    ...(slug && random.chance(0.3) ? { twitter: slug.replaceAll('-', '_') } : {}),
  }
}

function planSolana(seed: string, fid: number): string {
  const digest = createHash('sha512').update(`${seed}/solana/${fid}`).digest()
  return Array.from(digest.subarray(0, 44), (byte) => base58[byte % base58.length]).join('')
}
