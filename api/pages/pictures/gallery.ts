import { LRUCache } from 'lru-cache'
import { pictureLimits } from '../../../config/limits.ts'
import { createDoor, type Door, type DoorOptions } from '../../../net/door.ts'
import { DoorError } from '../../../net/errors.ts'
import { userAgentOf } from '../../../net/user-agent.ts'
import { Cache } from '../../http/cache.ts'
import { Content } from '../../http/content.ts'

/** HTTP client for profile pictures, whose addresses strangers choose. */
export type PictureDoor = Pick<Door, 'fetch'>

/**
 * Gives the picture at a URL. Undefined: it cannot be fetched now, or is no picture that pages show; unasked: too many
 * others are being fetched.
 */
export type Gallery = (url: string) => Promise<Content | 'unasked' | undefined>

/** Several at once and no pause between requests to a host: a page needs many pictures of one host, and a reader waits. */
const politeness = { intervalMs: 0, atOnce: 8, maxWaiting: 60, maxWaitMs: 10_000 }
const timeoutMs = 8_000
const redirects = 3
const mostBroken = 10_000
const accept = 'image/webp, image/png, image/jpeg, image/gif'

export function createPictureDoor(
  service: Parameters<typeof userAgentOf>[0],
  egressAllow: DoorOptions['egressAllow'],
): Door {
  return createDoor({ userAgent: userAgentOf(service), egressAllow, politeness })
}

/**
 * A caching proxy for pictures, so that their host learns nothing of any reader. Pictures are passed on unchanged:
 * judged by their first bytes, never decoded. One that fails to load is not fetched again for `brokenSeconds`.
 */
export function createGallery(door: PictureDoor, now: () => number): Gallery {
  const { bytes: maxBytes, keptBytes, keptSeconds, brokenSeconds, atOnce } = pictureLimits
  const kept = new Cache<Content>({ maxBytes: keptBytes, now })
  const broken = new LRUCache<string, true>({
    max: mostBroken,
    ttl: brokenSeconds * 1_000,
    perf: { now },
    ttlResolution: 0,
  })
  let underWay = 0

  async function load(url: string): Promise<Content | undefined> {
    let hasBegun = false
    // Not before its turn: those that wait for a slow host take no place of the others.
    const begin = () => {
      if (underWay >= atOnce) throw new TooMany()
      hasBegun = true
      underWay += 1
    }
    try {
      const { status, body } = await door.fetch(url, { maxBytes, timeoutMs, redirects, headers: { accept }, begin })
      const type = status === 200 ? pictureType(body) : undefined
      if (type === undefined) throw new Error(`no picture: status ${status}`)
      return new Content(type, body)
    } finally {
      if (hasBegun) underWay -= 1
    }
  }

  return async (url) => {
    if (broken.has(url)) return undefined
    try {
      return (await kept.get(url, keptSeconds * 1_000, () => load(url))).value
    } catch (error) {
      if (isOurs(error)) return 'unasked'
      broken.set(url, true)
      return undefined
    }
  }
}

class TooMany extends Error {}

/** Whether the host was not asked at all, so that nothing is known about its picture. */
function isOurs(error: unknown): boolean {
  return error instanceof TooMany || (error instanceof DoorError && error.checkStatus === null)
}

/**
 * Media type of a picture by its first bytes; undefined: none that pages show. SVG is left out, as a document that can
 * run scripts. Sources: PNG (RFC 2083 3.1), JPEG (ITU-T T.81 B.1.1.3), GIF89a 17, WebP (RFC 9649 2.4).
 */
function pictureType(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 12).toString('latin1')
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif'
  if (head.startsWith('RIFF') && head.startsWith('WEBP', 8)) return 'image/webp'
  return undefined
}
