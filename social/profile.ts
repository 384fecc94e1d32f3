import { type Message, messageTime } from './messages.ts'
import type { ProfilePart, SocialProfile } from './social-index.ts'

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

/** Profile from the latest message of each type. `handle` is the proven user name; null: none. */
export function toProfile(
  handle: string | null,
  userData: readonly Message[],
  posts: readonly Message[],
): SocialProfile {
  const times = [...userData, ...posts].map((message) => messageTime(message).getTime())
  return {
    handle,
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

function newestValue(userData: readonly Message[], type: string): string | null {
  let newest: Message['data'] | undefined
  for (const { data } of userData) {
    if (data.userDataBody?.type === type && (!newest || newest.timestamp <= data.timestamp)) newest = data
  }
  return newest?.userDataBody?.value || null
}
