import { type Message, messageTime } from './messages.ts'
import type { Address, ProfilePart, SocialProfile, Statement } from './social-index.ts'

/** User name that a profile sets, still to be confirmed by the name's proof; null: none. */
export function userName(userData: readonly Message[]): string | null {
  return newestValue(userData, userNameType)
}

const userNameType = 'USER_DATA_TYPE_USERNAME'

export function isUserName({ data }: Message): boolean {
  return data.userDataBody?.type === userNameType
}

/** Whether a name is one: some hosts put `fid:123` or `!123` where an account has none. */
export function isRealHandle(name: string): boolean {
  return !/^(fid:|!)\d+$/.test(name)
}

/** Profile from the latest message of each type. `handle`: the user name whose proof names the account; null: none. */
export function toProfile(
  handle: { readonly name: string; readonly owner: Address | null } | null,
  userData: readonly Message[],
  posts: readonly Message[],
): SocialProfile {
  const times = [...userData, ...posts].map((message) => messageTime(message).getTime())
  return {
    handle: handle?.name ?? null,
    handleOwner: handle?.owner ?? null,
    displayName: newestValue(userData, partTypes.displayName),
    bio: newestValue(userData, partTypes.bio),
    pfpUrl: newestValue(userData, partTypes.pfpUrl),
    profileUrl: newestValue(userData, partTypes.profileUrl),
    github: newestValue(userData, partTypes.github),
    twitter: newestValue(userData, partTypes.twitter),
    lastMessageAt: times.length > 0 ? new Date(Math.max(...times)) : null,
  }
}

const partTypes = {
  displayName: 'USER_DATA_TYPE_DISPLAY',
  bio: 'USER_DATA_TYPE_BIO',
  pfpUrl: 'USER_DATA_TYPE_PFP',
  profileUrl: 'USER_DATA_TYPE_URL',
  github: 'USER_DATA_TYPE_GITHUB',
  twitter: 'USER_DATA_TYPE_TWITTER',
} as const satisfies Record<ProfilePart, string>

/** Longest texts of a profile that are kept, in code points; the network's own limits are lower. */
const longest = { name: 256, bio: 4_096, url: 2_048 }
export const longestHandle = longest.name
export const longestPart: Readonly<Record<ProfilePart, number>> = {
  displayName: longest.name,
  bio: longest.bio,
  pfpUrl: longest.url,
  profileUrl: longest.url,
  github: longest.name,
  twitter: longest.name,
}

/** The part of a profile that a message sets. Undefined: it sets none, or the user name, which needs a proof. */
export function profilePart({ data }: Message): { part: ProfilePart; text: string | null } | undefined {
  const parts = Object.keys(partTypes) as ProfilePart[]
  const part = parts.find((one) => partTypes[one] === data.userDataBody?.type)
  return part && { part, text: data.userDataBody?.value || null }
}

/** The newest message about each part of a profile. */
export function toStatements(userData: readonly Message[]): Statement[] {
  const parts = Object.keys(partTypes) as ProfilePart[]
  return parts.flatMap((part) => {
    const message = newest(userData, partTypes[part])
    return message ? { part, text: message.data.userDataBody?.value || null, at: messageTime(message), message } : []
  })
}

function newestValue(userData: readonly Message[], type: string): string | null {
  return newest(userData, type)?.data.userDataBody?.value || null
}

/** The message of a type that counts in the network: the newest, of the same second that with the larger hash. */
function newest(userData: readonly Message[], type: string): Message | undefined {
  const hashOf = ({ hash }: Message) => String(hash).toLowerCase()
  let found: Message | undefined
  for (const message of userData) {
    if (message.data.userDataBody?.type !== type) continue
    const later = found ? message.data.timestamp - found.data.timestamp : 1
    if (!found || later > 0 || (later === 0 && hashOf(message) >= hashOf(found))) found = message
  }
  return found
}
