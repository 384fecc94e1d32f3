import { type Message, messageTime } from './messages.ts'
import type { SocialProfile } from './social-index.ts'

/** The user name a profile gives itself. Whether it is still its own is for the name's proof to say. */
export function userName(userData: readonly Message[]): string | null {
  return newestValue(userData, 'USER_DATA_TYPE_USERNAME')
}

/** Some hosts put `fid:123` or `!123` where an account has no name. */
export function isRealHandle(name: string): boolean {
  return !/^(fid:|!)\d+$/.test(name)
}

/** `handle` is the proven name. The latest message of each type counts. */
export function toProfile(
  handle: string | null,
  userData: readonly Message[],
  posts: readonly Message[],
): SocialProfile {
  const times = [...userData, ...posts].map((message) => messageTime(message).getTime())
  return {
    handle,
    displayName: newestValue(userData, 'USER_DATA_TYPE_DISPLAY'),
    bio: newestValue(userData, 'USER_DATA_TYPE_BIO'),
    pfpUrl: newestValue(userData, 'USER_DATA_TYPE_PFP'),
    profileUrl: newestValue(userData, 'USER_DATA_TYPE_URL'),
    github: newestValue(userData, 'USER_DATA_TYPE_GITHUB'),
    twitter: newestValue(userData, 'USER_DATA_TYPE_TWITTER'),
    lastMessageAt: times.length > 0 ? new Date(Math.max(...times)) : null,
  }
}

function newestValue(userData: readonly Message[], type: string): string | null {
  let newest: Message['data'] | undefined
  for (const { data } of userData) {
    if (data.userDataBody?.type === type && (!newest || newest.timestamp <= data.timestamp)) newest = data
  }
  return newest?.userDataBody?.value || null
}
